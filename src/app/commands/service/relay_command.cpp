// tarry relay: hands due messages to sinks, and acks those that the sinks have confirmed.
#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/service/relay_flags.h"
#include "app/commands/service/serve_flags.h"
#include "app/output/json.h"
#include "app/output/printable.h"
#include "app/output/progress.h"
#include "app/relays/relay_coordination.h"
#include "app/relays/relays.h"
#include "app/system/init_process.h"
#include "app/system/signals.h"
#include "core/queue_pattern.h"

namespace tarry::app {
namespace {

/// The relays to run and their store; empty: the reason has been printed.
struct Plans {
  std::vector<RelayPlan> relays;
  std::string store;
};

std::optional<Plans> planned_by_flags(Session& session, const RelayFlags& flags, ExitCode& code) {
  const auto refused = [&](std::string why) {
    code = session.output.usage(std::move(why));
    return std::nullopt;
  };
  if (flags.queues.empty()) return refused("QUEUE is missing; or give --config FILE");
  if (!flags.to) return refused("--to is required");
  RelayPlan plan = plan_of(flags, session.trailing);
  if (const auto good = check_numbers(plan); !good) return refused(good.error().message);
  if (const auto sink = check_sink(plan); !sink) return refused("--to: " + sink.error().message);
  const std::string store = session.url();
  if (const auto good = check_coordination(plan, store); !good) {
    return refused(good.error().message);
  }
  return Plans{{std::move(plan)}, store};
}

std::optional<Plans> planned_by_file(Session& session, const RelayFlags& flags, ExitCode& code) {
  if (!session.trailing.empty()) {
    code = session.output.usage("a command after -- belongs to --to command, not to --config");
    return std::nullopt;
  }
  ServeFlags file;
  file.config = flags.config;
  auto config = load_config(session, file, code);
  if (!config) return std::nullopt;
  if (config->relays.empty()) {
    code = session.output.usage(
        config->file.empty()
            ? "it takes QUEUE and --to SINK, or --config FILE with [[relay]] sections"
            : fmt::format("{} has no [[relay]] section", printable(config->file)));
    return std::nullopt;
  }
  const std::string store = config->text(config::Which::store_url);
  return Plans{std::move(config->relays), store.empty() ? session.url() : store};
}

std::optional<Plans> planned(Session& session, const RelayFlags& flags, ExitCode& code) {
  if (!flags.plan_given()) return planned_by_file(session, flags, code);
  if (!flags.config) return planned_by_flags(session, flags, code);
  code = session.output.usage(
      "with --config FILE the relays stand in its [[relay]] sections; leave out QUEUE, --to and "
      "their flags");
  return std::nullopt;
}

void write_stats(wire::JsonWriter& json, const relay::RelayStats& stats) {
  json.field("claimed", stats.claimed).field("confirmed", stats.confirmed);
  json.field("acked", stats.acked).field("failed", stats.failed);
  json.field("retried", stats.retried).field("buried", stats.buried);
  json.field("released", stats.released).field("stale", stats.stale);
  json.field("breaker_openings", stats.openings).millis_field("lag", stats.lag.count());
  json.text_field("last_error", stats.last_error);
}

/// One run, and its end.
class Passage {
 public:
  explicit Passage(Session& session) : session_(session) {}

  ExitCode run(const RelayFlags& flags) {
    leave_process_one_to_an_init();
    session_.output.wait_for_no_reader();
    ExitCode code{};
    const auto plans = planned(session_, flags, code);
    if (!plans) return code;
    // A reader or a command that goes away is an answer, and no reason to die.
    std::signal(SIGPIPE, SIG_IGN);
    auto store = session_.open(plans->store, {}, code);
    if (!store) return code;
    auto relays = Relays::make(store->engine(), plans->store, plans->relays, hooks());
    if (!relays) return session_.output.fail(relays.error());
    relays_ = relays->get();
    {
      const SignalWatch watch([this](int count) { on_signal(count); });
      tell_of_missing(*store, plans->relays);
      relays_->start();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || error_; });
      lock.unlock();
      relays_->stop();
      lock.lock();
      changed_.wait(lock, [this] { return ended_; });
    }
    report(*plans);
    const std::lock_guard lock(mutex_);
    return error_ ? session_.output.fail(*error_) : ExitCode::done;
  }

