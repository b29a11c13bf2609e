// Turns: runs tasks of connections a few at a time. So even when ten thousand connections hang up
// or are answered at the same moment, other clients' requests are served in between.
//
// Thread safety: none; the server's thread owns it.
//
// Invariants
//  1. Each task runs once, and tasks run in the order in which they were given.
//  2. Between two events of the executor at most `most` tasks run.
//  3. While tasks are queued, the executor always has a posted call, so that its loop does not end.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <new>
#include <utility>

#include <boost/asio/post.hpp>

namespace tarry::session {

class Turns {
 public:
  static constexpr std::size_t kMost = 16;

  Turns() = default;
  explicit Turns(std::size_t most) noexcept : most_(most) {}

  /// Runs the task at once if few tasks have run since the executor's last turn, or if there is no
  /// memory to queue it; otherwise in a later turn. `executor` must be the same each time.
  template <typename Executor, typename Task>
  void run(const Executor& executor, Task task) {
    if (tasks_.empty() && run_ < most_ && arm(executor)) {
      ++run_;
      task();
      return;
    }
    if (!keep(executor, task)) task();
  }

 private:
  template <typename Executor, typename Task>
  bool keep(const Executor& executor, const Task& task) {
    if (!arm(executor)) return false;
    try {
      tasks_.emplace_back(task);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  template <typename Executor>
  bool arm(const Executor& executor) {
    if (armed_) return true;
    try {
      boost::asio::post(executor, [this, executor] { next(executor); });
      armed_ = true;
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  template <typename Executor>
  void next(const Executor& executor) {
    armed_ = false;
    run_ = 0;
    // This comes first, because a task may throw. If there is no memory to post the next turn, this
    // turn runs all tasks.
    const bool in_turns = tasks_.empty() || arm(executor);
    while (!tasks_.empty() && (run_ < most_ || !in_turns)) {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      ++run_;
      task();
    }
  }

  const std::size_t most_ = kMost;
  std::deque<std::function<void()>> tasks_;
  std::size_t run_ = 0;
  bool armed_ = false;
};

}  // namespace tarry::session
