#include "app/command_line/relay_flags.h"

#include "app/command_line/command.h"
#include "core/limits.h"

namespace tarry::app {

void add_relay_flags(CLI::App& command, RelayFlags& into) {
  add_words(command, "QUEUE", into.queues, "Queues, or patterns of names: 'orders.*'");
  add_word(command, "--to", into.to, sink_help())->type_name("SINK");
  add_word(command, "--config", into.config,
           "A TOML file with relays, in place of QUEUE and --to\n"
           "(default: TARRY_CONFIG)")
      ->type_name("FILE");
  add_number(command, "--threads", into.threads, 1, relay::kMaxThreads,
             "Threads, each with its own connection to the sink; messages\n"
             "stay in order only with 1 (default: 1)");
  add_number(command, "--in-flight", into.in_flight, 1, relay::kMaxInFlight,
             "Messages given to the sink and not confirmed yet\n"
             "(default: 1000; for commands twice the concurrency)");
  add_number(command, "--batch", into.batch, 1, core::kMaxBatch,
             "Messages in one claim (default: 100)");
  add_number(command, "--rate", into.rate, 1, relay::kMaxRate,
             "At most N messages a second (default: no limit)");
  add_number(command, "--concurrency", into.concurrency, 1, relay::kMaxCommands,
             "Commands that run at once; messages stay in order only\n"
             "with 1 (default: 1)");
  add_number(command, "--max-attempts", into.max_attempts, 1, core::kMaxAttempts,
             "Give up (dead) after N attempts, if the queue allows more");
  add_duration(command, "--lease", into.lease,
               "Length of a lease; it is extended while needed (default: the queue's)");
  add_duration(command, "--drain", into.drain,
               "After a stop, how long to wait for the sink, up to 1h (default: 10s)");
  add_word(command, "--coordination", into.coordination,
           "How several relays share the same queues: all (claim by\n"
           "claim; the default), redis (shard by shard, by leases in\n"
           "the store's Redis), redis://HOST,\n"
           "zookeeper://HOST[,HOST...][/PATH]")
      ->type_name("HOW");
  add_duration(command, "--session", into.session,
               "With redis and zookeeper: a relay that is silent for this\n"
               "long counts as ended (default: 10s)");
}

RelayPlan plan_of(const RelayFlags& flags, const std::vector<std::string>& command) {
  RelayPlan plan;
  const auto number = [](std::optional<std::uint64_t> given, std::uint32_t otherwise) {
    return static_cast<std::uint32_t>(given.value_or(otherwise));
  };
  plan.to = *flags.to;
  plan.command = command;
  plan.concurrency = number(flags.concurrency, 1);
  plan.options.name = "relay";
  plan.options.threads = number(flags.threads, 1);
  relay::RelayOptions& options = plan.options.relay;
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
