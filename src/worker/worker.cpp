#include <tarry/worker.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "base/histogram.h"
#include "base/text/text.h"
#include "base/threads/thread.h"
#include "core/rules/validation.h"
#include "worker/counters.h"
#include "worker/queue_run.h"
#include "worker/turns.h"

namespace tarry {
namespace {

constexpr std::uint32_t kMaxConcurrency = 1'024;
/// The prefetch and the concurrency together must not exceed the limit of one claim.
constexpr std::uint32_t kMaxPrefetch = core::kMaxBatch - kMaxConcurrency;

constexpr Millis kMaxDrain = std::chrono::hours(24);

Error invalid(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

std::optional<Error> check(const WorkerOptions& options, const Handler& handler) {
  for (const core::MaybeError& error :
       {core::check_number("concurrency", options.concurrency, 1, kMaxConcurrency),
        core::check_number("prefetch", options.prefetch, 0, kMaxPrefetch),
        core::check_lease(options.lease)}) {
    if (error) return error;
  }
  if (options.drain && (*options.drain < Millis(0) || *options.drain > kMaxDrain)) {
    return invalid("drain " + base::format_duration_ms(options.drain->count()) +
                   " must be from 0s to 24h");
  }
  if (!handler) return invalid("the worker's handler is empty");
  return std::nullopt;
}

std::optional<Error> check(const std::vector<QueueWork>& queues) {
  if (queues.empty()) return invalid("a worker needs at least one queue");
  std::set<std::pair<const core::Engine*, std::string_view>> seen;
  for (const QueueWork& work : queues) {
    if (auto error = check(work.options, work.handler)) {
      if (queues.size() > 1) error->message += ", of queue " + base::quoted(work.queue.name());
      return error;
    }
    if (!seen.emplace(&work.queue.engine(), work.queue.name()).second) {
      return invalid("queue " + base::quoted(work.queue.name()) +
                     " is given twice; once is the limit");
    }
  }
  return std::nullopt;
}

std::vector<QueueWork> only(Queue queue, WorkerOptions options, Handler handler) {
  std::vector<QueueWork> queues;
  queues.push_back({std::move(queue), std::move(handler), options});
  return queues;
}

WorkerStats summed(const std::vector<const worker::Counters*>& parts) {
  WorkerStats stats;
  // On the heap, because a histogram has 30 KiB.
  const auto lateness = std::make_unique<base::Histogram>();
  for (const worker::Counters* part : parts) part->add_to(stats, *lateness);
  stats.lateness_p50 = Millis(lateness->percentile(50));
  stats.lateness_p99 = Millis(lateness->percentile(99));
  stats.lateness_max = Millis(lateness->max());
  return stats;
}

}  // namespace

class Worker::Impl {
 public:
  Impl(std::vector<QueueWork> queues, std::uint32_t total)
      : queues_(std::move(queues)), counters_(queues_.size()), turns_(total) {}

  Result<void> run(std::stop_token stop) {
    if (core::on_engine_thread()) {
      return Unexpected(ErrorCode::misuse,
                        "a worker on a thread of the engine would wait for itself");
    }
    if (auto error = check(queues_)) return *std::move(error);
    for (const QueueWork& work : queues_) {
      if (work.queue.engine().is_closed()) {
        return Unexpected(ErrorCode::closed,
                          "the store of queue " + base::quoted(work.queue.name()) + " is closed");
      }
    }
    {
      const std::lock_guard lock(mutex_);
      if (running_)
        return Unexpected(ErrorCode::misuse, "the worker runs already; once is the limit");
      running_ = true;
    }
    Result<void> result = run_queues(std::move(stop));
    // Notifies under the lock: otherwise the destructor could free the condition variable during
    // the call.
    const std::lock_guard lock(mutex_);
    running_ = false;
    ended_.notify_all();
    return result;
  }

  void stop() noexcept { stop_.request_stop(); }

  void wait_until_ended() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return !running_; });
  }

  WorkerStats stats() const {
    std::vector<const worker::Counters*> parts;
    for (const worker::Counters& part : counters_) parts.push_back(&part);
    return summed(parts);
  }

  std::optional<WorkerStats> stats(std::string_view queue) const {
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (queues_[i].queue.name() == queue) return summed({&counters_[i]});
    }
    return std::nullopt;
  }

 private:
  /// Makes one run per queue: the first on this thread, each of the others on a thread of its own.
  Result<void> run_queues(std::stop_token stop) {
    std::stop_source end;
    const auto end_all = [&end] { end.request_stop(); };
    const std::stop_callback on_stop(std::move(stop), end_all);
    const std::stop_callback on_own_stop(stop_.get_token(), end_all);
    std::vector<Result<void>> results(queues_.size());
    const auto run_one = [&](std::size_t i) noexcept {
      results[i] = run_queue(i, end.get_token());
      end_all();
    };
    Result<void> started;
    {
      std::vector<std::jthread> threads;
      threads.reserve(queues_.size());
      try {
        for (std::size_t i = 1; i < queues_.size(); ++i) {
          threads.push_back(base::start_jthread({"tarry-queue", i}, [&, i] { run_one(i); }));
        }
      } catch (const std::system_error& failure) {
        started = Unexpected(ErrorCode::unavailable,
                             "the system gave " + std::to_string(threads.size()) + " threads of " +
                                 std::to_string(queues_.size() - 1) + ": " + failure.what());
        end_all();
      }
      run_one(0);
    }
    if (!started) return started;
    for (Result<void>& result : results) {
      if (!result) return std::move(result);
    }
    return {};
  }

  // If memory runs out, the program ends (`noexcept`): the run must not disappear while answers are
  // on their way to it.
  Result<void> run_queue(std::size_t i, std::stop_token stop) noexcept {
    const QueueWork& work = queues_[i];
    worker::QueueRun run(work.queue.engine(), work.queue.name(), work.options, work.handler,
                         counters_[i], turns_);
    return run.run(std::move(stop));
  }

  const std::vector<QueueWork> queues_;
  std::deque<worker::Counters> counters_;  // one per queue, in the order of queues_
  worker::Turns turns_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool running_ = false;
};

Worker::Worker(Queue queue, WorkerOptions options, Handler handler)
    : Worker(only(std::move(queue), options, std::move(handler))) {}

Worker::Worker(std::vector<QueueWork> queues, std::uint32_t total)
    : impl_(std::make_unique<Impl>(std::move(queues), total)) {}

Worker::~Worker() {
  impl_->stop();
  impl_->wait_until_ended();
}

Result<void> Worker::run(std::stop_token stop) { return impl_->run(std::move(stop)); }

void Worker::stop() noexcept { impl_->stop(); }

WorkerStats Worker::stats() const { return impl_->stats(); }

std::optional<WorkerStats> Worker::stats(std::string_view queue) const {
  return impl_->stats(queue);
}

}  // namespace tarry
