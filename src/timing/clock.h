// Clock: the only source of time in tarry. Real (real_clock.h) or manual (manual_clock.h). The core
// never reads a clock: the code that runs a shard reads it, and tells the shard the time.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace tarry::timing {

/// One reading of both clocks, in milliseconds, rounded down: a message must not look due too
/// early.
struct Instant {
  std::int64_t realtime_ms = 0;  ///< since 1970 (UTC); may step, forwards and backwards
  std::int64_t boottime_ms = 0;  ///< since boot, time asleep included; never steps within one boot

  friend bool operator==(const Instant&, const Instant&) = default;
};

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual Instant now() const = 0;

  /// For measuring how long something takes on this machine. Do not compare it with `now`: a manual
  /// clock's `now` stands still and jumps.
  [[nodiscard]] virtual std::chrono::nanoseconds monotonic() const {
    return std::chrono::milliseconds(now().boottime_ms);
  }

  /// Compare two boottimes only if the boot id was the same at both readings.
  [[nodiscard]] virtual std::uint64_t boot_id() const = 0;

  /// The real time may be later than a reading by up to this many milliseconds. A delay that is
  /// counted from a reading must be longer by this, or it ends early. 0 for a clock that stands
  /// still.
  [[nodiscard]] virtual std::int64_t rounding_ms() const { return 1; }
};

}  // namespace tarry::timing
