// How long a retry waits. The delay starts at backoff_min, doubles with each attempt, and is capped
// at backoff_max. Its upper half is random ("equal jitter", after Brooker, "Exponential Backoff And
// Jitter", 2015), so that messages that failed together do not all come back at once.
#pragma once

#include <cstdint>

#include <tarry/settings.h>

namespace tarry::core {

/// `attempt` is 1 after the first delivery. `seed` determines the jitter: the same seed gives the
/// same delay, which keeps the state machine deterministic. Returns milliseconds: between half of
/// the exponential delay and all of it, and never above backoff_max.
[[nodiscard]] std::int64_t backoff_ms(const QueueSettings& settings, std::uint32_t attempt,
                                      std::uint64_t seed) noexcept;

}  // namespace tarry::core
