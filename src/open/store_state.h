// StoreState: what the handles of one store (Store, Queue) share: the engine, where callbacks run,
// and the clock if it is one moved by hand.
//
// Thread safe.
//
// Invariants
//  1. The engine lives as long as any handle; after `close` it answers `closed`.
//  2. In a child of the process nothing of the engine is touched, not even when its handles go: its
//     threads are not there, and its files are the parent's.
//  3. Once it is closed no thread and no descriptor of it is left, but one that answers `closed`.
//  4. No completion owns the state: the engine would otherwise own itself, and could come to its
//     end on a thread of its own.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <tarry/clock.h>
#include <tarry/store.h>

#include "core/answer_thread.h"
#include "core/engine.h"
#include "open/fork_mark.h"

namespace tarry::detail {

class StoreState {
 public:
  StoreState(std::unique_ptr<core::Engine> engine, Executor executor,
             std::optional<ManualClock> clock);
  ~StoreState();
  StoreState(const StoreState&) = delete;
  StoreState& operator=(const StoreState&) = delete;

  [[nodiscard]] core::Engine& engine() const noexcept { return *engine_; }
  /// Empty where callbacks run on the engine's threads.
  [[nodiscard]] const std::shared_ptr<const Executor>& executor() const noexcept {
    return executor_;
  }
  [[nodiscard]] const std::optional<ManualClock>& clock() const noexcept { return clock_; }

  /// Whether this is a child, made by fork, of the process that opened the store.
  [[nodiscard]] bool is_in_child() const noexcept { return mark_.is_in_child(); }
  /// The process that opened the store.
  [[nodiscard]] pid_t maker() const noexcept { return mark_.maker(); }

  /// Closes the engine, and returns when it has stopped; on a thread of the engine, which cannot
  /// wait for its own end, it has that done elsewhere and returns at once. Nothing in a child.
  static void close(const std::shared_ptr<StoreState>& state);

  /// As `close`, not on a thread of the engine.
  void close_engine();

  /// Runs what answers a verb that the engine is not asked for, on a thread as the engine's.
  void answer(core::AnswerThread::Task task) const { closer_->post(std::move(task)); }

 private:
  std::unique_ptr<core::Engine> engine_;
  std::shared_ptr<const Executor> executor_;
  std::optional<ManualClock> clock_;
  ForkMark mark_;
  std::mutex closing_;  // the second to close waits until the first has done it
  // For the close that an engine's thread asks for, and for `answer`. There from the beginning: by
  // then the system may give no thread.
  std::unique_ptr<core::AnswerThread> closer_;
};

/// The state that a handle has; of one that was moved away, a state that is closed.
[[nodiscard]] const StoreState& state_of(const std::shared_ptr<StoreState>& state) noexcept;

}  // namespace tarry::detail
