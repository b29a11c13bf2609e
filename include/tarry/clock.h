// ManualClock: time that a test moves by hand. Hand it to `tarry::open` in the options, or ask a
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
  // Copied also where it is moved, so that no handle is ever without its clock.
  ManualClock(const ManualClock&) = default;
  ManualClock& operator=(const ManualClock&) = default;
  ~ManualClock() = default;

  [[nodiscard]] Time now() const;
  /// Lets time pass: both for due times and for leases. Stores that use this clock are woken.
  /// Aborts unless `by` is from 0 to 100 years: time does not run back, `step` does. Stays where it
  /// is once it has come to the end of the year 2200: no moment after it can be named.
  void advance(Millis by);
  /// Steps the wall clock alone, as an administrator or NTP would; may go back. Aborts over 100
  /// years either way, and where it would come to stand before 1970 or after 2200.
  void step(Millis by);

  /// For the library.
  [[nodiscard]] const std::shared_ptr<timing::ManualClock>& implementation() const noexcept {
    return clock_;
  }

 private:
  std::shared_ptr<timing::ManualClock> clock_;
};

}  // namespace tarry
