// tarry relay: hands what falls due on to a sink, and acks what the sink has confirmed.
#include <atomic>
#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>

#include <fmt/format.h>

#include "app/command.h"
#include "app/commands.h"
#include "app/json.h"
#include "app/progress.h"
#include "app/relay_sinks.h"
#include "app/signals.h"
#include "core/limits.h"
#include "relay/relay.h"

namespace tarry::app {
namespace {

struct RelayFlags {
  std::vector<std::string> queues;
  std::string to;
  std::optional<std::uint64_t> in_flight;
  std::optional<std::uint64_t> batch;
  std::optional<std::uint64_t> rate;
  std::optional<std::uint64_t> concurrency;
  std::optional<std::uint64_t> max_attempts;
  std::optional<Millis> lease;
  std::optional<Millis> drain;
};

relay::RelayOptions options_of(const RelayFlags& flags) {
  relay::RelayOptions options;
  const auto number = [](std::optional<std::uint64_t> given, std::uint32_t otherwise) {
    return static_cast<std::uint32_t>(given.value_or(otherwise));
  };
  options.queues = flags.queues;
  // What a command has not begun is claimed for nothing, and costs an attempt if we are killed.
  const std::uint32_t usual =
      flags.to == "command" ? 2 * number(flags.concurrency, 1) : options.in_flight;
  options.in_flight = number(flags.in_flight, usual);
  options.batch = number(flags.batch, options.batch);
  options.rate = number(flags.rate, options.rate);
  if (flags.max_attempts) options.max_attempts = number(flags.max_attempts, 0);
  options.lease = flags.lease;
  options.drain = flags.drain.value_or(options.drain);
  return options;
}

/// One run, and what ends it.
class Passage {
 public:
  explicit Passage(Session& session) : session_(session) {}

  ExitCode run(const RelayFlags& flags) {
    const relay::RelayOptions options = options_of(flags);
    if (const auto good = relay::check(options); !good) {
      return session_.output.usage(good.error().message);
    }
    // A reader or a command that goes away is an answer, and no reason to die.
    std::signal(SIGPIPE, SIG_IGN);
    SinkWish wish{flags.to, session_.trailing,
                  static_cast<std::uint32_t>(flags.concurrency.value_or(1)),
                  [this](Error error) { fail(std::move(error)); }};
    auto sink = make_sink(wish);
    if (!sink) return session_.output.usage(sink.error().message);
    ExitCode code{};
    auto store = session_.open(code);
    if (!store) return code;
    const Queue queue = store->queue(flags.queues.front());
    const std::string title = (*sink)->title();
    relay::Relay relay(queue.engine(), **sink, options, std::random_device()(),
                       [&](bool open, const std::string& why) {
                         Output::tell(open ? fmt::format("{} is down: {}; claiming rests until it "
                                                         "is back",
                                                         title, why)
                                           : title + " is back");
                       });
    Result<void> ended;
    {
      const SignalWatch watch([&](int count) { on_signal(count, **sink); });
      ended = relay.run(stop_.get_token());
    }
    if (!ended) fail(ended.error());
    report(relay.stats(), flags.to == "stdout");
    const std::lock_guard lock(mutex_);
    return error_ ? session_.output.fail(*error_) : ExitCode::done;
  }

 private:
  /// The first one ends it.
  void fail(Error error) {
    {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::move(error);
    }
    stop_.request_stop();
  }

  void on_signal(int count, relay::Sink& sink) {
    stop_.request_stop();
    if (count == 1) {
      session_.output.note("Stopping: what the sink has may be confirmed; once more ends it now.");
    } else {
      sink.close();
    }
  }

  void report(const relay::RelayStats& stats, bool stdout_is_taken) {
    if (session_.output.json()) {
      if (stdout_is_taken) return;
      session_.output.print_json([&](wire::JsonWriter& json) {
        json.begin_object().field("claimed", stats.claimed).field("confirmed", stats.confirmed);
        json.field("acked", stats.acked).field("failed", stats.failed);
        json.field("retried", stats.retried).field("buried", stats.buried);
        json.field("released", stats.released).field("stale", stats.stale);
        json.field("breaker_openings", stats.openings).millis_field("lag", stats.lag.count());
        json.text_field("last_error", stats.last_error).end_object();
      });
      return;
    }
    session_.output.note(fmt::format(
        "claimed {}: confirmed {}, acked {}, to be retried {}, buried {}, too late {}; given back "
        "{}",
        grouped(stats.claimed), grouped(stats.confirmed), grouped(stats.acked),
        grouped(stats.retried), grouped(stats.buried), grouped(stats.stale),
        grouped(stats.released)));
  }

  Session& session_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace

void add_relay_command(CLI::App& root, Session& session) {
  auto flags = std::make_shared<RelayFlags>();
  CLI::App& command = add_command(
      root, "relay", "Hand what falls due on to a sink",
      {"tarry relay orders --to stdout",
       "tarry relay orders --to 'redis://127.0.0.1/0?stream=due-orders'",
       "tarry relay orders --to 'amqp://127.0.0.1?exchange=shop&routing_key=orders.due'",
       "tarry relay orders --to command --concurrency 8 -- ./close-order"},
      "A message is acked once the sink has confirmed it, never before. What fails is tried again\n"
      "after the queue's backoff, and is dead after its max_attempts, with the sink's last error\n"
      "as the reason. While the sink is down nothing is claimed, and no attempt is counted.\n"
      "SIGTERM and Ctrl-C let the sink confirm what it has; a second one ends that.\n");
  add_words(command, "QUEUE", flags->queues, "One queue or several")->required();
  add_word(command, "--to", flags->to,
           "stdout (JSON lines), command (what follows --),\n"
           "redis://HOST/DB?list=NAME, stream=NAME[&maxlen=N] or channel=NAME,\n"
           "amqp://HOST[/VHOST]?exchange=NAME&routing_key=KEY")
      ->required()
      ->type_name("SINK");
  add_number(command, "--in-flight", flags->in_flight, 1, relay::kMaxInFlight,
             "Messages with the sink at once (default: 1000;\nfor commands twice the concurrency)");
  add_number(command, "--batch", flags->batch, 1, core::kMaxBatch,
             "Messages a claim (default: 100)");
  add_number(command, "--rate", flags->rate, 1, relay::kMaxRate,
             "Messages a second (default: no limit)");
  add_number(command, "--concurrency", flags->concurrency, 1, 1024,
             "Commands at once; in order only with 1 (default: 1)");
  add_number(command, "--max-attempts", flags->max_attempts, 1, core::kMaxAttempts,
             "Dead after so many, if the queue allows more");
  add_duration(command, "--lease", flags->lease,
               "How long a claim holds; it is extended meanwhile (default: the queue's)");
  add_duration(command, "--drain", flags->drain,
               "After a stop, how long the sink may take, up to 1h (default: 10s)");
  set_action(command, session, [flags](Session& given) { return Passage(given).run(*flags); });
}

}  // namespace tarry::app
