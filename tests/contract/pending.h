// Pending<T>: an answer that a callback will bring. Waiting for it is bounded, so that a test whose
// answer never comes fails instead of hanging; the bound is no statement about speed.
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

/// How long a test waits for what must come. Only ever seen by a test that fails.
inline constexpr std::chrono::seconds kPatience{30};

template <typename T>
class Pending {
 public:
  Pending() : state_(std::make_shared<State>()) {}

  /// To be handed to the verb: a second call is counted, and `get` then throws.
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

  /// Where the callback ran.
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

/// Asks until it holds. For what other threads bring about and nobody tells.
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
