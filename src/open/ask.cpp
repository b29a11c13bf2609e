#include "open/ask.h"

#include <semaphore.h>

#include <cerrno>
#include <optional>

#include "base/assert.h"

namespace tarry::detail {
namespace {

// Stands on the waiting thread's stack, which is gone once that has woken. POSIX's semaphore allows
// it: sem_post touches nothing any more when sem_wait has returned. And it wakes with no lock held,
// for which the woken thread would only have to sleep again.
class Waiter {
 public:
  Waiter() { TARRY_ASSERT(::sem_init(&arrived_, 0, 0) == 0); }
  ~Waiter() { ::sem_destroy(&arrived_); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void complete(Result<core::Reply> reply) {
    reply_.emplace(std::move(reply));
    ::sem_post(&arrived_);
  }

  Result<core::Reply> wait() {
    while (::sem_wait(&arrived_) != 0) TARRY_ASSERT(errno == EINTR);
    return *std::move(reply_);
  }

 private:
  sem_t arrived_;
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
  engine.submit_waiting(std::move(request), [&waiter](Result<core::Reply> reply) {
    waiter.complete(std::move(reply));
  });
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
