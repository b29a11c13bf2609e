// The wall clock, and time spans measured by it. Only the benchmarks use it: the measured stores
// get no other time than they would with a user.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

namespace tarry::bench {

inline constexpr std::int64_t kHourMs = 3'600'000;
inline constexpr std::int64_t kMonthMs = 30 * 24 * kHourMs;

/// UTC.
[[nodiscard]] inline std::int64_t wall_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}
[[nodiscard]] inline std::int64_t now_ms() { return wall_us() / 1'000; }

/// The seconds since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Processor time of this process, with all its threads.
[[nodiscard]] inline double own_cpu_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) / 1e9;
}

}  // namespace tarry::bench
