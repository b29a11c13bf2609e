#include "relay/breaker.h"

#include <gtest/gtest.h>

#include "relay/rate_limit.h"

namespace tarry::relay {
namespace {

constexpr BreakerOptions kThree{.failures = 3, .least = Millis(100), .most = Millis(400)};

TEST(Breaker, OpensWhenDifferentMessagesFailInARow) {
  Breaker breaker(kThree, 1);
  breaker.failed(1, Moment(0));
  breaker.failed(2, Moment(0));
  breaker.worked();
  breaker.failed(3, Moment(0));
  breaker.failed(4, Moment(0));
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  breaker.failed(5, Moment(0));
  EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST(Breaker, WhatIsAnsweredOfOneMessageOpensNothingAndEndsATrial) {
  Breaker breaker(kThree, 1);
  breaker.failed(1, Moment(0));
  breaker.failed(2, Moment(0));
  breaker.answered();
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  breaker.failed(3, Moment(0));  // still counts as the third failure in the row
  EXPECT_EQ(breaker.state(), BreakerState::open);
  breaker.answered();  // late news about an earlier message
  EXPECT_EQ(breaker.state(), BreakerState::open);
  breaker.advance(Moment(100));
  breaker.answered();
  EXPECT_EQ(breaker.state(), BreakerState::closed);
}

TEST(Breaker, OneMessageThatAlwaysFailsOpensNothing) {
  Breaker breaker(kThree, 1);
  for (int i = 0; i < 100; ++i) breaker.failed(7, Moment(i));
  EXPECT_EQ(breaker.state(), BreakerState::closed);
}

TEST(Breaker, PausesDoubleUpToTheMostAndBeginAnew) {
  Breaker breaker(kThree, 1);
  Moment now(1'000);
  for (const std::int64_t full : {100, 200, 400, 400}) {
    breaker.down(now);
    ASSERT_EQ(breaker.state(), BreakerState::open);
    const std::int64_t pause = (*breaker.until() - now).count();
    EXPECT_GE(pause, full / 2);
    EXPECT_LE(pause, full);
    breaker.advance(*breaker.until() - Moment(1));
    EXPECT_EQ(breaker.state(), BreakerState::open);
    now = *breaker.until();
    breaker.advance(now);
    ASSERT_EQ(breaker.state(), BreakerState::half_open);
  }
  breaker.worked();
  EXPECT_EQ(breaker.state(), BreakerState::closed);
  breaker.down(now);
  EXPECT_LE(*breaker.until() - now, Moment(100));
  EXPECT_EQ(breaker.openings(), 5u);
}

TEST(Breaker, ATrialThatFailsOpensAgain) {
  Breaker breaker(kThree, 1);
  breaker.down(Moment(0));
  breaker.worked();  // late news about an earlier message
  EXPECT_EQ(breaker.state(), BreakerState::open);
  breaker.advance(Moment(100));
  breaker.failed(1, Moment(100));
  EXPECT_EQ(breaker.state(), BreakerState::open);
}

TEST(RateLimit, HoldsATenthOfASecondAndFillsSteadily) {
  RateLimit rate(50);
  EXPECT_EQ(rate.available(), 5u);
  rate.take(5);
  EXPECT_EQ(rate.available(), 0u);
  EXPECT_EQ(rate.next(), Moment(20));
  rate.advance(Moment(20));
  EXPECT_EQ(rate.available(), 1u);
  rate.give_back(2);
  EXPECT_EQ(rate.available(), 3u);
  rate.advance(Moment(100'000));
  EXPECT_EQ(rate.available(), 5u);
  rate.advance(Moment(0));  // the limit's time never goes back
  EXPECT_EQ(rate.available(), 5u);
}

TEST(RateLimit, SlowRatesLetOneThrough) {
  RateLimit rate(1);
  EXPECT_EQ(rate.available(), 1u);
  rate.take(1);
  EXPECT_EQ(rate.next(), Moment(1'000));
  EXPECT_GT(RateLimit(0).available(), 1'000'000u);
}

}  // namespace
}  // namespace tarry::relay
