// Hold: a queue that is paused while its messages are moved. The end of the pause encodes the
// queue's former pause plus 40 years, so that any run that ends the hold knows which pause to
// restore. "Paused until 10:00 today" becomes 10:00 in 40 years; "not paused" becomes one second
// before now, in 40 years. Once all messages of the queue are there, 80 years are added instead of
// 40. This says that only the hold itself must still be ended.
//
// Thread safety: blocks the calling thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tarry/result.h>
#include <tarry/settings.h>
#include <tarry/time.h>

#include "core/engine.h"

namespace tarry::app {

struct PauseState {
  bool paused = false;
  std::optional<Time> until;  // empty while paused: until resumed
  friend bool operator==(const PauseState&, const PauseState&) = default;
};

/// The time now by this machine's clock. Holds are computed with it.
[[nodiscard]] Time wall_clock();

/// The queue's pause before it was held; if it is not held, its present pause.
[[nodiscard]] PauseState pause_before(const QueueStats& stats, Time now);
[[nodiscard]] bool is_held(const QueueStats& stats, Time now);
/// Whether the queue is held and all of its messages are there.
[[nodiscard]] bool is_held_whole(const QueueStats& stats, Time now);

enum class Hold : std::uint8_t { filling, whole };
/// The end of the pause with which a queue is held whose own pause is `before`. Empty if the queue
/// is paused until resumed: that pause holds it already.
[[nodiscard]] std::optional<Time> hold_of(const PauseState& before, Time now,
                                          Hold hold = Hold::filling);

[[nodiscard]] Result<void> set_pause(core::Engine& engine, const std::string& queue,
                                     const PauseState& pause);

/// `not_found` if there is no such queue.
[[nodiscard]] Result<QueueStats> stats_of(core::Engine& engine, const std::string& queue);

}  // namespace tarry::app
