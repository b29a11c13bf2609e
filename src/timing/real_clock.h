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
  /// Reads the boot id once. If the kernel does not provide it, a random one is used: the next
  /// process then assumes another boot, which is the safe error.
  RealClock();

  [[nodiscard]] Instant now() const override;
  [[nodiscard]] std::chrono::nanoseconds monotonic() const override;
  [[nodiscard]] std::uint64_t boot_id() const override { return boot_id_; }

 private:
  static Instant read_together();

  std::uint64_t boot_id_;
  // The difference of the two clocks when they were last read together.
  mutable std::atomic<std::int64_t> offset_ms_{0};
};

}  // namespace tarry::timing
