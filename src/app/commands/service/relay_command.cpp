// tarry relay: hands due messages to sinks, and acks those that the sinks have confirmed.
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/command_line/relay_flags.h"
#include "app/commands/commands.h"
#include "app/commands/service/relay_run.h"
#include "app/commands/service/serve_flags.h"
#include "app/output/printable.h"
#include "app/relays/relay_coordination.h"
#include "app/system/init_process.h"
#include "app/system/signals.h"

namespace tarry::app {
namespace {

std::optional<Plans> planned_by_flags(Invocation& invocation, const RelayFlags& flags,
                                      ExitCode& code) {
  const auto refused = [&](std::string why) {
    code = invocation.output.usage(std::move(why));
    return std::nullopt;
  };
  if (flags.queues.empty()) return refused("QUEUE is missing; or give --config FILE");
  if (!flags.to) return refused("--to is required");
  RelayPlan plan = plan_of(flags, invocation.trailing);
  if (const auto good = check_numbers(plan); !good) return refused(good.error().message);
  if (const auto sink = check_sink(plan); !sink) return refused("--to: " + sink.error().message);
  const std::string store = invocation.url();
  if (const auto good = check_coordination(plan, store); !good) {
    return refused(good.error().message);
  }
  return Plans{{std::move(plan)}, store};
}

std::optional<Plans> planned_by_file(Invocation& invocation, const RelayFlags& flags,
                                     ExitCode& code) {
  if (!invocation.trailing.empty()) {
    code = invocation.output.usage("a command after -- belongs to --to command, not to --config");
    return std::nullopt;
  }
  ServeFlags file;
  file.config = flags.config;
  auto config = load_config(invocation, file, code);
  if (!config) return std::nullopt;
  if (config->relays.empty()) {
    code = invocation.output.usage(
        config->file.empty()
            ? "it takes QUEUE and --to SINK, or --config FILE with [[relay]] sections"
            : fmt::format("{} has no [[relay]] section", printable(config->file)));
    return std::nullopt;
  }
  const std::string store = config->text(config::Which::store_url);
  return Plans{std::move(config->relays), store.empty() ? invocation.url() : store};
}

std::optional<Plans> planned(Invocation& invocation, const RelayFlags& flags, ExitCode& code) {
  if (!flags.plan_given()) return planned_by_file(invocation, flags, code);
  if (!flags.config) return planned_by_flags(invocation, flags, code);
  code = invocation.output.usage(
      "with --config FILE the relays stand in its [[relay]] sections; leave out QUEUE, --to and "
      "their flags");
  return std::nullopt;
}

/// Reads the file's relays again. If it fails, the reason is printed, and nothing is returned.
std::optional<Plans> planned_again(Invocation& invocation, const RelayFlags& flags) {
  const std::string file = config::file_of(flags.config);
  std::vector<std::string> problems;
  ServeFlags from_file;
  from_file.config = flags.config;
  auto config = config::load(file, all_flags(invocation, from_file), problems);
  if (config && config->relays.empty()) {
    problems.push_back(fmt::format("{} has no [[relay]] section", printable(file)));
  }
  if (!problems.empty()) {
    invocation.output.tell(config::not_reloaded(problems));
    return std::nullopt;
  }
  const std::string store = config->text(config::Which::store_url);
  return Plans{std::move(config->relays), store.empty() ? invocation.url() : store};
}

ExitCode run_relay(Invocation& invocation, const RelayFlags& flags) {
  leave_process_one_to_an_init();
  invocation.output.wait_for_no_reader();
  // From here on a SIGHUP is kept until the relays run; then the file is read again.
  std::optional<HangupsKept> hangups_kept;
  if (!flags.plan_given()) hangups_kept.emplace();
  ExitCode code{};
  auto plans = planned(invocation, flags, code);
  if (!plans) return code;
  // SIGPIPE is ignored: a reader or a command that goes away must not end this process.
  std::signal(SIGPIPE, SIG_IGN);
  RelayRun relays(invocation, *std::move(plans));
  if (!flags.plan_given()) {
    relays.on_hangup([&invocation, &flags] { return planned_again(invocation, flags); });
  }
  return relays.run();
}

}  // namespace

void add_relay_command(CLI::App& root, Invocation& invocation) {
  const auto [command, flags] = add_command(root, invocation, "relay", run_relay, R"(
Forward due messages to a sink

A message is acked once the sink has confirmed it, never before. A message that fails is
tried again after the queue's backoff; after max_attempts it is dead, with the sink's
last error as the reason. While the sink is down the relay claims nothing, and no
attempt is counted.
--config runs every [[relay]] section of the file; `tarry serve` with that file runs
them too. SIGHUP makes it read the file again, and go on with the sections and the store
that it finds there. After SIGTERM or Ctrl-C the relay waits for the sink to confirm what
it has; a second signal ends it at once.

  tarry relay orders --to stdout
  tarry relay orders --to 'redis://127.0.0.1/0?stream=due-orders'
  tarry relay orders --to 'amqp://127.0.0.1?exchange=shop&routing_key=orders.due'
  tarry relay orders --to 'https://shop.example/due#secret_file=/etc/tarry/secret'
  tarry relay orders --to kafka://127.0.0.1:9092/orders-due
  tarry relay orders --to command --concurrency 8 -- ./close-order
  tarry relay --config tarry.toml)");
  add_relay_flags(command, flags);
}

}  // namespace tarry::app
