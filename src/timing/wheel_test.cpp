#include "timing/wheel.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "timing/test_wheel.h"

namespace tarry::timing {
namespace {

using test::Handle;
using test::Node;
using test::Slab;

using TestWheel = Wheel<Slab>;

constexpr std::int64_t kUtc = 1'795'168'800'000;  // 2026-11-20T10:00:00Z
constexpr std::int64_t kDay = 86'400'000;

class WheelTest : public testing::Test {
 protected:
  explicit WheelTest(std::int64_t now = kUtc) : wheel_(Slab{&nodes_}, now) {}

  Handle add(std::int64_t deadline) {
    const auto handle = static_cast<Handle>(nodes_.size());
    nodes_.push_back({TestWheel::kNone, TestWheel::kNone, deadline});
    wheel_.insert(handle);
    wheel_.check();
    return handle;
  }

  void remove(Handle handle) {
    wheel_.remove(handle);
    wheel_.check();
  }

  std::vector<Handle> advance(std::int64_t to,
                              std::size_t limit = std::numeric_limits<std::size_t>::max()) {
    std::vector<Handle> out;
    const std::size_t count = wheel_.advance_to(
        to,
        [&](Handle handle) {
          EXPECT_LE(nodes_[handle].deadline, wheel_.now());
          EXPECT_LE(nodes_[handle].deadline, to);
          EXPECT_EQ(nodes_[handle].next, TestWheel::kNone);
          EXPECT_EQ(nodes_[handle].prev, TestWheel::kNone);
          out.push_back(handle);
        },
        limit);
    EXPECT_EQ(count, out.size());
    wheel_.check();
    return out;
  }

