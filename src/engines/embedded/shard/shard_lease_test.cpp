// When a lease begins and ends. It begins when its claim is durable, however late that is.
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

constexpr std::int64_t kLease = 30'000;

class ShardLease : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(one.ask(test::push("q", "k")));
    one.submit(test::claim("q"));
    one.turn();
    clock.advance(late_ms);
    while (one.commit()) {
    }
    one.settle();
  }
  const Message& message() { return one.state().slab[0]; }
  std::int64_t lease_left() {
    const auto reply = one.ask(test::get("q", "k"));
    return std::get<core::GetReply>(*reply).items.at(0)->lease_left->count();
  }

  const std::int64_t late_ms = GetParam();
  std::vector<std::string> receipts;
  timing::ManualClock clock;
  storage::MemoryDisk disk;
  OneShard one{disk.root(), clock, {64 << 10, SyncPolicy::always, false}};
};

TEST_P(ShardLease, BeginsWhenItsClaimIsDurable) {
  EXPECT_EQ(lease_left(), kLease);
  clock.advance(kLease - 1);
  one.settle();
  ASSERT_EQ(message().stage(), Stage::leased);
  EXPECT_EQ(lease_left(), 1);
  EXPECT_EQ(one.shard().next_boottime_ms(), clock.now().boottime_ms + 1);
  one.state().lease_wheel.check();
  clock.advance(1);
  one.settle();
  EXPECT_EQ(message().stage(), Stage::ready);
  EXPECT_EQ(one.state().lease_wheel.size(), 0u);
}

// A copy that cleaning makes holds the lease's real end, and so a restart finds it.
TEST_P(ShardLease, IsCarriedWhole) {
  EXPECT_EQ(one.state().carried(0).until_ms, clock.now().boottime_ms + kLease);
}

TEST_P(ShardLease, ExtendedItEndsSoMuchFromThen) {
  const auto claimed = one.ask(test::push("q", "other"));
  ASSERT_TRUE(claimed);
  one.submit(test::claim("q"), [&](const Result<core::Reply>& reply) {
    receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
  });
  one.turn();
  clock.advance(late_ms);
  while (one.commit()) {
  }
  one.settle();
  ASSERT_EQ(receipts.size(), 1u);
  ASSERT_TRUE(one.ask(test::extend(receipts[0], Millis(5'000))));
  EXPECT_EQ(one.state().carried(1).until_ms, clock.now().boottime_ms + 5'000);
  clock.advance(5'000);
  one.settle();
  EXPECT_EQ(one.state().slab[1].stage(), Stage::ready);
}

class ShardLeaseUncommitted : public testing::Test {
 protected:
  static constexpr std::int64_t kShort = 1000;

  void claim(std::vector<std::string>& receipts) {
    auto request = test::claim("q");
    request.lease = Millis(kShort);
    one.submit(request, [&receipts](const Result<core::Reply>& reply) {
      receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
    });
    one.turn();
  }
  void pass(std::int64_t ms) {
    clock.advance(ms);
    one.turn();
  }
  void commit_all() {
    while (one.commit()) {
    }
  }
  Stage stage() { return one.state().slab[0].stage(); }

  std::vector<std::string> first;
  std::vector<std::string> second;
  timing::ManualClock clock;
  storage::MemoryDisk disk;
  OneShard one{disk.root(), clock, {64 << 10, SyncPolicy::always, false}};
};

// The claim's sync hangs for longer than its lease, while the shard's turns continue.
TEST_F(ShardLeaseUncommitted, DoesNotRunOut) {
  ASSERT_TRUE(one.ask(test::push("q", "k")));
  claim(first);
  for (int i = 0; i < 200; ++i) {
    pass(kShort / 2 + 1);
    ASSERT_EQ(stage(), Stage::leased) << i;
    // The shard looks at the lease again at its earliest possible end, and not before.
    ASSERT_GT(one.shard().next_boottime_ms(), clock.now().boottime_ms) << i;
    one.state().lease_wheel.check();
  }
  claim(second);
  commit_all();
  EXPECT_EQ(first.size(), 1u);
  EXPECT_TRUE(second.empty()) << "one live lease a message";
  one.turn();
  const auto reply = one.ask(test::get("q", "k"));
  EXPECT_EQ(std::get<core::GetReply>(*reply).items.at(0)->lease_left->count(), kShort);
  const auto acked = one.ask(test::settle(first));
  EXPECT_EQ(std::get<core::ItemsReply>(*acked).items.front().outcome, Outcome::done);
}

TEST_F(ShardLeaseUncommitted, RunsOutAsLongAfterTheCommitAsItIsLong) {
  ASSERT_TRUE(one.ask(test::push("q", "k")));
  claim(first);
  pass(kShort + 1);
  clock.advance(300);
  commit_all();
  one.turn();
  pass(kShort - 1);
  ASSERT_EQ(stage(), Stage::leased);
  pass(1);
  EXPECT_EQ(stage(), Stage::ready);
  commit_all();
}

TEST_F(ShardLeaseUncommitted, KillsNobodyBeforeADelivery) {
  auto once = test::push("q", "k");
  once.items[0].max_attempts = 1;
  ASSERT_TRUE(one.ask(once));
  claim(first);
  pass(10 * kShort);
  EXPECT_EQ(stage(), Stage::leased);
  commit_all();
  ASSERT_EQ(first.size(), 1u);
}

// A later claim's commit is in progress when a durable claim's lease runs out.
TEST_F(ShardLeaseUncommitted, HoldsNoOther) {
  ASSERT_TRUE(one.ask(test::push("q", "k")));
  ASSERT_TRUE(one.ask(test::push("q", "other")));
  claim(first);
  commit_all();
  claim(second);
  pass(kShort);
  EXPECT_EQ(stage(), Stage::ready);
  EXPECT_EQ(one.state().slab[1].stage(), Stage::leased);
  commit_all();
}

// The last value does not fit into `History::late_ms`.
INSTANTIATE_TEST_SUITE_P(Late, ShardLease, testing::Values(0, 1, 700, 65'535, 100'000));

}  // namespace
}  // namespace tarry::embedded
