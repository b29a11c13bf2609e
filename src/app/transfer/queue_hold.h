// Hold: a queue that is paused while its messages are moved. The pause ends 40 years after its
// former end, so that it says by itself which pause to restore, whichever run ends it: "paused
// until 10:00 today" becomes 10:00 in 40 years, and "not paused" a second ago in 40 years. Once all
// of its messages are there it may be held for 80 years instead: then only the end of the hold is
// missing.
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

/// Now, by this machine's clock, by which holds are computed.
[[nodiscard]] Time wall_clock();

/// The queue's pause before it was held; or its present pause, if it is not held.
[[nodiscard]] PauseState pause_before(const QueueStats& stats, Time now);
[[nodiscard]] bool is_held(const QueueStats& stats, Time now);
/// Held, and all of its messages are there.
[[nodiscard]] bool is_held_whole(const QueueStats& stats, Time now);

enum class Hold : std::uint8_t { filling, whole };
/// Until when to pause a queue in order to hold it, if its pause was `before`. Empty for a queue
/// that is paused until resumed: it need not be changed.
[[nodiscard]] std::optional<Time> hold_of(const PauseState& before, Time now,
                                          Hold hold = Hold::filling);

[[nodiscard]] Result<void> set_pause(core::Engine& engine, const std::string& queue,
                                     const PauseState& pause);

/// `not_found` if there is no such queue.
[[nodiscard]] Result<QueueStats> stats_of(core::Engine& engine, const std::string& queue);

}  // namespace tarry::app
