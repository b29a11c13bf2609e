#include "engines/embedded/state/clock_eras.h"

#include <gtest/gtest.h>

namespace tarry::embedded {
namespace {

constexpr timing::Instant at(std::int64_t realtime_ms, std::int64_t boottime_ms) {
  return {realtime_ms, boottime_ms};
}

TEST(ClockEras, TheFirstReadingIsNoStep) {
  ClockEras eras;
  EXPECT_FALSE(eras.observe(at(1'000'000, 5'000)));
  EXPECT_NE(eras.current(), 0);
}

TEST(ClockEras, RunningTogetherIsOneEra) {
  ClockEras eras;
  eras.observe(at(1'000'000, 5'000));
  const auto era = eras.current();
  EXPECT_FALSE(eras.observe(at(9'000'000, 8'005'000)));
  EXPECT_FALSE(eras.observe(at(9'000'000 + 20, 8'005'000))) << "read one after the other";
  EXPECT_EQ(eras.current(), era);
}

TEST(ClockEras, AStepBeginsAnEraAndSaysHowFar) {
  ClockEras eras;
  eras.observe(at(1'000'000, 5'000));
  const auto before = eras.current();
  EXPECT_TRUE(eras.observe(at(1'000'000 + 3'600'000, 5'000)));
  EXPECT_EQ(eras.last_step_ms(), 3'600'000);
  EXPECT_NE(eras.current(), before);
  EXPECT_TRUE(eras.observe(at(1'000'000, 5'000)));
  EXPECT_EQ(eras.last_step_ms(), -3'600'000);
  EXPECT_EQ(eras.current(), before) << "the old era goes on";
}

// Each step is too small to be reported, but together they are reported.
TEST(ClockEras, DriftAddsUpToAStep) {
  ClockEras eras;
  eras.observe(at(1'000'000, 0));
  EXPECT_FALSE(eras.observe(at(1'000'600, 0)));
  EXPECT_TRUE(eras.observe(at(1'001'200, 0)));
}

TEST(ClockEras, BootDueFollowsTheErasOffset) {
  ClockEras eras;
  eras.observe(at(1'000'000, 5'000));
  const auto era = eras.current();
  eras.observe(at(5'000'000, 6'000));
  EXPECT_EQ(eras.boot_due_ms(era, 1'010'000), 15'000);
  EXPECT_EQ(eras.boot_due_ms(eras.current(), 5'010'000), 16'000);
}

TEST(ClockEras, ARecordedPairFindsItsEraExactly) {
  ClockEras eras;
  eras.observe(at(1'000'000, 5'000));
  const auto era = eras.join(2'000'000, 1'005'000);  // the same offset
  EXPECT_EQ(era, eras.current());
  const auto other = eras.join(2'000'001, 1'005'000);
  EXPECT_NE(other, era);
  EXPECT_EQ(eras.boot_due_ms(other, 2'000'001), 1'005'000);
}

TEST(ClockEras, ASmallStepIsNotToldButBeginsAnEra) {
  ClockEras eras;
  eras.observe(at(1'000'000, 0));
  const auto before = eras.current();
  EXPECT_FALSE(eras.observe(at(1'000'020, 0)));
  EXPECT_EQ(eras.current(), before) << "what reading two clocks may differ by";
  EXPECT_FALSE(eras.observe(at(1'000'021, 0)));
  EXPECT_NE(eras.current(), before);
  EXPECT_FALSE(eras.observe(at(1'000'000, 0)));
  EXPECT_EQ(eras.current(), before);
}

TEST(ClockEras, OnlyErasThatAreCountedByAreKept) {
  ClockEras eras;
  eras.observe(at(1'000'000, 0));
  const auto kept = eras.join(1'000'500, 500);
  for (std::int64_t i = 1; i < 2'000; ++i) {
    eras.observe(at(1'000'000 + i * 10'000, 0));
    EXPECT_NE(eras.current(), 0);
    EXPECT_NE(eras.current(), kept);
    EXPECT_EQ(eras.boot_due_ms(eras.current(), 1'000'500 + i * 10'000), 500);
  }
  EXPECT_EQ(eras.boot_due_ms(kept, 1'000'500), 500);
  eras.leave(kept);
  std::uint32_t times = 0;
  for (std::int64_t i = 2'000; i < 4'000; ++i) {
    eras.observe(at(1'000'000 + i * 10'000, 0));
    times += eras.current() == kept ? 1 : 0;
  }
  EXPECT_GT(times, 0u) << "it is nobody's any more";
}

TEST(ClockEras, WhenAllAreCountedByThePromiseIsDroppedNotBroken) {
  ClockEras eras;
  for (std::int64_t i = 0; i < 255; ++i) {
    eras.observe(at(1'000'000 + i * 10'000, 0));
    EXPECT_NE(eras.join(1'000'500 + i * 10'000, 500), 0);
  }
  EXPECT_TRUE(eras.observe(at(90'000'000, 0)));
  EXPECT_EQ(eras.current(), 0);
  EXPECT_FALSE(eras.observe(at(90'000'500, 500))) << "one step is told once";
  EXPECT_EQ(eras.join(90'000'000, 3), 0);
  EXPECT_TRUE(eras.observe(at(1'000'000, 0)));
  EXPECT_NE(eras.current(), 0) << "a known era is found again";
}

}  // namespace
}  // namespace tarry::embedded
