// rate: how many messages of a queue are claimed at most in a stretch of time.
#include "limited_queues.h"

namespace tarry::contract {
namespace {

class Rate : public LimitedQueues {
 protected:
  static void set(const Queue& q, const DeliveryRate& rate) {
    EXPECT_EQ(must(q.configure({.rate = rate})).rate, rate);
  }
  /// How many messages claims get now. They are acked.
  static std::size_t take(const Queue& q) {
    std::size_t count = 0;
    for (auto some = claim(q, 7); !some.empty(); some = claim(q, 7)) {
      for (const Delivery& one : some) EXPECT_EQ(must(q.ack(one.receipt())), Outcome::done);
      count += some.size();
    }
    return count;
  }
};
INSTANTIATE_TEST_SUITE_P(On, Rate, testing::ValuesIn(holding_limits(all_engines())), EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Rate);

TEST_P(Rate, IsHeldForAllClaims) {
  const Queue q = queue();
  set(q, {10, 1s, 3});
  push(q, 60);
  EXPECT_EQ(take(q), 3u);
  clock().advance(99ms);
  EXPECT_EQ(take(q), 0u);
  clock().advance(1ms);
  EXPECT_EQ(take(q), 1u);
  clock().advance(250ms);
  EXPECT_EQ(take(q), 2u);
  clock().advance(50ms);
  EXPECT_EQ(take(q), 1u);
  clock().advance(1h);
  EXPECT_EQ(take(q), 3u);
  push(queue("other"), 20);
  EXPECT_EQ(take(queue("other")), 20u);
}

TEST_P(Rate, IsHeldByClaimsByKeyAndByRetries) {
  const Queue q = queue();
  set(q, {1, 1s, 2});
  push(q, 3);
  core::ClaimRequest request;
  request.queues = {"q"};
  request.keys = {"k0", "k1", "k2"};
  request.max = 10;
  request.lease = kLongLease;
  const auto first = deliveries(must(submit(rig().engine(), request)));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(must(q.release(first[0].receipt())), Outcome::done);
  EXPECT_EQ(must(q.retry(first[1].receipt(), 0ms)), Outcome::done);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1s);
  EXPECT_EQ(take(q), 1u);
}

TEST_P(Rate, ChangesAtOnce) {
  const Queue q = queue();
  push(q, 60);
  set(q, {1, 1h, 5});
  EXPECT_EQ(take(q), 5u);
  set(q, {10, 1s, 5});
  EXPECT_EQ(take(q), 0u);
  clock().advance(1s);
  EXPECT_EQ(take(q), 5u);
  set(q, {});
  EXPECT_EQ(take(q), 50u);
}

// Redis has one clock, which steps.
class RateBySteadyClock : public Rate {};
INSTANTIATE_TEST_SUITE_P(On, RateBySteadyClock, testing::ValuesIn(limiting(all_engines())),
                         EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RateBySteadyClock);

TEST_P(RateBySteadyClock, DoesNotStep) {
  const Queue q = queue();
  set(q, {1, 1h, 1});
  push(q, 5);
  EXPECT_EQ(take(q), 1u);
  clock().step(2h);
  EXPECT_EQ(take(q), 0u);
  clock().step(-2h);
  clock().advance(1h);
  EXPECT_EQ(take(q), 1u);
}

// The time before the change brought tokens at the old rate, though no claim looked meanwhile.
TEST_P(Rate, AnotherRateCountsFromItsChangeOn) {
  const Queue q = queue();
  set(q, {1, 1h, 50});
  push(q, 60);
  EXPECT_EQ(take(q), 50u);
  clock().advance(2h);
  set(q, {50, 1h, 50});
  EXPECT_EQ(take(q), 2u);
  clock().advance(6min);
  set(q, {1, 1h, 50});
  EXPECT_EQ(take(q), 5u);
}

TEST_P(Rate, WakesAWaitingClaimWithTheNextToken) {
  const Queue q = queue();
  set(q, {1, 1min, 1});
  push(q, 20);
  EXPECT_EQ(take(q), 1u);
  for (int i = 0; i < 3; ++i) {
    const auto waiting = waiting_claim(q, {.max = 10, .lease = kLongLease, .wait = 1h});
    clock().advance(1min - 1ms);
    (void)must(q.stats());
    EXPECT_FALSE(waiting.ready());
    clock().advance(1ms);
    EXPECT_EQ(must(waiting.get()).size(), 1u);
  }
}

TEST_P(Rate, IsToldByStatsAndWhy) {
  const Queue q = queue();
  set(q, {1, 1min, 2});
  push(q, 3);
  EXPECT_FALSE(must(q.stats()).rate_next);
  EXPECT_EQ(take(q), 2u);
  const Time next = clock().now() + 1min;
  EXPECT_EQ(must(q.stats()).rate_next, next);
  std::string left;
  for (const MessageInfo& info : list_all(q)) left = info.key;
  const Why why = must(q.why(left));
  EXPECT_EQ(why.cause, Cause::limited);
  EXPECT_NE(why.text.find("held by rate: next at "), std::string::npos) << why.text;
  clock().advance(1min);
  EXPECT_FALSE(must(q.stats()).rate_next);
}

TEST_P(Rate, HoldsTogetherWithMaxLeased) {
  const Queue q = queue();
  (void)must(q.configure({.max_leased = 2, .rate = DeliveryRate{1, 1s, 3}}));
  push(q, 10);
  std::vector<Delivery> held = claim(q, 10);
  for (Delivery& more : claim(q, 10)) held.push_back(std::move(more));
  ASSERT_EQ(held.size(), 2u);
  EXPECT_EQ(must(q.ack(held[0].receipt())), Outcome::done);
  EXPECT_EQ(must(q.ack(held[1].receipt())), Outcome::done);
  EXPECT_EQ(claim(q, 10).size() + claim(q, 10).size(), 1u);
  clock().advance(1h);
  EXPECT_EQ(claim(q, 10).size() + claim(q, 10).size(), 1u);
}

class RateReopened : public Rate {};
INSTANTIATE_TEST_SUITE_P(On, RateReopened, testing::ValuesIn(holding_limits(durable_engines())),
                         EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RateReopened);

TEST_P(RateReopened, PermitsAtMostOneBurstMore) {
  set(queue(), {1, 1h, 4});
  push(queue(), 60);
  EXPECT_EQ(take(queue()), 4u);
  rig().reopen();
  EXPECT_EQ(must(queue().stats()).settings.rate, (DeliveryRate{1, 1h, 4}));
  EXPECT_EQ(take(queue()), is(Kind::redis) ? 0u : 4u);  // Redis keeps the bucket
  clock().advance(1h);
  EXPECT_EQ(take(queue()), 1u);
}

}  // namespace
}  // namespace tarry::contract
