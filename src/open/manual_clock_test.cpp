#include "timing/manual_clock.h"

#include <gtest/gtest.h>
#include <tarry/clock.h>

#include <chrono>

namespace tarry {
namespace {

using namespace std::chrono_literals;

TEST(PublicManualClock, StartsIn2020OrWhereItIsTold) {
  EXPECT_EQ(ManualClock().now(), Time(std::chrono::sys_days{std::chrono::year{2020} / 1 / 1}));
  EXPECT_EQ(ManualClock(Time(5s)).now(), Time(5s));
}

TEST(PublicManualClock, CopiesShareTheTime) {
  ManualClock clock(Time(0s));
  const ManualClock copy = clock;
  clock.advance(31 * 24h);
  EXPECT_EQ(copy.now(), Time(31 * 24h));
  EXPECT_EQ(ManualClock(clock.implementation()).now(), Time(31 * 24h));
}

TEST(PublicManualClock, AdvanceMovesBothClocksStepOnlyTheWall) {
  ManualClock clock(Time(10s));
  const timing::Instant start = clock.implementation()->now();
  clock.advance(3s);
  EXPECT_EQ(clock.implementation()->now(),
            (timing::Instant{start.realtime_ms + 3'000, start.boottime_ms + 3'000}));
  clock.step(-13s);
  EXPECT_EQ(clock.implementation()->now(), (timing::Instant{0, start.boottime_ms + 3'000}));
}

TEST(PublicManualClock, TimeEndsWithTheYear2200) {
  constexpr auto kCentury = 36'525 * 24h;
  const Time last(7'289'654'399'999ms);
  ManualClock clock;
  clock.advance(kCentury);
  const std::int64_t boottime = clock.implementation()->now().boottime_ms;
  const Millis left = last - clock.now();
  for (int i = 0; i < 100; ++i) clock.advance(kCentury);
  EXPECT_EQ(clock.now(), last);
  EXPECT_EQ(clock.implementation()->now().boottime_ms, boottime + left.count());
}

TEST(PublicManualClockDeathTest, ImpossibleMovesAbort) {
  ManualClock clock(Time(10s));
  EXPECT_DEATH(clock.advance(-1ms), "");
  EXPECT_DEATH(clock.advance(Millis::max()), "");
  EXPECT_DEATH(clock.step(-11s), "");
  EXPECT_DEATH(clock.step(Millis::max()), "");
  EXPECT_DEATH(ManualClock(Time(7'289'654'399'999ms)).step(1ms), "");
  EXPECT_DEATH(ManualClock(Time(-1ms)), "");
}

}  // namespace
}  // namespace tarry
