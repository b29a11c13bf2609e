// How fast a queue's messages come and go, from two looks at it.
//
// Pure functions and plain values.
#pragma once

#include <chrono>
#include <cstdint>

#include <tarry/queue.h>

namespace tarry::app {

/// Messages that are due within this time of the first look count as coming at once.
inline constexpr Millis kSoon = std::chrono::minutes(1);

struct FlowLook {
  std::uint64_t claims = 0;   // since the queue was made
  std::uint64_t pending = 0;  // ready, or due at most kSoon after the first look
};

struct Flow {
  double claimed = 0;  // a second
  /// What became pending without having been foreseen: pushes and retries, less cancels; never
  /// below 0. A second.
  double arrived = 0;
};

/// `elapsed` must be above 0.
[[nodiscard]] Flow flow_between(const FlowLook& first, const FlowLook& second, Millis elapsed);

}  // namespace tarry::app
