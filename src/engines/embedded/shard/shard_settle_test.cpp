// Settling messages that are not leased (any more), and cleaning without another request.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "storage/memory_storage.h"
#include "support/embedded/one_shard.h"
#include "support/embedded/requests.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

using test::OneShard;

class ShardSettle : public testing::Test {
 protected:
  std::size_t settled(const std::vector<std::string>& receipts, Outcome outcome) {
    const auto reply = one.ask(test::settle(receipts));
    std::size_t count = 0;
    for (const auto& item : std::get<core::ItemsReply>(*reply).items) {
      if (!item.error && item.outcome == outcome) ++count;
    }
    return count;
  }

  timing::ManualClock clock;
  storage::MemoryDisk disk;
  OneShard one{disk.root(), clock, {256 << 10, SyncPolicy::always, false}};
};

// The messages' slots are free, and now use the history field for the handles of other free slots.
TEST_F(ShardSettle, ReceiptsOfWhatHasGoneAreStale) {
  const std::vector<std::string> many(6'000, "");
  ASSERT_TRUE(one.ask(test::push("q", many, Due::after(std::chrono::hours(1)), "later")));
  ASSERT_TRUE(one.ask(test::push("q", std::vector<std::string>(300, ""), Due(), "now")));
  const auto reply = one.ask(test::claim("q", 200));
  const auto receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
  ASSERT_EQ(receipts.size(), 200u);
  EXPECT_EQ(settled(receipts, Outcome::done), 200u);
  EXPECT_EQ(settled(receipts, Outcome::stale), 200u);
}

// The reserve on a full disk depends on this count.
TEST_F(ShardSettle, ADelayThatNoFullRecordHoldsIsCounted) {
  const auto delayed = [this] { return one.state().unwritten_boot_dues(); };
  const Due at = Due::at(Time(Millis(clock.now().realtime_ms + 5'000)));
  ASSERT_TRUE(one.ask(test::push("q", "a", at)));
  ASSERT_TRUE(one.ask(test::push("q", "b", Due::after(std::chrono::hours(1)))));
  EXPECT_EQ(delayed(), 0u);
  ASSERT_TRUE(one.ask(test::reschedule("q", "a", Due::after(std::chrono::hours(2)))));
  ASSERT_TRUE(one.ask(test::reschedule("q", "b", Due::after(std::chrono::hours(2)))));
  EXPECT_EQ(delayed(), 1u) << "b's holds one already";
  ASSERT_TRUE(one.ask(test::reschedule("q", "a", at)));
  EXPECT_EQ(delayed(), 0u);
  ASSERT_TRUE(one.ask(test::reschedule("q", "a", Due::after(std::chrono::hours(1)))));
  EXPECT_EQ(delayed(), 1u);
  ASSERT_TRUE(one.ask(test::cancel("q", "a")));
  EXPECT_EQ(delayed(), 0u);
}

// The copy of a remembered message has neither delay nor reason, so no room is reserved for them.
TEST_F(ShardSettle, WhatIsRememberedOfACancelHasNoDelayAndNoReason) {
  core::ConfigureRequest remember;
  remember.queue = "q";
  remember.patch.remember = Millis(60'000);
  ASSERT_TRUE(one.ask(remember));
  ASSERT_TRUE(one.ask(test::push("q", "dead")));
  const auto claimed = one.ask(test::claim("q"));
  const auto receipts = test::receipts_of(std::get<core::ClaimReply>(*claimed));
  ASSERT_TRUE(one.ask(test::settle(receipts, core::SettleAction::bury, "why it died")));
  ASSERT_TRUE(
      one.ask(test::push("q", "later", Due::at(Time(Millis(clock.now().realtime_ms + 9))))));
  ASSERT_TRUE(one.ask(test::reschedule("q", "later", Due::after(std::chrono::hours(1)))));
  EXPECT_GT(one.state().live.total_unwritten(), 0u);
  EXPECT_EQ(one.state().unwritten_boot_dues(), 1u);
  for (const char* key : {"dead", "later"}) ASSERT_TRUE(one.ask(test::cancel("q", key)));
  EXPECT_EQ(one.state().queue(one.state().queues.find("q")).in(Stage::remembered), 2u);
  EXPECT_EQ(one.state().live.total_unwritten(), 0u);
  EXPECT_EQ(one.state().unwritten_boot_dues(), 0u);
  EXPECT_EQ(settled(receipts, Outcome::stale), 1u);
  clock.advance(60'000);
  one.settle();
  EXPECT_EQ(one.state().queue(one.state().queues.find("q")).messages(), 0u);
}

TEST_F(ShardSettle, AnIdleShardCleansWhatItLeftAlone) {
  const std::string payload(1'000, 'x');
  ASSERT_TRUE(one.ask(test::push("q", "stays", Due::after(std::chrono::hours(1)))));
  while (one.journal().closed().empty()) {
    ASSERT_TRUE(one.ask(test::push("q", std::vector<std::string>(20, ""), Due(), payload)));
    const auto reply = one.ask(test::claim("q", 20));
    const auto receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
    EXPECT_EQ(settled(receipts, Outcome::done), 20u);
  }
  one.settle();
  ASSERT_EQ(one.journal().closed().size(), 1u);
  EXPECT_EQ(one.shard().next_boottime_ms(), clock.now().boottime_ms + 1'000);
  clock.advance(1'000);
  one.settle();
  EXPECT_TRUE(one.journal().closed().empty());
  EXPECT_EQ(one.shard().next_boottime_ms(), std::nullopt);
}

}  // namespace
}  // namespace tarry::embedded
