// Guarantee 2: never early by the store's own clock. Guarantee 7: due messages are delivered. And
// steps of the clock.
#include <algorithm>
#include <string>
#include <vector>

#include "contract.h"
#include "core/limits.h"

namespace tarry::contract {
namespace {

class Times : public Contract {};
TARRY_ON_ALL_ENGINES(Times);

TEST_P(Times, NotAMillisecondEarlyAfterADelay) {
  const Queue q = queue();
  const Pushed pushed = must(q.push({.key = "k", .payload = "x", .due = in(30min)}));
  EXPECT_EQ(ms(pushed.due), now_ms() + 1'800'000);
  EXPECT_EQ(find(q, "k")->state, State::scheduled);
  clock().advance(30min - 1ms);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(find(q, "k")->state, State::scheduled);
  clock().advance(1ms);
  EXPECT_EQ(find(q, "k")->state, State::ready);
  const Delivery delivery = claim_one(q);
  EXPECT_EQ(ms(delivery.due()), ms(pushed.due));
  EXPECT_EQ(ms(delivery.claimed_at()), now_ms());
  EXPECT_EQ(delivery.lateness(), 0ms);
}

TEST_P(Times, NotAMillisecondEarlyAtAMoment) {
  const Queue q = queue();
  const Time moment = clock().now() + 24h;
  EXPECT_EQ(must(q.push({.key = "k", .payload = "x", .due = at(moment)})).due, moment);
  clock().advance(24h - 1ms);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(claim_one(q).due(), moment);
}

TEST_P(Times, WhatIsFinerThanAMillisecondIsRoundedUp) {
  const Queue q = queue();
  using std::chrono::microseconds;
  const Pushed delayed = must(q.push({.key = "d", .payload = "x", .due = in(microseconds(1))}));
  EXPECT_EQ(ms(delayed.due), now_ms() + 1);
  const std::chrono::sys_time<microseconds> moment = clock().now() + microseconds(1'001);
  const Pushed fixed = must(q.push({.key = "m", .payload = "x", .due = at(moment)}));
  EXPECT_EQ(ms(fixed.due), now_ms() + 2);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(claim_one(q).key(), "d");
  clock().advance(1ms);
  EXPECT_EQ(claim_one(q).key(), "m");
}

TEST_P(Times, LatenessIsCountedFromDue) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .due = in(1s)}));
  clock().advance(4s);
  EXPECT_EQ(claim_one(q).lateness(), 3000ms);
}

TEST_P(Times, AMomentInThePastIsDueAtOnce) {
  const Queue q = queue();
  const Pushed pushed = must(q.push({.key = "k", .payload = "x", .due = at(clock().now() - 24h)}));
  EXPECT_EQ(pushed.outcome, Outcome::pushed);
  EXPECT_EQ(claim_one(q).key(), "k");
}

TEST_P(Times, AShortDelayDoesNotWaitBehindALongOne) {
  const Queue q = queue();
  (void)must(q.push({.key = "long", .payload = "x", .due = in(10h)}));
  (void)must(q.push({.key = "short", .payload = "x", .due = in(1s)}));
  clock().advance(1s);
  EXPECT_EQ(claim_one(q).key(), "short");
}

TEST_P(Times, EachOfManyDelaysIsMetToTheMillisecond) {
  const Queue q = queue();
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.push_back(std::to_string((i * 37) % 100));
  std::vector<Push> messages;
  for (const std::string& key : keys) {
    messages.push_back({.key = key, .payload = "x", .due = in(Millis(std::stoll(key) * 67 + 1))});
  }
  for (Result<Pushed>& pushed : must(q.push(messages))) (void)must(std::move(pushed));
  for (int i = 0; i < 100; ++i) {
    clock().advance(i == 0 ? 1ms : 67ms);
    const Delivery delivery = claim_one(q);
    EXPECT_EQ(delivery.key(), std::to_string(i));
    EXPECT_EQ(delivery.lateness(), 0ms);
  }
}

TEST_P(Times, FarDelaysHold) {
  const Queue q = queue();
  const hours far = hours(24 * 365 * 80);
  (void)must(q.push({.key = "k", .payload = "x", .due = in(far)}));
  clock().advance(far - 1ms);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(claim_one(q).lateness(), 0ms);
}

TEST_P(Times, ASpreadChoosesATimeOfItsWindow) {
  const Queue q = queue();
  constexpr Millis kSpread = 10min;
  constexpr int kCount = 12;
  std::vector<int> quarters(4, 0);
  Time first = Time::max();
  for (int i = 0; i < kCount; ++i) {
    const Time from = clock().now() + 1h;
    const std::string key = "k" + std::to_string(i);
    const Due due = i % 2 == 0 ? in(1h) : at(from);
    const Pushed pushed = must(q.push({.key = key, .payload = "x", .due = due, .spread = kSpread}));
    EXPECT_EQ(pushed.outcome, Outcome::pushed);
    EXPECT_GE(pushed.due, from);
    EXPECT_LE(pushed.due, from + kSpread);
    EXPECT_EQ(find(q, key)->due, pushed.due);
    const auto late = static_cast<std::size_t>((pushed.due - from).count());
    ++quarters[std::min<std::size_t>(3, late * 4 / static_cast<std::size_t>(kSpread.count()))];
    const Pushed again = must(q.push({.key = key, .payload = "x", .due = due, .spread = kSpread}));
    EXPECT_EQ(again.outcome, Outcome::exists);
    EXPECT_EQ(again.due, pushed.due);
    first = std::min(first, pushed.due);
  }
  EXPECT_LE(std::ranges::max(quarters), kCount / 2);
  clock().advance(first - clock().now() - 1ms);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(claim_one(q).due(), first);
}

