// tarry intake: takes messages from a queue of RabbitMQ, pushes them into the store, and then acks
// them in RabbitMQ.
#include <csignal>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "app/system/signals.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "core/limits.h"
#ifdef TARRY_WITH_RABBITMQ
#include "relay/intakes/intake.h"
#include "relay/intakes/rabbit_url.h"
#endif

namespace tarry::app {
namespace {

struct IntakeFlags {
  std::string queue;
  std::string from;
  std::optional<std::uint64_t> prefetch;
  std::optional<std::uint64_t> batch;
  std::optional<std::string> expiration;
  std::optional<std::string> keys;
  std::optional<Millis> drain;
};

const std::vector<std::string_view>& expiration_rules() {
  static const std::vector<std::string_view> rules{"keep", "delay"};
  return rules;
}
const std::vector<std::string_view>& key_rules() {
  static const std::vector<std::string_view> rules{"message-id", "made"};
  return rules;
}

#ifdef TARRY_WITH_RABBITMQ

Result<relay::IntakeOptions> intake_options(const IntakeFlags& flags) {
  const std::string_view from = flags.from;
  const std::size_t colon = from.find(':');
  const std::string_view scheme = from.substr(0, colon);
  if (colon == std::string_view::npos || (scheme != "amqp" && scheme != "amqps")) {
    // The error shows only the scheme, because the rest may contain a password.
    return Unexpected(
        ErrorCode::invalid_argument,
        fmt::format("--from: {} is no source; known are amqp:// and amqps://{}",
                    base::quoted(scheme), base::did_you_mean(scheme, {"amqp", "amqps"})));
  }
  auto source = relay::rabbit_source_options(scheme, from.substr(colon + 1));
  if (!source) return Unexpected(source.error().code, "--from: " + source.error().message);
  relay::IntakeOptions options;
  options.source = *std::move(source);
  options.source.prefetch =
      static_cast<std::uint16_t>(flags.prefetch.value_or(options.source.prefetch));
  options.source.expiration_is_delay = flags.expiration == "delay";
  options.source.key_is_message_id = flags.keys != "made";
  options.queue = flags.queue;
  options.batch = flags.batch.value_or(options.batch);
  options.drain = flags.drain.value_or(options.drain);
  if (const auto good = relay::check(options); !good) return good.error();
  return options;
}

void report(Invocation& invocation, const relay::IntakeStats& stats) {
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().field("arrived", stats.arrived).field("pushed", stats.pushed);
      json.field("duplicates", stats.duplicates).field("renamed", stats.renamed);
      json.field("refused", stats.refused).field("acked", stats.acked).end_object();
    });
    return;
  }
  invocation.output.note(
      fmt::format("arrived {}: pushed {} (under another key {}), duplicates {}, refused {}",
                  grouped(stats.arrived), grouped(stats.pushed), grouped(stats.renamed),
                  grouped(stats.duplicates), grouped(stats.refused)));
}

ExitCode take_in(Invocation& invocation, const IntakeFlags& flags) {
  const auto options = intake_options(flags);
  if (!options) return invocation.output.usage(options.error().message);
  if (invocation.is_fleeting()) {
    return invocation.output.usage(
        "a memory: store ends with this command, and the messages taken from the broker would be "
        "lost");
  }
  std::signal(SIGPIPE, SIG_IGN);
  invocation.output.wait_for_no_reader();
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue queue = store->queue(flags.queue);
  relay::Intake intake(
      queue.engine(), *options, [&](const std::string& who, const std::string& why) {
        invocation.output.tell(why.empty() ? who + " is there"
                                           : fmt::format("{} is down: {}; trying again", who, why));
      });
  Result<void> ended;
  {
    std::stop_source stop;
    const SignalWatch watch([&](int) {
      if (stop.request_stop()) {
        invocation.output.note("Stopping: finishing what was given to the store.");
      }
    });
    ended = intake.run(stop.get_token());
  }
  if (!ended) {
    // An error about a value does not mean a usage error here: the broker or the store refused the
    // intake's own request.
    const ExitCode failed = invocation.output.fail(ended.error());
    return failed == ExitCode::usage ? ExitCode::failed : failed;
  }
  report(invocation, intake.stats());
  return ExitCode::done;
}

#else

ExitCode take_in(Invocation& invocation, const IntakeFlags&) {
  return invocation.output.fail(
      {ErrorCode::unsupported, "--from: this build cannot talk to RabbitMQ"});
}

#endif

}  // namespace

void add_intake_command(CLI::App& root, Invocation& invocation) {
  const auto [command, flags] = add_command(root, invocation, "intake", take_in, R"(
Take over delayed messages from RabbitMQ's producers

Each message that arrives in the RabbitMQ queue is pushed, due after its header x-delay
(milliseconds), and acked there once the store has it. tarry relay --to amqp://...
publishes it when it is due, with the properties that it had. A message that cannot be
pushed goes to the queue NAME.refused, with the reason in the header tarry-reason. If
the broker or the store cannot be reached, the intake keeps trying. SIGTERM and Ctrl-C
end it; the rest stays in RabbitMQ.

  tarry intake delayed --from 'amqp://127.0.0.1?queue=shop.delayed&exchange=shop')");
  add_word(command, "QUEUE", flags.queue, "The queue to push to")->required();
  add_word(command, "--from", flags.from,
           "amqp://HOST[/VHOST]?queue=NAME[&exchange=NAME][&refused=NAME];\n"
           "the queue and the exchange (fanout) are declared and bound")
      ->required()
      ->type_name("SOURCE");
  add_number(command, "--prefetch", flags.prefetch, 1, 65'535,
             "Messages that RabbitMQ hands out before an ack (default: 1000)");
  add_number(command, "--batch", flags.batch, 1, core::kMaxBatch, "Messages a push (default: 500)");
  add_choice(command, "--expiration", flags.expiration, expiration_rules(),
             "keep: it counts once the message is published;\n"
             "delay: without x-delay it is the delay (default: keep)");
  add_choice(command, "--keys", flags.keys, key_rules(),
             "What a message's key is: its message-id, if it has\n"
             "A message's key: its message-id, if it has one; or a key\n"
             "that the store generates (default: message-id)");
  add_duration(command, "--drain", flags.drain,
               "After a stop, how long to wait for the store, up to 1h (default: 10s)");
}

}  // namespace tarry::app
