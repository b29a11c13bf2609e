// max_leased: how many messages of a queue are leased at once, over all claims.
#include "limited_queues.h"

namespace tarry::contract {
namespace {

const ClaimOptions kLimitWait{.max = 10, .lease = kLongLease, .wait = 1h};

class MaxLeased : public LimitedQueues {
 protected:
  static void limit(const Queue& q, std::uint32_t most) {
    EXPECT_EQ(must(q.configure({.max_leased = most})).max_leased, most);
  }
  static std::vector<Delivery> take(const Queue& q, std::size_t count) {
    std::vector<Delivery> all;
    while (all.size() < count) {
      std::vector<Delivery> some = claim(q, static_cast<std::uint32_t>(count - all.size()));
      if (some.empty()) break;
      for (Delivery& one : some) all.push_back(std::move(one));
    }
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(On, MaxLeased, testing::ValuesIn(holding_limits(all_engines())),
                         EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MaxLeased);

TEST_P(MaxLeased, IsOverAllClaims) {
  const Queue q = queue();
  limit(q, 3);
  push(q, 20);
  EXPECT_EQ(claim(q, 2).size(), 2u);
  EXPECT_EQ(claim(q, 10).size(), 1u);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(must(q.stats()).leased, 3u);
  EXPECT_EQ(must(q.stats()).ready, 17u);
  push(queue("other"), 5);
  EXPECT_EQ(claim(queue("other"), 10).size(), 5u);
}

TEST_P(MaxLeased, CountsWhatWasLeasedBefore) {
  const Queue q = queue();
  push(q, 20);
  EXPECT_EQ(take(q, 5).size(), 5u);
  limit(q, 4);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(must(q.stats()).leased, 5u);  // nothing is taken back
  limit(q, 7);
  EXPECT_EQ(take(q, 20).size(), 2u);
  limit(q, 0);
  EXPECT_EQ(take(q, 20).size(), 13u);
}

TEST_P(MaxLeased, HasRoomAgainWhenAClaimEnds) {
  const Queue q = queue();
  limit(q, 6);
  push(q, 30);
  const std::vector<Delivery> held = take(q, 30);
  ASSERT_EQ(held.size(), 6u);
  EXPECT_EQ(must(q.ack(held[0].receipt())), Outcome::done);
  EXPECT_EQ(must(q.bury(held[1].receipt())), Outcome::done);
  EXPECT_EQ(must(q.retry(held[2].receipt(), 1h)), Outcome::done);
  EXPECT_EQ(must(q.release(held[3].receipt())), Outcome::done);
  EXPECT_EQ(take(q, 30).size(), 4u);
  EXPECT_EQ(must(q.stats()).leased, 6u);
  // A lease that is extended or cancelled goes on.
  EXPECT_EQ(must(q.extend(held[4].receipt(), kLongLease)), Outcome::done);
  EXPECT_EQ(must(q.cancel(held[5].key())).outcome, Outcome::stopping);
  EXPECT_TRUE(nothing_due(q));
}

TEST_P(MaxLeased, HasRoomAgainWhenALeaseRunsOut) {
  const Queue q = queue();
  limit(q, 2);
  push(q, 10);
  ASSERT_EQ(claim(q, 10, 1min).size() + claim(q, 10, 1min).size(), 2u);
  clock().advance(1min - 1ms);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(take(q, 10).size(), 2u);
}

TEST_P(MaxLeased, IsHeldByClaimsByKey) {
  const Queue q = queue();
  limit(q, 2);
  push(q, 10);
  core::ClaimRequest request;
  request.queues = {"q"};
  request.keys = {"k1", "k2", "k3"};
  request.max = 10;
  request.lease = kLongLease;
  EXPECT_EQ(deliveries(must(submit(rig().engine(), request))).size(), 2u);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_TRUE(deliveries(must(submit(rig().engine(), request))).empty());
}

TEST_P(MaxLeased, IsOfEachQueueOfAClaim) {
  for (const char* name : {"a", "b"}) {
    limit(queue(name), 2);
    push(queue(name), 10);
  }
  push(queue("c"), 3);
  std::size_t claimed = 0;
  for (int i = 0; i < 5; ++i) {
    claimed += must(store().claim({"a", "b", "c"}, {.max = 20, .lease = kLongLease})).size();
  }
  EXPECT_EQ(claimed, 7u);
}

TEST_P(MaxLeased, WakesAWaitingClaimWhenAClaimEnds) {
  const Queue q = queue();
  limit(q, 1);
  push(q, 20);
  std::set<std::string> keys;
  Delivery held = claim_one(q);
  for (int i = 0; i < 19; ++i) {
    keys.insert(std::string(held.key()));
    const auto waiting = waiting_claim(q, kLimitWait);
    EXPECT_FALSE(waiting.ready());
    EXPECT_EQ(must(q.ack(held.receipt())), Outcome::done);
    std::vector<Delivery> next = must(waiting.get());
    ASSERT_EQ(next.size(), 1u);
    held = std::move(next[0]);
  }
  keys.insert(std::string(held.key()));
  EXPECT_EQ(keys.size(), 20u);
  EXPECT_EQ(must(q.stats()).counters.acked, 19u);
}

TEST_P(MaxLeased, WakesAWaitingClaimWhenALeaseRunsOut) {
  const Queue q = queue();
  limit(q, 1);
  push(q, 20);
  ASSERT_EQ(claim(q, 1, 1min).size(), 1u);
  const auto waiting = waiting_claim(q, kLimitWait);
  clock().advance(1min);
  EXPECT_EQ(must(waiting.get()).size(), 1u);
}

TEST_P(MaxLeased, WakesWaitingClaimsWhenItIsRaised) {
  const Queue q = queue();
  limit(q, 1);
  push(q, 40);
  (void)claim_one(q);
  const auto waiting = waiting_claim(q, kLimitWait);
  const auto other = waiting_claim(q, kLimitWait);
  limit(q, 0);
  EXPECT_GE(must(waiting.get()).size(), 1u);
  EXPECT_GE(must(other.get()).size(), 1u);
}

TEST_P(MaxLeased, IsToldByWhy) {
  const Queue q = queue();
  limit(q, 2);
  push(q, 3);
  const std::vector<Delivery> held = take(q, 3);
  ASSERT_EQ(held.size(), 2u);
  const std::string last =
      std::string("k") + std::to_string(3 - (held[0].key()[1] - '0') - (held[1].key()[1] - '0'));
  const Why why = must(q.why(last));
  EXPECT_EQ(why.cause, Cause::limited);
  EXPECT_NE(why.text.find("held by max_leased: 2 of 2 leased"), std::string::npos) << why.text;
  EXPECT_EQ(must(q.ack(held[0].receipt())), Outcome::done);
  EXPECT_NE(must(q.why(last)).cause, Cause::limited);
}

TEST_P(MaxLeased, EndsWithItsQueue) {
  const Queue q = queue();
  limit(q, 1);
  push(q, 5);
  (void)claim_one(q);
  (void)must(q.remove(true));
  push(q, 5);
  EXPECT_EQ(take(q, 5).size(), 5u);
}

class MaxLeasedReopened : public MaxLeased {};
INSTANTIATE_TEST_SUITE_P(On, MaxLeasedReopened,
                         testing::ValuesIn(holding_limits(durable_engines())), EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MaxLeasedReopened);

TEST_P(MaxLeasedReopened, IsKeptAndCountsTheLeases) {
  limit(queue(), 3);
  push(queue(), 20);
  const std::vector<Delivery> held = take(queue(), 20);
  ASSERT_EQ(held.size(), 3u);
  const std::string receipt(held[0].receipt());
  rig().reopen();
  const Queue q = queue();
  EXPECT_EQ(must(q.stats()).settings.max_leased, 3u);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(must(q.ack(receipt)), Outcome::done);
  EXPECT_EQ(take(q, 20).size(), 1u);
}

// A queue in a cluster whose shards lie on several nodes.
class NoLimits : public Contract {};
INSTANTIATE_TEST_SUITE_P(On, NoLimits, testing::ValuesIn(holding_limits(all_engines(), false)),
                         EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoLimits);

TEST_P(NoLimits, AreRefusedByName) {
  for (const SettingsPatch& patch :
       {SettingsPatch{.max_leased = 5}, SettingsPatch{.rate = DeliveryRate{100, 1s, 20}}}) {
    const auto refused = queue().configure(patch);
    ASSERT_FALSE(refused) << "was taken";
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported) << refused.error().message;
    expect_names(refused.error(), {"limits (max_leased, rate)", "queue q has 4"});
  }
  (void)must(queue().configure({.max_leased = 0}));
}

}  // namespace
}  // namespace tarry::contract
