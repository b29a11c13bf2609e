#include "timing/real_clock.h"

#include <gtest/gtest.h>

#include <chrono>

#include <time.h>

namespace tarry::timing {
namespace {

// The tested reading lies between two readings of the same clock, so a stall of the machine cannot
// break the test. The upper bound is also cut to ms: a time rounded up would exceed it.
TEST(RealClock, TellsTheMachinesTimeRoundedDown) {
  const RealClock clock;
  const auto read = [](clockid_t which) {
    timespec time{};
    EXPECT_EQ(clock_gettime(which, &time), 0);
    return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
  };
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t boot_before = read(CLOCK_BOOTTIME);
    const Instant now = clock.now();
    EXPECT_LE(boot_before, now.boottime_ms);
    EXPECT_LE(now.boottime_ms, read(CLOCK_BOOTTIME));
  }
  // In 2023: any machine that builds this has its clock set.
  EXPECT_GT(clock.now().realtime_ms, 1'672'531'200'000);
}

TEST(RealClock, KnowsThatTheBootIsTheSame) {
  const RealClock first;
  const RealClock second;
  EXPECT_EQ(first.boot_id(), second.boot_id());
  EXPECT_NE(first.boot_id(), 0U);
}

}  // namespace
}  // namespace tarry::timing
