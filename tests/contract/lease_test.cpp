// Leases: how long a claim holds, what happens when it runs out, and how it is extended.
#include "contract.h"

namespace tarry::contract {
namespace {

class Leases : public Contract {};
TARRY_ON_ALL_ENGINES(Leases);

TEST_P(Leases, TheQueueSetsTheirLengthUnlessTheClaimDoes) {
  const Queue q = queue();
  (void)must(q.configure({.lease = 42s}));
  (void)must(q.push({.key = "a", .payload = "x"}));
  EXPECT_EQ(claim_one(q, std::nullopt).lease(), 42s);
  EXPECT_EQ(find(q, "a")->lease_left, Millis(42s));
  (void)must(q.push({.key = "b", .payload = "x"}));
  EXPECT_EQ(claim_one(q, 7s).lease(), 7s);
  EXPECT_EQ(find(q, "b")->lease_left, Millis(7s));
}

TEST_P(Leases, AClaimHoldsToTheLastMillisecondAndNoLonger) {
  const Queue q = queue();
  const Pushed pushed = must(q.push({.key = "k", .payload = "x"}));
  const Delivery first = claim_one(q, 30s);
  clock().advance(30s - 1ms);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(find(q, "k")->lease_left, Millis(1));
  clock().advance(1ms);
  EXPECT_EQ(must(q.ack(first.receipt())), Outcome::stale);
  const MessageInfo info = find(q, "k").value();
  EXPECT_EQ(info.state, State::ready);
  EXPECT_EQ(ms(info.due), ms(pushed.due));
  EXPECT_EQ(info.attempt, 1u);
  EXPECT_EQ(info.tallies.run_outs, 1u);
  const Delivery second = claim_one(q);
  EXPECT_EQ(second.attempt(), 2u);
  EXPECT_EQ(second.id(), first.id());
  EXPECT_EQ(ms(second.due()), ms(pushed.due));
  EXPECT_EQ(second.lateness(), 30s);
  EXPECT_EQ(must(q.stats()).counters.run_outs, 1u);
  EXPECT_EQ(must(q.ack(second.receipt())), Outcome::done);
}

TEST_P(Leases, AtMostOneIsLiveAMessage) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  std::vector<std::string> receipts;
  for (int i = 0; i < 5; ++i) {
    receipts.emplace_back(claim_one(q, 1s).receipt());
    EXPECT_TRUE(nothing_due(q));
    clock().advance(1s);
  }
  const Delivery live = claim_one(q);
  for (const std::string& receipt : receipts) {
    EXPECT_NE(receipt, live.receipt());
    EXPECT_EQ(must(q.ack(receipt)), Outcome::stale);
  }
  EXPECT_EQ(must(q.ack(live.receipt())), Outcome::done);
}

TEST_P(Leases, RunningOutInTheLastAttemptIsDeath) {
  const Queue q = queue();
  (void)must(q.configure({.max_attempts = 2, .dead_keep = 1h}));
  (void)must(q.push({.key = "k", .payload = "x"}));
  (void)claim_one(q, 1s);
  clock().advance(1s);
  (void)claim_one(q, 1s);
  clock().advance(1s);
  const MessageInfo dead = find(q, "k").value();
  EXPECT_EQ(dead.state, State::dead);
  EXPECT_EQ(dead.attempt, 2u);
  EXPECT_EQ(dead.tallies.run_outs, 2u);
  EXPECT_FALSE(dead.reason.empty());
  EXPECT_EQ(ms(dead.kept_until.value()), now_ms() + 3'600'000);
  EXPECT_TRUE(nothing_due(q));
}

TEST_P(Leases, ExtensionCountsFromNow) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Delivery delivery = claim_one(q, 30s);
  clock().advance(20s);
  EXPECT_EQ(must(q.extend(delivery.receipt(), 15s)), Outcome::done);
  EXPECT_EQ(find(q, "k")->lease_left, Millis(15s));
  clock().advance(15s - 1ms);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(must(q.extend(delivery.receipt(), 15s)), Outcome::stale);
  EXPECT_EQ(claim_one(q).attempt(), 2u);
}

TEST_P(Leases, ExtensionMayShorten) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Delivery delivery = claim_one(q, 1h);
  EXPECT_EQ(must(q.extend(delivery.receipt(), 1s)), Outcome::done);
  clock().advance(1s);
  EXPECT_EQ(claim_one(q).attempt(), 2u);
}

TEST_P(Leases, ExtensionWithoutLengthTakesTheQueues) {
  const Queue q = queue();
  (void)must(q.configure({.lease = 42s}));
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Delivery delivery = claim_one(q, 5s);
  EXPECT_EQ(must(q.extend(delivery.receipt())), Outcome::done);
  EXPECT_EQ(find(q, "k")->lease_left, Millis(42s));
}

TEST_P(Leases, AnExtendedReceiptStillSettles) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Delivery delivery = claim_one(q, 1s);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(must(q.extend(delivery.receipt(), 1s)), Outcome::done);
    clock().advance(999ms);
  }
  EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
  EXPECT_EQ(must(q.stats()).counters.run_outs, 0u);
}

TEST_P(Leases, ManyRunOutTogether) {
  const Queue q = queue();
  for (int i = 0; i < 40; ++i) (void)must(q.push({.key = std::to_string(i), .payload = "x"}));
  EXPECT_EQ(claim(q, 40, 10s).size(), 40u);
  EXPECT_EQ(must(q.stats()).leased, 40u);
  clock().advance(10s);
  EXPECT_EQ(must(q.stats()).ready, 40u);
  const std::vector<Delivery> again = claim_all(q);
  EXPECT_EQ(again.size(), 40u);
  for (const Delivery& delivery : again) EXPECT_EQ(delivery.attempt(), 2u);
}

TEST_P(Leases, TalliesTellAMessagesStory) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  (void)must(q.release(claim_one(q).receipt()));
  (void)claim_one(q, 1s);
  clock().advance(1s);
  (void)must(q.retry(claim_one(q).receipt(), 0ms));
  (void)must(q.bury(claim_one(q).receipt()));
  EXPECT_EQ(must(q.revive()), 1u);
  const Delivery delivery = claim_one(q);
  const Tallies want{.claims = 5, .run_outs = 1, .releases = 1, .buries = 1, .revives = 1};
  EXPECT_EQ(delivery.tallies(), want);
  EXPECT_EQ(find(q, "k")->tallies, want);
}

}  // namespace
}  // namespace tarry::contract
