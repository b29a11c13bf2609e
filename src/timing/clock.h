// Clock: the seam through which all of tarry learns the time. Real (real_clock.h) or moved by hand
// (manual_clock.h). The core never asks it: whoever runs a shard does, and tells the shard.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace tarry::timing {

/// One reading of both clocks, in milliseconds, rounded down: nothing may look due before it is.
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

  /// For measuring how long something takes on this machine; of no other use, and not to be
  /// compared with `now`. A clock that is moved by hand stands still, and jumps.
  [[nodiscard]] virtual std::chrono::nanoseconds monotonic() const {
    return std::chrono::milliseconds(now().boottime_ms);
  }

  /// Two boottimes may be compared when they were read under the same boot id, and only then.
  [[nodiscard]] virtual std::uint64_t boot_id() const = 0;

  /// How much later than a reading it may really be, in milliseconds: a delay counted from the
  /// reading must be this much longer, or it would end early. 0 for a clock that stands still.
  [[nodiscard]] virtual std::int64_t rounding_ms() const { return 1; }
};

}  // namespace tarry::timing
