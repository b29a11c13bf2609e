// StoreState: shared by the handles of one store (Store, Queue): the engine, the executor for
// callbacks, and the clock if it is a manual one.
//
// Thread safe.
//
// Invariants
//  1. The engine lives as long as any handle; after `close` it answers `closed`.
//  2. In a forked child nothing touches the engine, not even the destruction of handles: the
//     engine's threads do not exist there, and its files belong to the parent.
//  3. Once the store is closed, no thread and no descriptor is left, except a thread that answers
//     `closed`.
//  4. No completion owns the state: otherwise the engine would own itself, and could be destroyed
//     on one of its own threads.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <tarry/clock.h>
#include <tarry/store.h>

#include "core/engine.h"
#include "core/engine_parts/answer_thread.h"
#include "open/handles/fork_mark.h"

namespace tarry::detail {

class StoreState {
 public:
  StoreState(std::unique_ptr<core::Engine> engine, Executor executor,
             std::optional<ManualClock> clock);
  ~StoreState();
  StoreState(const StoreState&) = delete;
  StoreState& operator=(const StoreState&) = delete;

  [[nodiscard]] core::Engine& engine() const noexcept { return *engine_; }
  /// Null if callbacks run on the engine's threads.
  [[nodiscard]] const std::shared_ptr<const Executor>& executor() const noexcept {
    return executor_;
  }
  [[nodiscard]] const std::optional<ManualClock>& clock() const noexcept { return clock_; }

  /// Whether this is a child, made by fork, of the process that opened the store.
  [[nodiscard]] bool is_in_child() const noexcept { return mark_.is_in_child(); }
  /// The process that opened the store.
  [[nodiscard]] pid_t maker() const noexcept { return mark_.maker(); }

  /// Closes the engine, and returns when it has stopped. A thread of the engine cannot wait for its
  /// own end: on such a thread the call returns at once, and another thread closes the engine. In a
  /// forked child the call does nothing.
  static void close(const std::shared_ptr<StoreState>& state);

  /// As `close`; must not be called on a thread of the engine.
  void close_engine();

  /// Answers a verb without calling the engine: runs `task` on a thread that counts as the
  /// engine's.
  void answer(core::AnswerThread::Task task) const { closer_->post(std::move(task)); }

 private:
  std::unique_ptr<core::Engine> engine_;
  std::shared_ptr<const Executor> executor_;
  std::optional<ManualClock> clock_;
  ForkMark mark_;
  std::mutex closing_;  // a second close waits for the first
  // The thread that closes the engine for a call on an engine's thread, and that runs the tasks of
  // `answer`. It is started at the beginning, because later the system may refuse a thread.
  std::unique_ptr<core::AnswerThread> closer_;
};

/// The state of a handle; for a moved-from handle, a state that is closed.
[[nodiscard]] const StoreState& state_of(const std::shared_ptr<StoreState>& state) noexcept;

}  // namespace tarry::detail
