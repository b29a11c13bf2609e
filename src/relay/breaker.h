// Breaker: decides whether messages are sent to a sink. Closed: yes. Open: the sink is down, and
// nothing is claimed until a pause has passed. Half-open: one message at a time tests whether the
// sink works again.
//
// It opens when the sink says that it is down, or when `failures` different messages in a row have
// failed and none was confirmed in between. So a single message that always fails does not open it.
// After each failed trial the pause doubles, from `least` to `most`; its upper half is random.
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
  std::uint32_t failures = 5;  // of different messages, in a row
  Millis least{100};
  Millis most{30'000};

  friend bool operator==(const BreakerOptions&, const BreakerOptions&) = default;
};

class Breaker {
 public:
  Breaker(BreakerOptions options, std::uint32_t seed);

  [[nodiscard]] BreakerState state() const noexcept { return state_; }
  /// The time at which it becomes half-open, if it is open now.
  [[nodiscard]] std::optional<Moment> until() const noexcept;
  /// How often it has opened.
  [[nodiscard]] std::uint64_t openings() const noexcept { return openings_; }

  void advance(Moment now) noexcept;
  /// The sink took a message, or refused one for good, so it works. Ignored while the breaker is
  /// open, because such news is old.
  void worked() noexcept;
  /// The sink answered, but did not take this one message. A trial then counts as passed, but a row
  /// of failures does not end.
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
