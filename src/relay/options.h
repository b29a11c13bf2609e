// A relay's options and statistics. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "core/figures/lateness_histogram.h"
#include "leases/book.h"
#include "relay/breaker.h"

namespace tarry::relay {

inline constexpr std::uint32_t kMaxInFlight = 10'000;
inline constexpr std::uint32_t kMaxRate = 1'000'000;

struct RelayOptions {
  std::vector<std::string> queues;  // names or patterns, at least one; served in turn
  std::uint32_t in_flight = 1'000;  // 1 .. 10,000 messages claimed and not yet answered
  std::uint32_t batch = 100;        // 1 .. 10,000 messages per claim
  // Payload bytes, at least 1, of messages claimed and not yet answered. Above this limit nothing
  // more is claimed, but a single message may have any size.
  std::uint64_t in_flight_bytes = 64ull << 20;
  std::uint32_t rate = 0;                          // messages a second, to 1,000,000; 0: no limit
  std::optional<Millis> lease = {};                // default: the queue's
  std::optional<std::uint32_t> max_attempts = {};  // 1 .. 65,535; the store has a limit of its own
  Millis drain{10'000};  // after a stop: how long the sink may take, up to 1 h
  BreakerOptions breaker = {};

  friend bool operator==(const RelayOptions&, const RelayOptions&) = default;
};

/// Error: `invalid_argument`, which names the value and the limit.
[[nodiscard]] Result<void> check(const RelayOptions& options);

/// The kinds of failures of single messages, while the sink and the store as a whole work.
enum class Mishap : std::uint8_t {
  failed,    // at the sink: answers `again` and `unknown`
  refused,   // by the sink, for good
  unsettled  // by the store, although the lease had not run out
};
inline constexpr std::array kMishaps{Mishap::failed, Mishap::refused, Mishap::unsettled};

/// Counts of a relay; the base class counts how claims ended in the store.
struct RelayStats : leases::Counts {
  std::uint64_t claimed = 0;
  std::uint64_t confirmed = 0;  // messages that the sink has confirmed
  std::uint64_t failed = 0;     // messages with the answer `again` or `unknown`
  std::uint64_t in_flight = 0;  // messages claimed and not yet settled
  std::uint64_t openings = 0;   // how often the breaker has opened
  std::uint64_t queues = 0;     // queues that are served now
  BreakerState breaker = BreakerState::closed;
  core::LatenessHistogram lags;  // from the due time to the sink's confirmation
  Millis lag{0};                 // the lag of the last confirmed message
  std::string last_error;        // from the sink, or from looking for queues; empty: none yet
};

}  // namespace tarry::relay
