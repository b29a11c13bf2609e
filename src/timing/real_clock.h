// RealClock: the machine's own clocks, CLOCK_REALTIME and CLOCK_BOOTTIME.
//
// Thread safety: immutable after construction.
#pragma once

#include <cstdint>

#include "timing/clock.h"

namespace tarry::timing {

class RealClock final : public Clock {
 public:
  /// Reads the boot id once. Where the kernel does not tell it, a random one is drawn: the next
  /// process then takes this boot for another one, which is the safe error.
  RealClock();

  [[nodiscard]] Instant now() const override;
  [[nodiscard]] std::chrono::nanoseconds monotonic() const override;
  [[nodiscard]] std::uint64_t boot_id() const override { return boot_id_; }

 private:
  std::uint64_t boot_id_;
};

}  // namespace tarry::timing
