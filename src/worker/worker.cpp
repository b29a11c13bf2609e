#include <tarry/worker.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "core/validation.h"
#include "worker/session.h"

namespace tarry {
namespace {

constexpr std::uint32_t kMaxConcurrency = 1'024;
/// Together with the concurrency what one claim may ask for.
constexpr std::uint32_t kMaxPrefetch = core::kMaxBatch - kMaxConcurrency;

std::optional<Error> check(const WorkerOptions& options, const Handler& handler) {
  const auto invalid = [](std::string message) {
    return Error{ErrorCode::invalid_argument, std::move(message)};
  };
  if (options.concurrency < 1 || options.concurrency > kMaxConcurrency) {
    return invalid("concurrency " + std::to_string(options.concurrency) + " must be from 1 to " +
                   std::to_string(kMaxConcurrency));
  }
  if (options.prefetch > kMaxPrefetch) {
    return invalid("prefetch " + std::to_string(options.prefetch) + " must be from 0 to " +
                   std::to_string(kMaxPrefetch));
  }
  if (!handler) return invalid("the worker's handler is empty");
  return core::check_lease(options.lease);
}

}  // namespace

class Worker::Impl {
 public:
  Impl(Queue queue, WorkerOptions options, Handler handler)
      : queue_(std::move(queue)), options_(options), handler_(std::move(handler)) {}

  Result<void> run(std::stop_token stop) {
    if (core::on_engine_thread()) {
      return Unexpected(ErrorCode::misuse,
                        "a worker on a thread of the engine would wait for itself");
    }
    if (auto error = check(options_, handler_)) return *std::move(error);
    {
      const std::lock_guard lock(mutex_);
      if (running_)
        return Unexpected(ErrorCode::misuse, "the worker runs already; once is the limit");
      running_ = true;
    }
    Result<void> result = run_session(std::move(stop));
    // Under the lock, or the destructor could free what is still being notified.
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
    return {.delivered = counters_.delivered,
            .acked = counters_.acked,
            .retried = counters_.retried,
            .buried = counters_.buried,
            .released = counters_.released,
            .stale = counters_.stale};
  }

 private:
  // Without memory it ends the program: answers are on their way to a session, which cannot just
  // go.
  Result<void> run_session(std::stop_token stop) noexcept {
    worker::Session session(queue_.engine(), queue_.name(), options_, handler_, counters_);
    return session.run(std::move(stop), stop_.get_token());
  }

  const Queue queue_;
  const WorkerOptions options_;
  const Handler handler_;
  worker::Counters counters_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool running_ = false;
};

Worker::Worker(Queue queue, WorkerOptions options, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(queue), options, std::move(handler))) {}

Worker::~Worker() {
  impl_->stop();
  impl_->wait_until_ended();
}

Result<void> Worker::run(std::stop_token stop) { return impl_->run(std::move(stop)); }

void Worker::stop() noexcept { impl_->stop(); }

WorkerStats Worker::stats() const { return impl_->stats(); }

}  // namespace tarry
