// RealClock: the machine's own clocks, CLOCK_REALTIME and CLOCK_BOOTTIME.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "timing/clock.h"

namespace tarry::timing {

class RealClock final : public Clock {
 public:
  /// Reads the boot id once. If the kernel does not provide one, a random one is used. The next
  /// process then assumes another boot, which is safe.
  RealClock();

  [[nodiscard]] Instant now() const override;
  [[nodiscard]] std::chrono::nanoseconds monotonic() const override;
  [[nodiscard]] std::uint64_t boot_id() const override { return boot_id_; }

 private:
  static Instant read_together();

  std::uint64_t boot_id_;
  // The difference of the two clocks at their last common reading.
  mutable std::atomic<std::int64_t> offset_ms_{0};
};

}  // namespace tarry::timing