TEST_P(Times, ASpreadIsAYearAtMost) {
  const Queue q = queue();
  const Millis most(core::kMaxSpreadMs);
  EXPECT_EQ(must(q.push({.key = "k", .payload = "x", .spread = most})).outcome, Outcome::pushed);
  const auto refused = q.push({.key = "l", .payload = "x", .spread = most + 1ms});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  expect_names(refused.error(), {"spread 365d", "from 0s to 365d"});
  EXPECT_FALSE(find(q, "l"));
}

TEST_P(Times, AForwardStepDoesNotShortenADelay) {
  if (!has_two_clocks()) GTEST_SKIP() << "delays and leases go by the one clock that steps";
  const Queue q = queue();
  (void)must(q.push({.key = "delay", .payload = "x", .due = in(30min)}));
  (void)must(q.push({.key = "moment", .payload = "x", .due = at(clock().now() + 30min)}));
  clock().step(1h);
  EXPECT_EQ(keys_of(claim_all(q)), std::vector<std::string>{"moment"});
  clock().advance(30min - 1ms);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(claim_one(q).key(), "delay");
}

TEST_P(Times, AForwardStepDoesNotShortenARescheduleByADelay) {
  if (!has_two_clocks()) GTEST_SKIP() << "delays and leases go by the one clock that steps";
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .due = at(clock().now() + 10h)}));
  (void)must(q.reschedule("k", in(30min)));
  clock().step(1h);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(30min);
  EXPECT_EQ(claim_one(q).key(), "k");
}

TEST_P(Times, AForwardStepDoesNotShortenARetryDelay) {
  if (!has_two_clocks()) GTEST_SKIP() << "delays and leases go by the one clock that steps";
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  (void)must(q.retry(claim_one(q).receipt(), 30min));
  clock().step(1h);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(30min);
  EXPECT_EQ(claim_one(q).key(), "k");
}

TEST_P(Times, ABackwardStepDoesNotDeliverEarly) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .due = at(clock().now() + 30min)}));
  clock().step(-1h);
  clock().advance(90min - 1ms);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(claim_one(q).key(), "k");
}

TEST_P(Times, ABackwardStepHoldsBackWhatIsNotYetDueByTheNewClock) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .due = at(clock().now() + 1min)}));
  clock().advance(1min);
  clock().step(-10s);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(find(q, "k")->state, State::scheduled);
  clock().advance(10s);
  EXPECT_EQ(claim_one(q).key(), "k");
}

// More messages than an engine puts back in one slice.
TEST_P(Times, ABackwardStepHoldsBackHoweverManyOfWhateverPriorityWereReady) {
  const Queue q = queue();
  std::vector<Push> messages(2'500);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].payload = "x";
    messages[i].due = at(clock().now() + 1min);
    messages[i].priority = i % 2 == 0 ? 5 : 1000;
  }
  (void)must(q.push(messages));
  (void)must(
      q.push({.key = "long due", .payload = "x", .due = at(clock().now()), .priority = 1000}));
  clock().advance(1min);
  (void)must(q.release(claim(q).at(0).receipt()));
  clock().step(-10s);
  EXPECT_EQ(keys_of(claim_all(q)), std::vector<std::string>{"long due"});
  EXPECT_TRUE(nothing_due(q));
  clock().advance(10s);
  EXPECT_EQ(claim_all(q).size(), messages.size());
}

TEST_P(Times, StepsForthAndBackHoldADelayUntilBothClocksHaveComeToIt) {
  if (!has_two_clocks()) GTEST_SKIP() << "delays and leases go by the one clock that steps";
  const Queue q = queue();
  const Pushed pushed =
      must(q.push({.key = "delay", .payload = "x", .due = in(30min), .priority = 0}));
  (void)must(q.push({.key = "other", .payload = "x", .due = at(clock().now() - 2h)}));
  clock().step(1h);
  EXPECT_EQ(find(q, "delay")->state, State::scheduled);
  clock().step(-2h);
  clock().advance(30min);  // the delay has passed by BOOTTIME, but not by the wall clock
  EXPECT_EQ(find(q, "delay")->state, State::scheduled);
  EXPECT_EQ(claim_one(q).key(), "other");
  clock().advance(1h - 1ms);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(clock().now(), pushed.due);
  EXPECT_EQ(claim_one(q).key(), "delay");
}

TEST_P(Times, StepsDoNotMoveLeases) {
  if (!has_two_clocks()) GTEST_SKIP() << "delays and leases go by the one clock that steps";
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Delivery first = claim_one(q, 30s);
  clock().step(5h);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(find(q, "k")->lease_left, Millis(30s));
  clock().step(-10h);
  clock().advance(30s - 1ms);
  EXPECT_EQ(find(q, "k")->state, State::leased);
  EXPECT_EQ(must(q.extend(first.receipt(), 10s)), Outcome::done);
  EXPECT_EQ(find(q, "k")->lease_left, Millis(10s));
}

TEST_P(Times, AfterAStepNewPushesCountFromTheNewTime) {
  const Queue q = queue();
  clock().step(-24h);
  const Pushed pushed = must(q.push({.key = "k", .payload = "x", .due = in(1s)}));
  EXPECT_EQ(ms(pushed.due), now_ms() + 1000);
  clock().advance(1s);
  EXPECT_EQ(claim_one(q).key(), "k");
}

}  // namespace
}  // namespace tarry::contract
