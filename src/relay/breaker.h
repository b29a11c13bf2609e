// Breaker: whether a sink is worth trying. Closed: yes. Open: it is down, nothing is claimed until
// a pause has passed. Half-open: one message at a time tests whether it is back.
//
// It opens when the sink says that it is down, or when `failures` different messages in a row
// failed with none confirmed in between: a single message that always fails opens nothing. After
// each failed trial the pause is twice as long as the one before, from `least` to `most`; its upper
// half is random.
//
// Pure state; moments are passed in. Not thread safe.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <set>

#include <tarry/time.h>

#include "leases/moment.h"

namespace tarry::relay {

using leases::Moment;

enum class BreakerState : std::uint8_t { closed, open, half_open };

struct BreakerOptions {
  std::uint32_t failures = 5;  // different messages in a row
  Millis least{100};
  Millis most{30'000};

  friend bool operator==(const BreakerOptions&, const BreakerOptions&) = default;
};

class Breaker {
 public:
  Breaker(BreakerOptions options, std::uint32_t seed);

  [[nodiscard]] BreakerState state() const noexcept { return state_; }
  /// While open: when it becomes half-open.
  [[nodiscard]] std::optional<Moment> until() const noexcept;
  /// How often it has opened.
  [[nodiscard]] std::uint64_t openings() const noexcept { return openings_; }

  void advance(Moment now) noexcept;
  /// The sink took a message, or refused one for good: it works. Late news while open is ignored.
  void worked() noexcept;
  /// The sink answered but did not take this one message: ends a trial well, but does not end a row
  /// of failures.
  void answered() noexcept;
  void failed(std::uint64_t id, Moment now);
  void down(Moment now);

 private:
  void open(Moment now);

  BreakerOptions options_;
  std::minstd_rand chance_;
  BreakerState state_ = BreakerState::closed;
  Millis pause_;
  Moment until_{0};
  std::uint64_t openings_ = 0;
  std::set<std::uint64_t> failing_;
};

}  // namespace tarry::relay
