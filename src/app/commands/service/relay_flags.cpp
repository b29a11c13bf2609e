#include "app/commands/service/relay_flags.h"

#include "app/command_line/command.h"
#include "core/limits.h"

namespace tarry::app {

void add_relay_flags(CLI::App& command, RelayFlags& into) {
  add_words(command, "QUEUE", into.queues, "Queues, or patterns of their names as 'orders.*'");
  add_word(command, "--to", into.to, sink_help())->type_name("SINK");
  add_word(command, "--config", into.config,
           "Relays, in TOML, in place of QUEUE and --to\n(default: TARRY_CONFIG)")
      ->type_name("FILE");
  add_number(command, "--threads", into.threads, 1, relay::kMaxThreads,
             "Each with a connection to the sink of its own;\nin order only with 1 (default: 1)");
  add_number(command, "--in-flight", into.in_flight, 1, relay::kMaxInFlight,
             "Messages with the sink at once (default: 1000;\nfor commands twice the concurrency)");
  add_number(command, "--batch", into.batch, 1, core::kMaxBatch, "Messages a claim (default: 100)");
  add_number(command, "--rate", into.rate, 1, relay::kMaxRate,
             "Messages a second (default: no limit)");
  add_number(command, "--concurrency", into.concurrency, 1, relay::kMaxCommands,
             "Commands at once; in order only with 1 (default: 1)");
  add_number(command, "--max-attempts", into.max_attempts, 1, core::kMaxAttempts,
             "Dead after so many, if the queue allows more");
  add_duration(command, "--lease", into.lease,
               "How long a claim holds; it is extended meanwhile (default: the queue's)");
  add_duration(command, "--drain", into.drain,
               "After a stop, how long the sink may take, up to 1h (default: 10s)");
  add_word(command, "--coordination", into.coordination,
           "How several relays on the same queues share them:\n"
           "all (claim by claim; the default), redis (shard by\n"
           "shard, by leases in the store's Redis), redis://HOST,\n"
           "zookeeper://HOST[,HOST...][/PATH]")
      ->type_name("HOW");
  add_duration(command, "--session", into.session,
               "With redis and zookeeper: a relay that is not\nheard of for so long has ended "
               "(default: 10s)");
}

RelayPlan plan_of(const RelayFlags& flags, const std::vector<std::string>& command) {
  RelayPlan plan;
  const auto number = [](std::optional<std::uint64_t> given, std::uint32_t otherwise) {
    return static_cast<std::uint32_t>(given.value_or(otherwise));
  };
  plan.to = *flags.to;
  plan.command = command;
  plan.concurrency = number(flags.concurrency, 1);
  plan.crew.name = "relay";
  plan.crew.threads = number(flags.threads, 1);
  relay::RelayOptions& options = plan.crew.relay;
  options.queues = flags.queues;
  options.in_flight = in_flight_of(plan, flags.in_flight);
  options.batch = number(flags.batch, options.batch);
  options.rate = number(flags.rate, options.rate);
  if (flags.max_attempts) options.max_attempts = number(flags.max_attempts, 0);
  options.lease = flags.lease;
  options.drain = flags.drain.value_or(options.drain);
  plan.coordination = flags.coordination.value_or(plan.coordination);
  plan.session = flags.session.value_or(plan.session);
  return plan;
}

}  // namespace tarry::app
