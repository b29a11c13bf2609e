#include "open/handles/ask.h"

#include <optional>
#include <string>
#include <thread>

#include "base/threads/semaphore.h"
#include "base/threads/thread.h"

namespace tarry::detail {
namespace {

// A Waiter is on the waiting thread's stack: it ceases to exist as soon as that thread wakes.
class Waiter {
 public:
  void complete(Result<core::Reply> reply) {
    reply_.emplace(std::move(reply));
    arrived_.post();
  }

  Result<core::Reply> wait() {
    arrived_.wait();
    return *std::move(reply_);
  }

 private:
  base::Semaphore arrived_;
  std::optional<Result<core::Reply>> reply_;
};

Error used_in_child(const StoreState& state) {
  return {ErrorCode::misuse, "the store was opened by process " + std::to_string(state.maker()) +
                                 ", and cannot be used in a process forked from it; open it there"};
}

Error would_wait_for_itself() {
  return {ErrorCode::misuse,
          "a blocking verb on a thread of the engine would wait for itself; use its form with a "
          "callback, or give open an executor"};
}

}  // namespace

bool settles(const core::Request& request) noexcept {
  const auto* claim = std::get_if<core::ClaimRequest>(&request);
  return claim != nullptr && !claim->settle.items.empty();
}

Result<core::Reply> wait_for(const StoreState& state, core::Request request) {
  if (state.is_in_child()) return used_in_child(state);
  return wait_for(state.engine(), std::move(request));
}

Result<core::Reply> wait_for(core::Engine& engine, core::Request request) {
  if (core::on_engine_thread()) return would_wait_for_itself();
  Waiter waiter;
  engine.submit_waiting(std::move(request), [&waiter](Result<core::Reply> reply) {
    waiter.complete(std::move(reply));
  });
  return waiter.wait();
}

Result<core::Reply> wait_for(const StoreState& state, core::Request request, std::stop_token stop) {
  if (state.is_in_child()) return used_in_child(state);
  if (core::on_engine_thread()) return would_wait_for_itself();
  if (stop.stop_requested() && !settles(request)) return core::Reply(core::ClaimReply());
  core::Engine& engine = state.engine();
  Waiter waiter;
  // `submit` and not `submit_waiting`, because a request of the latter cannot be withdrawn.
  const core::Ticket ticket =
      engine.submit(std::move(request),
                    [&waiter](Result<core::Reply> reply) { waiter.complete(std::move(reply)); });
  const std::stop_callback on_stop(std::move(stop), [&] { engine.withdraw(ticket); });
  return waiter.wait();
}

void complete_in_child(const StoreState& state, core::Completion completion) {
  base::start_thread("tarry-child", [error = used_in_child(state),
                                     completion = std::move(completion)]() mutable {
    const core::EngineThreadScope scope;
    completion(std::move(error));
  }).detach();
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