 private:
  // The relays report patterns that match no queue.
  void tell_of_missing(const Store& store, const std::vector<RelayPlan>& plans) {
    for (const RelayPlan& plan : plans) {
      for (const std::string& queue : plan.options.relay.queues) {
        if (core::is_beginning(queue)) continue;
        const auto stats = store.queue(queue).stats();
        if (stats || stats.error().code != ErrorCode::not_found) continue;
        session_.output.tell(fmt::format("there is no queue {} yet; waiting for it", queue));
      }
    }
  }

  Relays::Hooks hooks() {
    return {[this](const LogEntry& entry) { session_.output.tell(entry.text); },
            [this](const Error& error) {
              // The first one ends all.
              const std::lock_guard lock(mutex_);
              if (!error_) error_ = error;
              changed_.notify_all();
            },
            [this] {
              const std::lock_guard lock(mutex_);
              ended_ = true;
              changed_.notify_all();
            }};
  }

  void on_signal(int count) {
    relays_->stop();
    if (count == 1) {
      session_.output.note(
          "Stopping: waiting for the sink to confirm what it has; a second signal ends this now.");
    } else {
      relays_->abandon();
    }
  }

  void report(const Plans& plans) {
    const auto all = relays_->stats();
    const bool from_file = plans.relays.front().line > 0;
    const auto to_stdout = [](const RelayPlan& plan) { return plan.writes_stdout(); };
    if (session_.output.json()) {
      if (std::ranges::any_of(plans.relays, to_stdout)) return;
      session_.output.print_json([&](wire::JsonWriter& json) {
        json.begin_object();
        if (from_file) json.name("relays").begin_array();
        for (const Relays::Named& one : all) {
          if (from_file) json.begin_object().text_field("name", one.name);
          write_stats(json, one.stats);
          if (from_file) json.end_object();
        }
        if (from_file) json.end_array();
        json.end_object();
      });
      return;
    }
    for (const Relays::Named& one : all) {
      const relay::RelayStats& stats = one.stats;
      session_.output.note(
          fmt::format("{}claimed {}: confirmed {}, acked {}, to be retried {}, buried {}, not "
                      "settled {}; given back {}",
                      from_file ? printable(one.name) + ": " : "", grouped(stats.claimed),
                      grouped(stats.confirmed), grouped(stats.acked), grouped(stats.retried),
                      grouped(stats.buried), grouped(stats.stale), grouped(stats.released)));
    }
  }

  Session& session_;
  Relays* relays_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace

void add_relay_command(CLI::App& root, Session& session) {
  auto flags = std::make_shared<RelayFlags>();
  CLI::App& command = add_command(
      root, "relay", "Forward due messages to a sink",
      {"tarry relay orders --to stdout",
       "tarry relay orders --to 'redis://127.0.0.1/0?stream=due-orders'",
       "tarry relay orders --to 'amqp://127.0.0.1?exchange=shop&routing_key=orders.due'",
       "tarry relay orders --to 'https://shop.example/due#secret_file=/etc/tarry/secret'",
       "tarry relay orders --to kafka://127.0.0.1:9092/orders-due",
       "tarry relay orders --to command --concurrency 8 -- ./close-order",
       "tarry relay --config tarry.toml"},
      "A message is acked once the sink has confirmed it, never before. A message that fails is\n"
      "tried again after the queue's backoff; after max_attempts it is dead, with the sink's\n"
      "last error as the reason. While the sink is down the relay claims nothing, and no\n"
      "attempt is counted.\n"
      "--config runs every [[relay]] section of the file; `tarry serve` with that file runs\n"
      "them too. After SIGTERM or Ctrl-C the relay waits for the sink to confirm what it has; a\n"
      "second signal ends it at once.\n");
  add_relay_flags(command, *flags);
  set_action(command, session, [flags](Session& given) { return Passage(given).run(*flags); });
}

}  // namespace tarry::app
