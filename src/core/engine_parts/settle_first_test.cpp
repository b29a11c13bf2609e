#include "core/engine_parts/settle_first.h"

#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace tarry::core {
namespace {

class SettleFirstTest : public ::testing::Test {
 protected:
  static ClaimRequest claim() {
    ClaimRequest request;
    request.queues = {"q"};
    request.settle.items.resize(2);
    for (SettleItem& item : request.settle.items) {
      item.receipt = append(request.settle.bytes, "r");
    }
    return request;
  }
  void submit(bool no_memory_for_claim = false) {
    ticket_ = submit_settle_first(
        claim(), [this](Result<Reply> reply) { reply_.emplace(std::move(reply)); },
        [&](Request request, Completion completion) -> Ticket {
          if (no_memory_for_claim && !asked_.empty()) throw std::bad_alloc();
          asked_.push_back(std::move(request));
          completions_.push_back(std::move(completion));
          return asked_.size();
        });
  }
  static ItemsReply settled() {
    ItemsReply reply;
    reply.items.resize(2);
    reply.items[0].outcome = Outcome::done;
    reply.items[1].outcome = Outcome::stale;
    return reply;
  }
  static ClaimReply one_claimed() {
    ClaimReply reply;
    reply.items.emplace_back().receipt = append(reply.bytes, "next");
    return reply;
  }
  const ClaimReply& told() { return std::get<ClaimReply>(**reply_); }

  std::vector<Request> asked_;
  std::vector<Completion> completions_;
  std::optional<Result<Reply>> reply_;
  Ticket ticket_ = 0;
};

TEST_F(SettleFirstTest, OnlyAValidClaimWithSettlementsIsOne) {
  EXPECT_TRUE(settles_first(claim()));
  ClaimRequest plain = claim();
  plain.settle = {};
  EXPECT_FALSE(settles_first(plain));
  ClaimRequest bad = claim();
  bad.max = 0;
  EXPECT_FALSE(settles_first(bad));
  EXPECT_FALSE(settles_first(SettleRequest()));
  ClaimRequest large = claim();
  large.settle.items.resize(kMaxBatch + 1);
  EXPECT_FALSE(settles_first(large));
}

TEST_F(SettleFirstTest, SubmitsTheSettleAndThenTheClaimWithoutIt) {
  submit();
  ASSERT_EQ(asked_.size(), 2u);
  EXPECT_EQ(std::get<SettleRequest>(asked_[0]).items.size(), 2u);
  EXPECT_TRUE(std::get<ClaimRequest>(asked_[1]).settle.items.empty());
  EXPECT_EQ(ticket_, 2u);
  completions_[1](Reply(one_claimed()));
  EXPECT_FALSE(reply_);
  completions_[0](Reply(settled()));
  ASSERT_TRUE(reply_ && *reply_);
  EXPECT_EQ(told().items.size(), 1u);
  EXPECT_FALSE(told().claim_error);
  ASSERT_EQ(told().settled.size(), 2u);
  EXPECT_EQ(told().settled[0].outcome, Outcome::done);
  EXPECT_EQ(told().settled[1].outcome, Outcome::stale);
}

TEST_F(SettleFirstTest, AClaimThatFailsAloneIsToldBesideTheSettlements) {
  submit();
  completions_[0](Reply(settled()));
  completions_[1](Error{ErrorCode::unavailable, "too many claims wait"});
  ASSERT_TRUE(reply_ && *reply_);
  EXPECT_EQ(told().settled.size(), 2u);
  ASSERT_TRUE(told().claim_error);
  EXPECT_EQ(told().claim_error->message, "too many claims wait");
}

TEST_F(SettleFirstTest, ASettleThatFailsAsAWholeIsToldForEachOfItsItems) {
  submit();
  completions_[0](Error{ErrorCode::unknown_outcome, "lost"});
  completions_[1](Reply(one_claimed()));
  ASSERT_TRUE(reply_ && *reply_);
  EXPECT_EQ(told().items.size(), 1u);
  ASSERT_EQ(told().settled.size(), 2u);
  for (const ItemResult& item : told().settled) EXPECT_EQ(item.error->message, "lost");
}

TEST_F(SettleFirstTest, OfTwoErrorsTheLessCertainOneIsTold) {
  submit();
  completions_[0](Error{ErrorCode::unavailable, "away"});
  completions_[1](Error{ErrorCode::unknown_outcome, "lost"});
  ASSERT_TRUE(reply_);
  EXPECT_EQ(reply_->error().message, "lost");
}

TEST_F(SettleFirstTest, WithoutMemoryForTheClaimTheSettlementsAreStillTold) {
  submit(true);
  EXPECT_EQ(ticket_, 0u);
  completions_[0](Reply(settled()));
  ASSERT_TRUE(reply_ && *reply_);
  EXPECT_EQ(told().settled.size(), 2u);
  EXPECT_EQ(told().claim_error->code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace tarry::core
