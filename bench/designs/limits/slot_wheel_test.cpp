#include "designs/limits/slot_wheel.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace tarry::bench {
namespace {

// Delays of every length, up to twice the span of the wheel, beside a map.
TEST(SlotWheel, HandsOutWhatIsDueAndNothingEarlier) {
  std::mt19937_64 random(1);
  // Soon the slot of every level changes.
  std::int64_t now = (std::int64_t{418} << 32) - 3'000'000;
  SlotWheel wheel(now);
  std::map<SlotWheel::Handle, std::int64_t> waiting;
  for (int i = 0; i < 2'000; ++i) {
    const auto delay = static_cast<std::int64_t>(random() >> (31 + random() % 33));
    const SlotWheel::Handle handle = wheel.make();
    wheel.insert(handle, now + delay);
    waiting[handle] = now + delay;
  }
  for (int step = 0; step < 200; ++step) {
    const std::int64_t by = std::int64_t{1} << (random() % 20);
    now += by;
    wheel.advance_to(now);
    for (auto handle = wheel.take(); handle != SlotWheel::kNone; handle = wheel.take()) {
      ASSERT_TRUE(waiting.contains(handle));
      EXPECT_LE(waiting[handle], now);
      waiting.erase(handle);
    }
    for (const auto& [handle, due] : waiting) ASSERT_GT(due, now) << "step " << step;
    if (waiting.empty()) break;
    if (step % 3 != 0) continue;
    wheel.remove(waiting.begin()->first);  // a cancelled one is not handed out
    waiting.erase(waiting.begin());
  }
}

TEST(SlotWheel, HandsOutInTheOrderOfDueTimes) {
  SlotWheel wheel(1'000);
  const auto late = wheel.make();
  const auto early = wheel.make();
  const auto past = wheel.make();
  wheel.insert(late, 1'400);
  wheel.insert(early, 1'200);
  wheel.insert(past, 900);
  EXPECT_EQ(wheel.take(), past);
  EXPECT_EQ(wheel.take(), SlotWheel::kNone);
  wheel.advance_to(1'199);
  EXPECT_EQ(wheel.take(), SlotWheel::kNone);
  wheel.advance_to(2'000);
  EXPECT_EQ(wheel.take(), early);
  EXPECT_EQ(wheel.take(), late);
  EXPECT_EQ(wheel.take(), SlotWheel::kNone);
}

}  // namespace
}  // namespace tarry::bench