  std::vector<Node> nodes_;
  TestWheel wheel_;
};

using Handles = std::vector<Handle>;

TEST_F(WheelTest, IsEmptyAtFirst) {
  EXPECT_EQ(wheel_.size(), 0U);
  EXPECT_EQ(wheel_.next_due(), std::nullopt);
  EXPECT_EQ(wheel_.now(), kUtc);
  EXPECT_EQ(advance(kUtc + 1000 * kDay), Handles{});
  EXPECT_EQ(wheel_.now(), kUtc + 1000 * kDay);
}

TEST_F(WheelTest, NothingComesOneTickEarly) {
  // Distances on both sides of each level's border, seen from the start of a level-5 slot.
  const std::int64_t base = kUtc >> 30 << 30;
  std::vector<std::int64_t> distances;
  for (int level = 0; level < 6; ++level) {
    const std::int64_t width = std::int64_t{1} << (6 * level);
    for (const std::int64_t distance : {width - 1, width, width + 1, 63 * width, 64 * width - 1}) {
      if (distance > 0) distances.push_back(distance);
    }
  }
  for (const std::int64_t from : {base, base - 1, base + 1, kUtc}) {
    for (const std::int64_t distance : distances) {
      nodes_ = {{0, 0, from + distance}};
      TestWheel wheel(Slab{&nodes_}, from);
      wheel.insert(0);
      wheel.check();
      int calls = 0;
      EXPECT_EQ(wheel.advance_to(from + distance - 1, [&](Handle) { ++calls; }), 0U) << distance;
      wheel.check();
      EXPECT_EQ(wheel.advance_to(from + distance, [&](Handle) { ++calls; }), 1U) << distance;
      EXPECT_EQ(calls, 1);
    }
  }
}

TEST_F(WheelTest, WhatIsDueAlreadyComesNext) {
  const Handle past = add(kUtc - 5);
  const Handle now = add(kUtc);
  const Handle ancient = add(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(wheel_.size(), 3U);
  EXPECT_EQ(wheel_.next_due(), kUtc);
  EXPECT_EQ(advance(kUtc - 1), Handles{});  // an earlier time does nothing
  EXPECT_EQ(advance(kUtc), (Handles{past, now, ancient}));
  EXPECT_EQ(wheel_.next_due(), std::nullopt);
}

TEST_F(WheelTest, ComesByDeadlineAndThenByInsertion) {
  const Handle c = add(kUtc + 70'000);
  const Handle a1 = add(kUtc + 3);
  const Handle b = add(kUtc + 500);
  const Handle a2 = add(kUtc + 3);
  const Handle d = add(kUtc + 400 * kDay);
  const Handle a3 = add(kUtc + 3);
  EXPECT_EQ(advance(kUtc + 500 * kDay), (Handles{a1, a2, a3, b, c, d}));
  EXPECT_EQ(wheel_.size(), 0U);
}

TEST_F(WheelTest, EqualDeadlinesKeepTheirOrderFromDifferentLevels) {
  const std::int64_t deadline = kUtc + 10'000'000;
  Handles expected;
  // Each node is inserted nearer to the deadline than the one before, so into a lower level.
  for (const std::int64_t before : {10'000'000, 1'000'000, 100'000, 5'000, 100, 10, 1}) {
    EXPECT_EQ(advance(deadline - before), Handles{});
    expected.push_back(add(deadline));
  }
  EXPECT_EQ(advance(deadline), expected);
}

TEST_F(WheelTest, AdvancesAcrossManyLevelsAtOnce) {
  Handles expected;
  for (std::int64_t distance = 1; distance < 200 * 365 * kDay; distance *= 3) {
    expected.push_back(add(kUtc + distance));
  }
  EXPECT_EQ(advance(kUtc + 300 * 365 * kDay), expected);
  EXPECT_EQ(wheel_.now(), kUtc + 300 * 365 * kDay);
}

TEST_F(WheelTest, RemovesHeadMiddleTailAndLast) {
  Handles all;
  for (int i = 0; i < 6; ++i) all.push_back(add(kUtc + 1'000));
  remove(all[0]);  // head
  remove(all[2]);  // middle
  remove(all[5]);  // tail
  EXPECT_EQ(wheel_.size(), 3U);
  EXPECT_EQ(nodes_[all[2]].next, TestWheel::kNone);
  remove(all[1]);
  remove(all[4]);
  ASSERT_TRUE(wheel_.next_due().has_value());
  remove(all[3]);  // last
  EXPECT_EQ(wheel_.next_due(), std::nullopt);
  EXPECT_EQ(advance(kUtc + kDay), Handles{});

  wheel_.insert(all[2]);  // the slot can be used again
  nodes_[all[2]].deadline = kUtc + 1'000;
  EXPECT_EQ(advance(kUtc + 2 * kDay), Handles{all[2]});
}

TEST_F(WheelTest, RemovesWhatIsDueButNotGivenOut) {
  const Handle first = add(kUtc - 1);
  const Handle second = add(kUtc - 1);
  remove(first);
  EXPECT_EQ(wheel_.next_due(), kUtc);
  EXPECT_EQ(advance(kUtc), Handles{second});
  const Handle third = add(kUtc);
  remove(third);
  EXPECT_EQ(wheel_.next_due(), std::nullopt);
}

TEST_F(WheelTest, NextDueIsExactWithinTheCurrent64Ticks) {
  const std::int64_t base = kUtc >> 6 << 6;
  advance(base + 64);
  for (const std::int64_t tick : {63, 40, 7, 1}) {
    add(base + 64 + tick);
    EXPECT_EQ(wheel_.next_due(), base + 64 + tick);
  }
}

TEST_F(WheelTest, NextDueWakesEarlyAtMostOnceALevel) {
  for (std::int64_t distance = 1; distance < 250 * 365 * kDay; distance = distance * 5 + 3) {
    const Handle handle = add(wheel_.now() + distance);
    const std::int64_t deadline = nodes_[handle].deadline;
    int wakes = 0;
    while (true) {
      const auto next = wheel_.next_due();
      ASSERT_TRUE(next.has_value());
      ASSERT_LE(*next, deadline);
      ASSERT_GT(*next, wheel_.now());
      if (advance(*next) == Handles{handle}) break;
      ++wakes;
    }
    EXPECT_EQ(wheel_.now(), deadline);
    EXPECT_LT(wakes, TestWheel::kLevels);
  }
}

TEST_F(WheelTest, SlicesStopAndGoOn) {
  // All nodes are in one slot of level 2, so a cascade of 100 comes before the first is given out.
  const std::int64_t start = (kUtc >> 12 << 12) + 3 * 4096;
  Handles expected;
  for (int i = 0; i < 100; ++i) expected.push_back(add(start + i / 10));
  EXPECT_EQ(advance(start + 50, 30), Handles{});
  EXPECT_EQ(wheel_.now(), start);
  EXPECT_EQ(wheel_.next_due(), start);  // work is left
  EXPECT_EQ(advance(start + 50, 30), Handles{});
  // Between two slices, remove a node that waits for its cascade and one that was placed already,
  // and add a node with the deadline of some of both kinds.
  remove(expected[95]);
  remove(expected[5]);
  expected.erase(expected.begin() + 95);
  expected.erase(expected.begin() + 5);
  const Handle late = add(start + 5);
  expected.insert(expected.begin() + 59, late);  // 59 nodes are left with deadlines up to start + 5
  const Handle due = add(start);
  expected.insert(expected.begin() + 9, due);
  const Handle beyond = add(start + 4096);

  Handles out;
  int slices = 0;
  while (*wheel_.next_due() <= start + 50) {
    const Handles slice = advance(start + 50, 7);
    EXPECT_LE(slice.size(), 7U);
    out.insert(out.end(), slice.begin(), slice.end());
    ASSERT_LT(++slices, 30);
  }
  EXPECT_EQ(out, expected);
  EXPECT_EQ(wheel_.size(), 1U);
  EXPECT_EQ(advance(start + 50, 0), Handles{});
  EXPECT_EQ(wheel_.now(), start + 50);
  EXPECT_EQ(advance(start + 4096), Handles{beyond});
}

TEST_F(WheelTest, ALimitOfOneGetsThere) {
  Handles expected;
  for (std::int64_t i = 0; i < 50; ++i) expected.push_back(add(kUtc + i * i * 1000));
  Handles out;
  std::size_t units = 0;
  while (wheel_.size() > 0) {
    const Handles slice = advance(kUtc + kDay, 1);
    ASSERT_LE(slice.size(), 1U);
    out.insert(out.end(), slice.begin(), slice.end());
    ASSERT_LE(++units, 50U * TestWheel::kLevels);
  }
  EXPECT_EQ(out, expected);
}

TEST_F(WheelTest, RemovingTheRestOfACascadeEndsIt) {
  const std::int64_t start = (kUtc >> 12 << 12) + 4096;
  const Handle a = add(start + 10);
  const Handle b = add(start + 10);
  EXPECT_EQ(advance(start, 1), Handles{});
  remove(b);  // still to be placed
  EXPECT_EQ(wheel_.next_due(), start + 10);
  const Handle c = add(start + 10);
  const Handle d = add(start + 9);
  EXPECT_EQ(advance(start + 10), (Handles{d, a, c}));
}

TEST_F(WheelTest, CallbacksInsertAndRemove) {
  const Handle first = add(kUtc + 10);
  const Handle second = add(kUtc + 10);
  const Handle same_tick = add(kUtc + 10);
  const Handle later = add(kUtc + 5'000);
  const Handle far = add(kUtc + kDay);
  Handle due = 0;
  Handle overdue = 0;
  Handle next_tick = 0;
  Handle next_level = 0;
  Handle beyond = 0;
  Handles out;
  wheel_.advance_to(kUtc + kDay, [&](Handle handle) {
    out.push_back(handle);
    if (handle != first || out.size() > 1) return;
    EXPECT_EQ(wheel_.now(), kUtc + 10);
    EXPECT_EQ(wheel_.next_due(), kUtc + 10);
    EXPECT_EQ(wheel_.size(), 4U);
    remove(same_tick);
    remove(later);
    due = add(kUtc + 10);
    overdue = add(kUtc + 1);
    next_tick = add(kUtc + 11);
    next_level = add(kUtc + 700);
    beyond = add(kUtc + 2 * kDay);
    nodes_[first].deadline = kUtc + 12;
    wheel_.insert(first);  // the node that is being given out
  });
  wheel_.check();
  EXPECT_EQ(out, (Handles{first, second, due, overdue, next_tick, first, next_level, far}));
  EXPECT_EQ(advance(kUtc + 2 * kDay), Handles{beyond});
}

TEST_F(WheelTest, RebaseBringsTheFutureBack) {
  advance(kUtc + 10'000);
  const Handle due = add(kUtc - 5);
  const Handle due_then = add(kUtc + 9'000);
  const Handle soon = add(kUtc + 10'001);
  const Handle far = add(kUtc + 40 * kDay);
  wheel_.rebase(kUtc + 20'000);  // rebase never moves forward
  EXPECT_EQ(wheel_.now(), kUtc + 10'000);
  wheel_.rebase(kUtc);
  wheel_.check();
  EXPECT_EQ(wheel_.now(), kUtc);
  EXPECT_EQ(wheel_.size(), 4U);
  EXPECT_EQ(wheel_.next_due(), kUtc);  // to be placed again
  EXPECT_EQ(advance(kUtc), Handles{due});
  EXPECT_GT(wheel_.next_due(), kUtc);
  EXPECT_EQ(advance(kUtc + 8'999), Handles{});
  EXPECT_EQ(advance(kUtc + 9'000), Handles{due_then});
  EXPECT_EQ(advance(kUtc + 10'000), Handles{});
  EXPECT_EQ(advance(kUtc + 10'001), Handles{soon});
  EXPECT_EQ(advance(kUtc + 40 * kDay), Handles{far});
}

TEST_F(WheelTest, RebaseIsDoneInSlicesThatKeepTheOrder) {
  Handles expected;
  for (int i = 0; i < 40; ++i) expected.push_back(add(kUtc + 1'000'000 + i / 20));
  wheel_.rebase(kUtc - 500 * kDay);
  EXPECT_EQ(advance(kUtc - 500 * kDay, 15), Handles{});
  EXPECT_EQ(wheel_.next_due(), kUtc - 500 * kDay);
  const Handle between = add(kUtc + 1'000'000);
  expected.insert(expected.begin() + 20, between);
  remove(expected[30]);
  expected.erase(expected.begin() + 30);
  const Handle early = add(kUtc - 600 * kDay);
  wheel_.rebase(kUtc - 501 * kDay);  // a second step back before the first was worked off
  wheel_.check();
  EXPECT_EQ(advance(kUtc - 501 * kDay, 15), Handles{});
  EXPECT_EQ(advance(kUtc - 501 * kDay), Handles{early});
  EXPECT_EQ(advance(kUtc + 999'999), Handles{});
  EXPECT_EQ(advance(kUtc + 2'000'000), expected);
}

TEST_F(WheelTest, RebasingAnEmptyWheelLeavesNoWork) {
  wheel_.rebase(0);
  wheel_.check();
  EXPECT_EQ(wheel_.next_due(), std::nullopt);
  const Handle handle = add(1);
  EXPECT_EQ(wheel_.next_due(), 1);
  EXPECT_EQ(advance(1), Handles{handle});
}

TEST_F(WheelTest, ItsTimeEndsBeforeTheHorizonAndNothingBeyondItIsLost) {
  const Handle before = add(TestWheel::kHorizon - 1);
  const Handle at = add(TestWheel::kHorizon);
  const Handle never = add(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(advance(TestWheel::kHorizon - 2), Handles{});
  EXPECT_EQ(advance(std::numeric_limits<std::int64_t>::max()), Handles{before});
  EXPECT_EQ(wheel_.now(), TestWheel::kHorizon - 1);
  EXPECT_EQ(advance(std::numeric_limits<std::int64_t>::max()), Handles{});
  EXPECT_EQ(wheel_.size(), 2U);
  wheel_.rebase(kUtc);
  EXPECT_EQ(advance(kUtc), Handles{});
  remove(at);
  remove(never);
  EXPECT_EQ(wheel_.next_due(), std::nullopt);
}

TEST_F(WheelTest, TheLastSlotsCascadeHoldsWhatLiesBeyondTheHorizon) {
  // The last slot of each level shares its list with every later deadline.
  const Handle beyond = add(TestWheel::kHorizon + 1);
  const Handle never = add(std::numeric_limits<std::int64_t>::max());
  const Handle last = add(TestWheel::kHorizon - 1);
  Handles out;
  for (int slices = 0; wheel_.size() > 2; ++slices) {
    ASSERT_LT(slices, 40);
    const Handles slice = advance(TestWheel::kHorizon - 1, 1);
    out.insert(out.end(), slice.begin(), slice.end());
    remove(add(TestWheel::kHorizon + 2));
  }
  EXPECT_EQ(out, Handles{last});
  remove(beyond);
  remove(never);
}

TEST_F(WheelTest, StartsAnywhere) {
  for (const std::int64_t start :
       {std::int64_t{0}, std::int64_t{63}, std::int64_t{64}, (std::int64_t{1} << 42) - 1,
        TestWheel::kHorizon - 2, std::numeric_limits<std::int64_t>::max()}) {
    nodes_ = {{0, 0, start}, {0, 0, 0}};
    TestWheel wheel(Slab{&nodes_}, start);
    wheel.insert(1);
    wheel.check();
    EXPECT_EQ(wheel.advance_to(start, [](Handle) {}), 1U);
  }
}

TEST_F(WheelTest, LivesWithNodesHeldByReference) {
  struct Owner : Slab {};
  nodes_ = {{0, 0, 5}};
  Owner owner{{&nodes_}};
  Wheel<Owner&> wheel(owner, 0);
  wheel.insert(0);
  EXPECT_EQ(wheel.advance_to(5, [](Handle) {}), 1U);
}

using WheelDeathTest = WheelTest;

TEST_F(WheelDeathTest, MisuseAborts) {
  const Handle handle = add(kUtc + 100);
  add(kUtc + 100);
  EXPECT_DEATH(wheel_.insert(0x8000'0000), "broken invariant");
  EXPECT_DEATH(wheel_.rebase(-1), "broken invariant");
  EXPECT_DEATH(TestWheel(Slab{&nodes_}, -1), "broken invariant");
  EXPECT_DEATH(wheel_.advance_to(kUtc + 100, [&](Handle) { wheel_.rebase(0); }),
               "broken invariant");
  EXPECT_DEATH(
      wheel_.advance_to(kUtc + 100, [&](Handle) { wheel_.advance_to(kUtc + 200, [](Handle) {}); }),
      "broken invariant");
  wheel_.remove(handle);
  EXPECT_DEATH(wheel_.remove(handle), "broken invariant");
}

TEST_F(WheelDeathTest, CheckSeesWhatIsBroken) {
  const Handle first = add(kUtc + 100);
  const Handle second = add(kUtc + 100);
  nodes_[first].deadline += 1'000'000;  // changed while in the wheel
  EXPECT_DEATH(wheel_.check(), "broken invariant");
  nodes_[first].deadline -= 1'000'000;
  wheel_.check();
  std::swap(nodes_[first].prev, nodes_[second].prev);
  EXPECT_DEATH(wheel_.check(), "broken invariant");
}

}  // namespace
}  // namespace tarry::timing
