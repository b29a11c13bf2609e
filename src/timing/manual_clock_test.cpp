#include "timing/manual_clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace tarry::timing {
namespace {

constexpr Instant kHere{1'000'000, 5'000};

TEST(ManualClock, StandsStillUntilItIsMoved) {
  ManualClock clock(kHere, 7);
  EXPECT_EQ(clock.now(), kHere);
  EXPECT_EQ(clock.now(), kHere);
  EXPECT_EQ(clock.boot_id(), 7U);
  EXPECT_EQ(ManualClock().now(), ManualClock::kStart);
}

TEST(ManualClock, MovesTheClocksThatAMoveConcerns) {
  ManualClock clock(kHere, 7);
  clock.advance(10);
  EXPECT_EQ(clock.now(), (Instant{1'000'010, 5'010}));
  clock.step_realtime(-500);
  EXPECT_EQ(clock.now(), (Instant{999'510, 5'010}));
  clock.step_realtime(1000);
  EXPECT_EQ(clock.now(), (Instant{1'000'510, 5'010}));
  clock.suspend(90);
  EXPECT_EQ(clock.now(), (Instant{1'000'600, 5'100}));
  clock.set({3, 6'000});
  EXPECT_EQ(clock.now(), (Instant{3, 6'000}));
  clock.new_boot(8, 20);
  EXPECT_EQ(clock.now(), (Instant{3, 20}));
  EXPECT_EQ(clock.boot_id(), 8U);
}

TEST(ManualClock, TellsListenersAfterEveryMove) {
  ManualClock clock(kHere);
  std::vector<Instant> seen;
  const auto token = clock.subscribe([&] { seen.push_back(clock.now()); });  // now() from inside
  clock.advance(1);
  clock.step_realtime(-1);
  clock.suspend(2);
  clock.set({5, 6'000});
  clock.new_boot(9);
  EXPECT_EQ(seen,
            (std::vector<Instant>{
                {1'000'001, 5'001}, {1'000'000, 5'001}, {1'000'002, 5'003}, {5, 6'000}, {5, 0}}));
  clock.unsubscribe(token);
  clock.advance(1);
  EXPECT_EQ(seen.size(), 5U);
  clock.unsubscribe(token);  // once more is harmless
  clock.unsubscribe(12'345);
}

TEST(ManualClock, ListenersMayUseTheClock) {
  ManualClock clock(kHere);
  int outer = 0;
  int inner = 0;
  ManualClock::Token second = 0;
  ManualClock::Token first = 0;
  first = clock.subscribe([&] {
    if (++outer == 1) {
      second = clock.subscribe([&] { ++inner; });
      clock.advance(1);  // calls this listener once more, and the new one
    } else {
      clock.unsubscribe(first);
    }
  });
  clock.advance(1);
  EXPECT_EQ(outer, 2);
  EXPECT_EQ(inner, 1);
  clock.advance(1);
  EXPECT_EQ(outer, 2);
  EXPECT_EQ(inner, 2);
  clock.unsubscribe(second);
}

TEST(ManualClock, AListenerEndedByAnotherInTheSameMoveDoesNotRun) {
  ManualClock clock(kHere);
  ManualClock::Token second = 0;
  int calls = 0;
  const auto first = clock.subscribe([&] { clock.unsubscribe(second); });
  second = clock.subscribe([&] { ++calls; });
  clock.advance(1);
  EXPECT_EQ(calls, 0);
  clock.unsubscribe(first);
}

TEST(ManualClock, UnsubscribeWaitsForTheCallInProgress) {
  ManualClock clock(kHere);
  std::promise<void> entered;
  std::promise<void> leave;
  auto may_leave = leave.get_future();
  std::atomic<bool> left = false;
  const auto token = clock.subscribe([&] {
    entered.set_value();
    may_leave.wait();
    // Long enough that the check below catches an `unsubscribe` which does not wait.
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    left = true;
  });
  std::thread mover([&] { clock.advance(1); });
  entered.get_future().wait();
  leave.set_value();
  clock.unsubscribe(token);
  EXPECT_TRUE(left);
  mover.join();
}

TEST(ManualClock, UnsubscribeEndsWhatTheListenerOwns) {
  ManualClock clock(kHere);
  auto owned = std::make_shared<int>(1);
  const auto token = clock.subscribe([owned] { ++*owned; });
  clock.advance(1);
  EXPECT_EQ(*owned, 2);
  EXPECT_EQ(owned.use_count(), 2);
  clock.unsubscribe(token);
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(ManualClock, ManyThreadsMoveReadAndSubscribe) {
  ManualClock clock({0, 0});
  std::atomic<int> calls = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) {
        auto alive = std::make_unique<int>(0);  // a call after unsubscribe would touch freed memory
        const auto token = clock.subscribe([&calls, p = alive.get()] {
          static_cast<void>(*static_cast<volatile int*>(p));
          ++calls;
        });
        clock.advance(1);
        const Instant now = clock.now();
        EXPECT_EQ(now.realtime_ms, now.boottime_ms);
        clock.unsubscribe(token);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(clock.now(), (Instant{1000, 1000}));
  EXPECT_GE(calls, 1000);
}

TEST(ManualClockDeathTest, BoottimeNeverGoesBackWithinABoot) {
  ManualClock clock(kHere);
  EXPECT_DEATH(clock.set({0, 4'999}), "broken invariant");
  EXPECT_DEATH(clock.advance(-1), "broken invariant");
}

}  // namespace
}  // namespace tarry::timing
