// ManualClock: a clock that a test moves. Give it to `tarry::open` in the options, or ask a
// store opened as `memory:?clock=manual` for its own (`Store::manual_clock`):
//   tarry::ManualClock clock;
//   auto store = tarry::open("memory:", {.clock = clock});
//   clock.advance(31 * 24h);
// Thread safe; copies share the same time.
#pragma once

#include <chrono>
#include <memory>

#include <tarry/time.h>

namespace tarry {

namespace timing {
class ManualClock;
}

class ManualClock {
 public:
  /// Starts at 2020-01-01T00:00:00Z, or at the moment given.
  ManualClock();
  explicit ManualClock(Time start);
  /// For the library.
  explicit ManualClock(std::shared_ptr<timing::ManualClock> clock) noexcept;
  // Moving also copies, so that a moved-from handle still has its clock.
  ManualClock(const ManualClock&) = default;
  ManualClock& operator=(const ManualClock&) = default;
  ~ManualClock() = default;

  [[nodiscard]] Time now() const;
  /// Moves the time, for due times and for leases. Stores that use this clock are woken. Aborts
  /// unless `by` is from 0 to 100 years. To go back, use `step`. The clock stops at the end of the
  /// year 2200, the latest time that tarry can express.
  void advance(Millis by);
  /// Moves only the wall clock, as an administrator or NTP would. `by` may be negative. Aborts if
  /// `by` is over 100 years in either direction, or if the clock would leave the years from 1970 to
  /// 2200.
  void step(Millis by);

  /// For the library.
  [[nodiscard]] const std::shared_ptr<timing::ManualClock>& implementation() const noexcept {
    return clock_;
  }

 private:
  std::shared_ptr<timing::ManualClock> clock_;
};

}  // namespace tarry
