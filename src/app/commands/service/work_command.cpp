// tarry work: runs a command for every message that falls due.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tarry/worker.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "app/relays/relays.h"
#include "app/system/init_process.h"
#include "app/system/signals.h"
#include "base/text/text.h"
#include "core/rules/validation.h"
#include "relay/child_process.h"
#include "relay/message_text.h"

namespace tarry::app {
namespace {

// Exit codes of sysexits.h.
constexpr int kRetry = 75;  // EX_TEMPFAIL
constexpr int kBury = 65;   // EX_DATAERR

constexpr std::chrono::seconds kBackOff{1};  // before a command is started again

struct WorkOptions {
  std::vector<std::string> queues;
  std::optional<std::uint64_t> concurrency;
  std::optional<Millis> lease;
};

Verdict failed(std::string why) {
  return {.action = tarry::Action::retry, .reason = std::move(why)};
}

Verdict verdict_of(relay::Ended ended) {
  if (ended.signal != 0) {
    return failed(fmt::format("the command was ended by signal {}", ended.signal));
  }
  switch (ended.status) {
    case 0: return ack();
    case kBury: return bury("the command exited with 65");
    case kRetry:
    default: return failed(fmt::format("the command exited with {}", ended.status));
  }
}

/// One run of `tarry work`: a worker on all queues, and the state that its commands share.
class Shift {
 public:
  Shift(Invocation& invocation, const WorkOptions& options)
      : session_(invocation), options_(options), commands_(invocation.trailing) {}

  ExitCode run(const Store& store) {
    std::vector<QueueWork> queues;
    for (const std::string& queue : options_.queues) {
      const auto stats = store.queue(queue).stats();
      if (!stats && stats.error().code == ErrorCode::not_found) {
        if (const auto never = core::check_new_queue(queue)) return session_.output.fail(*never);
        session_.output.tell(fmt::format("there is no queue {} yet; waiting for it", queue));
      }
      queues.push_back(work_on(store.queue(queue)));
    }
    Worker worker(std::move(queues));
    {
      const SignalWatch watch([this](int count) { on_signal(count); });
      if (const auto ended = worker.run(stop_.get_token()); !ended) fail(ended.error());
    }
    report(worker.stats());
    return error_ ? session_.output.fail(*error_) : ExitCode::done;
  }

 private:
  QueueWork work_on(Queue queue) {
    WorkerOptions options;
    options.concurrency = static_cast<std::uint32_t>(options_.concurrency.value_or(1));
    options.lease = options_.lease;
    options.on_outage = [this](const std::optional<Error>& outage) { tell(outage); };
    options.on_refusal = [this](const Error& refusal) { tell_of_refusal(refusal); };
    return {std::move(queue),
            [this](const Delivery& delivery, const std::stop_token& stop) {
              return handle(delivery, stop);
            },
            std::move(options)};
  }

  Verdict handle(const Delivery& delivery, const std::stop_token& stop) {
    const auto ended = commands_.run(delivery.payload(), relay::variables_for(delivery));
    if (ended) {
      short_of_something_ = false;
      return verdict_of(*ended);
    }
    if (ended.error().code == ErrorCode::unavailable) {
      // The machine lacks something, which is not the message's fault: the message is released, and
      // no attempt is counted.
      if (!short_of_something_.exchange(true)) {
        session_.output.tell(ended.error().message + "; trying again");
      }
      back_off(stop);
      return {.action = tarry::Action::release};
    }
    if (ended.error().code == ErrorCode::unknown_outcome) return failed(ended.error().message);
    // A second signal came just before the command was started.
    if (ended.error().code == ErrorCode::closed) return {.action = tarry::Action::release};
    // The command cannot be started at all: this is not the message's fault, and the next message
    // would fail in the same way.
    fail(ended.error());
    return {.action = tarry::Action::release};
  }

  /// Called for each queue. One line is enough for all of them.
  void tell(const std::optional<Error>& outage) {
    const std::lock_guard lock(mutex_);
    if (outage) {
      if (away_++ == 0) session_.output.tell(outage->message + "; trying again");
    } else if (--away_ == 0) {
      session_.output.tell("the store is back");
    }
  }

