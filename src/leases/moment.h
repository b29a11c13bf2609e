// Moment: the time by which leases of claims are measured. Its clock never steps, and it goes on
// while the machine sleeps.
//
// Thread safety: any thread.
#pragma once

#include <chrono>

#include "base/threads/boot_clock.h"

namespace tarry::leases {

/// Since the machine was started.
using Moment = std::chrono::milliseconds;

[[nodiscard]] inline Moment moment_of(base::BootClock::time_point time) noexcept {
  return std::chrono::floor<Moment>(time.time_since_epoch());
}
[[nodiscard]] inline Moment moment_now() noexcept { return moment_of(base::BootClock::now()); }

}  // namespace tarry::leases
