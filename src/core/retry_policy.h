// How long a retry waits: exponential from backoff_min, doubling with each attempt, capped at
// backoff_max, with the upper half spread by jitter ("equal jitter", after Brooker, "Exponential
// Backoff And Jitter", 2015), so that messages that failed together do not come back at once.
#pragma once

#include <cstdint>

#include <tarry/settings.h>

namespace tarry::core {

/// `attempt` is 1 after the first delivery. `seed` picks the jitter: the same seed gives the same
/// delay, so that the state machine stays deterministic. Answers milliseconds, within
/// [full/2, full] of the exponential's full delay, and never above backoff_max.
[[nodiscard]] std::int64_t backoff_ms(const QueueSettings& settings, std::uint32_t attempt,
                                      std::uint64_t seed) noexcept;

}  // namespace tarry::core
