#include "open/ask.h"

#include <condition_variable>
#include <mutex>
#include <optional>

namespace tarry::detail {
namespace {

// Stands on the waiting thread's stack; so the completing thread must be done with it when the
// waiting one wakes, and notifies under the lock.
class Waiter {
 public:
  void complete(Result<core::Reply> reply) {
    const std::lock_guard lock(mutex_);
    reply_.emplace(std::move(reply));
    arrived_.notify_one();
  }

  Result<core::Reply> wait() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return reply_.has_value(); });
    return *std::move(reply_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<Result<core::Reply>> reply_;
};

}  // namespace

Result<core::Reply> wait_for(core::Engine& engine, core::Request request) {
  if (core::on_engine_thread()) {
    return Unexpected(ErrorCode::misuse,
                      "a blocking verb on a thread of the engine would wait for itself; use its "
                      "form with a callback, or give open an executor");
  }
  Waiter waiter;
  engine.submit(std::move(request),
                [&waiter](Result<core::Reply> reply) { waiter.complete(std::move(reply)); });
  return waiter.wait();
}

void run_callback(const std::shared_ptr<const Executor>& executor,
                  base::UniqueFunction<void()> task) noexcept {
  if (!executor) {
    task();
    return;
  }
  // Shared, because a std::function must be copyable.
  (*executor)(
      [task = std::make_shared<base::UniqueFunction<void()>>(std::move(task))] { (*task)(); });
}

}  // namespace tarry::detail
