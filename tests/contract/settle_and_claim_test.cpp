// Settling and claiming in one request: what is settled, what is claimed, and what a failure of the
// one does to the other.
#include <stop_token>

#include "contract.h"
#include "core/limits.h"

namespace tarry::contract {
namespace {

class SettleAndClaim : public Contract {
 protected:
  void SetUp() override {
    Contract::SetUp();
    if (!IsSkipped()) (void)must(queue().configure({.remember = kRemember}));
  }

  /// A message of the queue "q", claimed.
  Delivery claimed(std::string_view key) {
    (void)must(queue().push({.key = key, .payload = "x"}));
    return claim_one(queue());
  }
  bool is_acked(std::string_view key) {
    const auto info = find(queue(), key);
    return info && info->state == State::remembered;
  }
};
TARRY_ON_ALL_ENGINES(SettleAndClaim);

const ClaimOptions kNow{.max = 10, .lease = kLongLease};
const ClaimOptions kClaimWaits{.max = 10, .lease = kLongLease, .wait = 30min};

TEST_P(SettleAndClaim, DoesBoth) {
  const Delivery first = claimed("first");
  (void)must(queue().push({.key = "second", .payload = "x"}));
  const auto answer = must(queue().settle_and_claim({{.receipt = first.receipt()}}, kNow));
  ASSERT_EQ(answer.settled.size(), 1u);
  EXPECT_EQ(must(answer.settled[0]), Outcome::done);
  EXPECT_EQ(keys_of(must(answer.claimed)), std::vector<std::string>{"second"});
  EXPECT_TRUE(is_acked("first"));
  EXPECT_EQ(must(queue().release(must(answer.claimed)[0].receipt())), Outcome::done);
}

TEST_P(SettleAndClaim, MayClaimWhatItReleases) {
  const Delivery delivery = claimed("k");
  const Settle release{.receipt = delivery.receipt(), .action = Action::release};
  // Redis may carry out both at the same time.
  const ClaimOptions& options = is(Kind::redis) ? kClaimWaits : kNow;
  const auto answer = must(queue().settle_and_claim({release}, options));
  EXPECT_EQ(must(answer.settled.at(0)), Outcome::done);
  const std::vector<Delivery> again = must(answer.claimed);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].id(), delivery.id());
  EXPECT_EQ(again[0].attempt(), 1u);
}

TEST_P(SettleAndClaim, AnswersItemByItem) {
  const Delivery good = claimed("good");
  const Delivery old = claimed("old");
  EXPECT_EQ(must(queue().ack(old.receipt())), Outcome::done);
  const auto answer = must(queue().settle_and_claim(
      {{.receipt = old.receipt(), .action = Action::bury},
       {.receipt = good.receipt(), .action = Action::ack, .delay = 1s},
       {.receipt = ""},
       {.receipt = good.receipt(), .action = Action::retry, .delay = 5min}},
      kNow));
  ASSERT_EQ(answer.settled.size(), 4u);
  EXPECT_EQ(must(answer.settled[0]), Outcome::stale);
  ASSERT_FALSE(answer.settled[1]);
  expect_names(answer.settled[1].error(), {"delay", "1s"});
  ASSERT_FALSE(answer.settled[2]);
  EXPECT_EQ(answer.settled[2].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(must(answer.settled[3]), Outcome::done);
  EXPECT_TRUE(must(answer.settled[3]).due);
  EXPECT_TRUE(must(answer.claimed).empty());
}

TEST_P(SettleAndClaim, SettlesClaimsOfOtherQueues) {
  const Delivery delivery = claimed("k");
  const Queue other = queue("other");
  (void)must(other.push({.key = "there", .payload = "x"}));
  const auto answer = must(other.settle_and_claim({{.receipt = delivery.receipt()}}, kNow));
  EXPECT_EQ(must(answer.settled.at(0)), Outcome::done);
  EXPECT_EQ(keys_of(must(answer.claimed)), std::vector<std::string>{"there"});
  EXPECT_TRUE(is_acked("k"));
}

TEST_P(SettleAndClaim, WithoutItemsIsAClaim) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  const auto answer = must(queue().settle_and_claim(std::vector<Settle>(), kNow));
  EXPECT_TRUE(answer.settled.empty());
  EXPECT_EQ(must(answer.claimed).size(), 1u);
}

TEST_P(SettleAndClaim, ABadClaimSettlesNothing) {
  const Delivery delivery = claimed("k");
  const auto answer = queue().settle_and_claim({{.receipt = delivery.receipt()}}, {.max = 0});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(must(queue().ack(delivery.receipt())), Outcome::done);
}

TEST_P(SettleAndClaim, ABatchOverTheLimitClaimsNothing) {
  const Delivery delivery = claimed("k");
  (void)must(queue().push({.key = "next", .payload = "x"}));
  const std::vector<Settle> items(core::kMaxBatch + 1, Settle{.receipt = delivery.receipt()});
  const auto answer = queue().settle_and_claim(items, kNow);
  ASSERT_FALSE(answer);
  expect_names(answer.error(), {"10001", "10000"});
  EXPECT_EQ(find(queue(), "next")->state, State::ready);
  EXPECT_EQ(must(queue().ack(delivery.receipt())), Outcome::done);
}

TEST_P(SettleAndClaim, TheSettlementsDoNotWait) {
  const Delivery delivery = claimed("k");
  const std::vector<Settle> items{{.receipt = delivery.receipt()}};
  Pending<SettledAndClaimed> pending;
  queue().settle_and_claim(items, kClaimWaits, pending.callback());
  await_waiting(queue(), 1);
  EXPECT_TRUE(is_acked("k"));
  EXPECT_FALSE(pending.ready());
  (void)must(queue().push({.key = "next", .payload = "x"}));
  const auto answer = must(pending.get());
  EXPECT_EQ(must(answer.settled.at(0)), Outcome::done);
  EXPECT_EQ(keys_of(must(answer.claimed)), std::vector<std::string>{"next"});
}

TEST_P(SettleAndClaim, AStopDoesNotUndoTheSettlements) {
  const Delivery delivery = claimed("k");
  const std::vector<Settle> items{{.receipt = delivery.receipt()}};
  std::stop_source stop;
  ClaimOptions options = kClaimWaits;
  options.stop = stop.get_token();
  Pending<SettledAndClaimed> pending;
  queue().settle_and_claim(items, options, pending.callback());
  await_waiting(queue(), 1);
  stop.request_stop();
  const auto answer = must(pending.get());
  ASSERT_EQ(answer.settled.size(), 1u);
  if (is_remote()) {  // the client hangs up, so it cannot know
    ASSERT_FALSE(answer.settled[0]);
    EXPECT_EQ(answer.settled[0].error().code, ErrorCode::unknown_outcome);
  } else {
    EXPECT_EQ(must(answer.settled[0]), Outcome::done);
  }
  EXPECT_TRUE(must(answer.claimed).empty());
  EXPECT_TRUE(is_acked("k"));
}

TEST_P(SettleAndClaim, AfterAStopItOnlySettles) {
  const Delivery delivery = claimed("k");
  (void)must(queue().push({.key = "next", .payload = "x"}));
  std::stop_source stop;
  stop.request_stop();
  ClaimOptions options = kNow;
  options.stop = stop.get_token();
  const auto answer = must(queue().settle_and_claim({{.receipt = delivery.receipt()}}, options));
  EXPECT_EQ(must(answer.settled.at(0)), Outcome::done);
  EXPECT_TRUE(must(answer.claimed).empty());
  EXPECT_EQ(find(queue(), "next")->state, State::ready);
}

}  // namespace
}  // namespace tarry::contract