  /// Reports a refusal, but not the same text twice in a row: a message that is delivered again
  /// would be refused again.
  void tell_of_refusal(const Error& refusal) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(told_refusal_, refusal.message) == refusal.message) return;
    session_.output.tell(not_settled_line(refusal.message));
  }

  void back_off(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    nothing_.wait_for(lock, stop, kBackOff, [] { return false; });
  }

  /// Ends the run. The first error is kept.
  void fail(const Error& error) {
    {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = error;
    }
    stop_.request_stop();
  }

  void on_signal(int count) {
    stop_.request_stop();
    if (count == 1) {
      // No lock is needed: the main thread prints nothing until the watch is over.
      session_.output.note(
          "Stopping: waiting for the running commands; a second signal ends them.");
    } else {
      commands_.signal_all(SIGTERM);
    }
  }

  void report(const WorkerStats& sum) {
    if (session_.output.json()) {
      session_.output.print_json([&](wire::JsonWriter& json) {
        json.begin_object().field("delivered", sum.delivered).field("acked", sum.acked);
        json.field("retried", sum.retried).field("buried", sum.buried);
        json.field("released", sum.released).field("stale", sum.stale);
        json.field("refused", sum.refused).end_object();
      });
      return;
    }
    session_.output.note(fmt::format(
        "delivered {}: acked {}, retried {} (a message's last retry makes it dead), "
        "buried {}, not settled {}, refused by the store {}; given back {}",
        grouped(sum.delivered), grouped(sum.acked), grouped(sum.retried), grouped(sum.buried),
        grouped(sum.stale - sum.refused), grouped(sum.refused), grouped(sum.released)));
  }

  Invocation& session_;
  const WorkOptions& options_;
  relay::ChildProcesses commands_;
  std::stop_source stop_;
  std::atomic<bool> short_of_something_{false};
  std::condition_variable_any nothing_;  // is never notified; only a stop ends its waits
  std::mutex mutex_;
  std::optional<Error> error_;
  std::size_t away_ = 0;  // number of queues whose store does not answer
  std::string told_refusal_;
};

ExitCode work(Invocation& invocation, const WorkOptions& options) {
  if (invocation.trailing.empty()) {
    return invocation.output.usage(
        "work needs a command after --: tarry work QUEUE -- COMMAND [ARG]...");
  }
  for (const std::string& queue : options.queues) {
    if (std::ranges::count(options.queues, queue) == 1) continue;
    return invocation.output.usage("queue " + base::quoted(queue) + " is named twice");
  }
  const auto startable = relay::ChildProcesses(invocation.trailing).check();
  if (!startable) return invocation.output.usage(startable.error().message);
  leave_process_one_to_an_init();
  invocation.output.wait_for_no_reader();
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  // SIGPIPE is ignored: a command that does not read its input must not end this process.
  std::signal(SIGPIPE, SIG_IGN);
  return Shift(invocation, options).run(*store);
}

}  // namespace

void add_work_command(CLI::App& root, Invocation& invocation) {
  const auto [command, options] = add_command(root, invocation, "work", work, R"(
Run a command for every message that falls due

The command reads the payload from standard input. Its exit status settles the message:
0 is ack, 75 is retry, 65 is bury, any other is retry. Its environment holds TARRY_KEY,
TARRY_ID, TARRY_ATTEMPT, TARRY_QUEUE and TARRY_DUE_MS. After SIGTERM or Ctrl-C the
running commands may finish; a second signal is passed on to them.

  tarry work orders -- ./close-order
  tarry work orders mails --concurrency 8 -- python3 handle.py)");
  add_words(command, "QUEUE", options.queues, "One or more queues")->required();
  add_number(command, "--concurrency", options.concurrency, 1, 1024,
             "Commands that run at once, for each queue (default: 1)");
  add_duration(command, "--lease", options.lease,
               "Length of a lease; it is extended while needed (default: the queue's)");
}

}  // namespace tarry::app
