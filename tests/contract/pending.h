// Pending<T>: the answer that a callback will deliver. Waiting for it is limited in time, so that a
// test whose answer never comes fails instead of hanging; the limit says nothing about speed.
//
// Thread safety: the callback may run on any thread; one thread waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <tarry/queue.h>
#include <tarry/result.h>

namespace tarry::contract {

/// How long a test waits at most. Only failing tests wait that long.
inline constexpr std::chrono::seconds kPatience{30};

template <typename T>
class Pending {
 public:
  Pending() : state_(std::make_shared<State>()) {}

  /// The callback for the verb. A second call of it is counted, and `get` then throws.
  [[nodiscard]] Callback<T> callback() const {
    return [state = state_](Result<T> result) {
      const std::lock_guard lock(state->mutex);
      ++state->calls;
      state->thread = std::this_thread::get_id();
      state->result.emplace(std::move(result));
      state->changed.notify_all();
    };
  }

  [[nodiscard]] bool ready() const {
    const std::lock_guard lock(state_->mutex);
    return state_->result.has_value();
  }

  [[nodiscard]] Result<T> get() const {
    std::unique_lock lock(state_->mutex);
    if (!state_->changed.wait_for(lock, kPatience, [&] { return state_->result.has_value(); })) {
      throw std::runtime_error("no answer came");
    }
    if (state_->calls != 1) throw std::runtime_error("the callback ran more than once");
    return *state_->result;
  }

  /// The thread that ran the callback.
  [[nodiscard]] std::thread::id thread() const {
    const std::lock_guard lock(state_->mutex);
    return state_->thread;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Result<T>> result;
    std::thread::id thread;
    int calls = 0;
  };
  std::shared_ptr<State> state_;
};

/// Checks again and again until the predicate holds. For changes that other threads make without a
/// notification.
template <typename Predicate>
void wait_until(const char* what, Predicate&& holds) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) {
      throw std::runtime_error(std::string("never came: ") + what);
    }
    std::this_thread::yield();
  }
}

}  // namespace tarry::contract
