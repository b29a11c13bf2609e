#include "engines/redis/node/alarms.h"

#include <vector>

#include <gtest/gtest.h>

#include "timing/manual_clock.h"

namespace tarry::redis {
namespace {

TEST(Alarms, RunInTheOrderOfTheirTimesWhenTheClockHasComeThere) {
  boost::asio::io_context io;
  timing::ManualClock clock;
  Alarms alarms(io, &clock);
  std::vector<int> ran;
  alarms.set(20, [&] { ran.push_back(20); });
  alarms.set(10, [&] { ran.push_back(10); });
  const Alarms::Id never = alarms.set(15, [&] { ran.push_back(15); });
  alarms.cancel(never);
  alarms.cancel(never);
  alarms.cancel(0);
  alarms.moved();
  EXPECT_TRUE(ran.empty());
  clock.advance(9);
  alarms.moved();
  EXPECT_TRUE(ran.empty());
  clock.advance(11);
  alarms.moved();
  EXPECT_EQ(ran, (std::vector{10, 20}));
}

TEST(Alarms, OneThatSetsAnotherForNowDoesNotKeepTheOthersWaiting) {
  boost::asio::io_context io;
  timing::ManualClock clock;
  Alarms alarms(io, &clock);
  int again = 0;
  bool other = false;
  std::function<void()> call = [&] {
    ++again;
    alarms.set(0, call);
  };
  alarms.set(0, call);
  alarms.set(0, [&] { other = true; });
  alarms.moved();
  EXPECT_EQ(again, 1);
  EXPECT_TRUE(other);
  alarms.close();
  alarms.moved();
  EXPECT_EQ(again, 1);
}

TEST(Alarms, GoByTheSteadyClockWithoutAnother) {
  // On a busy machine a millisecond may pass between two calls of `set`. Then the alarms are not in
  // this order, and others are set.
  for (int tries = 0; tries < 1'000; ++tries) {
    boost::asio::io_context io;
    Alarms alarms(io, nullptr);
    std::vector<int> ran;
    const std::int64_t before = alarms.now_us();
    alarms.set(3, [&] { ran.push_back(3); });
    alarms.set(1, [&] {
      ran.push_back(1);
      EXPECT_GE(alarms.now_us(), before + 1'000);
    });
    alarms.set(0, [&] { ran.push_back(0); });
    const bool set_at_once = alarms.now_us() < before + 1'000;
    io.run();
    if (!set_at_once) continue;
    EXPECT_EQ(ran, (std::vector{0, 1, 3}));
    return;
  }
  FAIL() << "three alarms were never set within a millisecond";
}

}  // namespace
}  // namespace tarry::redis
