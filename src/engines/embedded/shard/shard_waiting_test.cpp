// Waiting claims: ending many of them at once is done in slices, and delays no other request.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "storage/memory_storage.h"
#include "support/embedded/one_shard.h"
#include "support/embedded/requests.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

constexpr std::size_t kSlice = 10;
constexpr int kClaims = 20;
constexpr int kQueues = 5;

class ShardWaiting : public testing::Test {
 protected:
  ShardWaiting() {
    test::OneShard::Options options;
    options.segment_bytes = 256 << 10;
    options.slices.waiting = kSlice;
    one_.emplace(disk_.root(), clock_, options);
  }

  core::ClaimRequest claim_of_all() const {
    core::ClaimRequest request = test::claim("q0");
    for (int i = 1; i < kQueues; ++i) request.queues.push_back("q" + std::to_string(i));
    request.wait = Millis(60'000);
    return request;
  }
  void begin_claims() {
    for (int i = 0; i < kClaims; ++i) {
      ops_.push_back(one_->submit(claim_of_all(), [this](const Result<core::Reply>& reply) {
        ASSERT_TRUE(reply);
        const auto& claimed = std::get<core::ClaimReply>(*reply);
        ++(claimed.items.empty() ? empty_ : served_);
      }));
    }
    one_->settle();
    ASSERT_EQ(waiting_claims(), std::uint64_t{kClaims});
  }
  void hang_up() {
    for (const OperationPtr& op : ops_) {
      ASSERT_TRUE(op->move_phase(ClaimPhase::waiting, ClaimPhase::ended));
      Part part;
      part.kind = Part::Kind::forget;
      part.op = op;
      one_->post(0, std::move(part));
    }
  }
  std::uint64_t waiting_claims() {
    (void)one_->ask(core::ConfigureRequest{"q0", {}});
    core::StatsRequest request;
    request.queue = "q0";
    auto op = one_->submit(std::move(request));
    std::uint64_t count = 0;
    one_->turn();
    for (const QueueStats& queue : op->figures.at(0).queues) count = queue.waiting_claims;
    while (one_->commit()) {
    }
    return count;
  }
  int turns_until_done() {
    int turns = 0;
    do {
      one_->turn();
      while (one_->commit()) {
      }
      ++turns;
    } while (one_->has_more_work() && turns < 1000);
    return turns;
  }

  storage::MemoryDisk disk_;
  timing::ManualClock clock_;
  std::optional<test::OneShard> one_;
  std::vector<OperationPtr> ops_;
  int empty_ = 0;
  int served_ = 0;
};

TEST_F(ShardWaiting, AHangUpOfManyTakesManyTurnsAndOthersAreServedInBetween) {
  begin_claims();
  hang_up();
  EXPECT_EQ(waiting_claims(), 0u);
  ASSERT_TRUE(one_->has_more_work());
  int claimed = 0;
  one_->submit(test::push("q0", "k"));
  one_->submit(test::claim("q0"), [&](const Result<core::Reply>& reply) {
    ASSERT_TRUE(reply);
    claimed += static_cast<int>(std::get<core::ClaimReply>(*reply).items.size());
  });
  one_->turn();
  while (one_->commit()) {
  }
  EXPECT_EQ(claimed, 1);
  EXPECT_TRUE(one_->has_more_work());
  EXPECT_GE(turns_until_done(), 5);
  EXPECT_EQ(served_ + empty_, 0);  // their callers have gone
}

TEST_F(ShardWaiting, WaitsThatEndTogetherAreAllAnsweredEmpty) {
  begin_claims();
  clock_.advance(60'000);
  EXPECT_GE(turns_until_done(), kClaims * kQueues / static_cast<int>(kSlice));
  EXPECT_EQ(empty_, kClaims);
  EXPECT_EQ(waiting_claims(), 0u);
}

TEST_F(ShardWaiting, AWakeUpOfManyServesEachInTheirOrder) {
  begin_claims();
  std::vector<std::string> keys;
  for (int i = 0; i < kClaims; ++i) keys.push_back("k" + std::to_string(i));
  one_->submit(test::push("q3", keys));
  one_->turn();  // messages due at once become ready in the next turn
  EXPECT_GE(turns_until_done(), kClaims * kQueues / static_cast<int>(kSlice));
  EXPECT_EQ(served_, kClaims);
  EXPECT_EQ(empty_, 0);
  EXPECT_EQ(waiting_claims(), 0u);
}

// A wait that has ended is not answered empty while a slice of wake-ups is still to come.
TEST_F(ShardWaiting, WhatFallsDueAtTheLastMomentIsStillDelivered) {
  begin_claims();
  std::vector<std::string> keys;
  for (int i = 0; i < kClaims; ++i) keys.push_back("k" + std::to_string(i));
  one_->submit(test::push("q3", keys, Due::after(std::chrono::minutes(1))));
  one_->settle();
  clock_.advance(60'001);
  turns_until_done();
  EXPECT_EQ(served_, kClaims);
  EXPECT_EQ(empty_, 0);
}

TEST_F(ShardWaiting, AStoreThatClosesAnswersAll) {
  begin_claims();
  int closed = 0;
  for (const OperationPtr& op : ops_) {
    op->completion = [&](Result<core::Reply> reply) {
      closed += !reply && reply.error().code == ErrorCode::closed ? 1 : 0;
    };
  }
  one_->close();
  EXPECT_EQ(closed, kClaims);
}

}  // namespace
}  // namespace tarry::embedded
