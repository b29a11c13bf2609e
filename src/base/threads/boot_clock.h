// BootClock: a clock for std::chrono that measures how much time really passes on this machine. It
// never steps, and goes on while the machine sleeps. Leases are measured by it.
//
// Thread safety: any thread.
#pragma once

#include <chrono>
#include <ctime>

namespace tarry::base {

struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept {
    timespec time{};
    // Cannot fail: Linux has had this clock since 2.6.39.
    static_cast<void>(::clock_gettime(CLOCK_BOOTTIME, &time));
    return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  }
};

}  // namespace tarry::base
