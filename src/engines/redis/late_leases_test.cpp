// More leases have run out than one call ends (scripts/place.lua's `apply_time`): the requested
// message must be found as if all had been ended.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

class LateLeases : public ::testing::Test, public testing::OneRedisEngine {
 protected:
  static constexpr std::uint32_t kClaims = 30;  // a call ends 20 leases
  static constexpr std::int64_t kLeaseMs = 1'000;

  LateLeases() {
    core::PushRequest push;
    push.queue = "q";
    for (std::uint32_t i = 0; i < kClaims; ++i) {
      core::PushItem item;
      item.key = core::append(push.bytes, "k" + std::to_string(i));
      push.items.push_back(item);
    }
    (void)take<core::PushReply>(*engine_, std::move(push));
    core::ClaimRequest claim;
    claim.queues = {"q"};
    claim.max = 1;
    claim.lease = Millis(kLeaseMs);
    for (std::uint32_t i = 0; i < kClaims; ++i) {
      claims_.push_back(take<core::ClaimReply>(*engine_, claim));
      clock_->advance(1);  // so that the last claim's lease ends last
    }
    clock_->advance(3 * kLeaseMs);
  }

  [[nodiscard]] std::string_view receipt() const {
    return core::view(claims_.back().bytes, claims_.back().items.at(0).receipt);
  }
  template <typename Request>
  Request of_last_key() const {
    Request request;
    request.queue = "q";
    const auto key = core::view(claims_.back().bytes, claims_.back().items.at(0).key);
    request.keys.push_back(core::append(request.bytes, key));
    return request;
  }
  Outcome settled(core::SettleAction action) {
    core::SettleRequest request;
    core::SettleItem item;
    item.receipt = core::append(request.bytes, receipt());
    item.action = action;
    request.items.push_back(item);
    return take<core::ItemsReply>(*engine_, std::move(request)).items.at(0).outcome;
  }
  QueueStats stats() {
    core::StatsRequest request;
    request.queue = "q";
    return take<StoreStats>(*engine_, request).queues.at(0);
  }

  std::vector<core::ClaimReply> claims_;
};

TEST_F(LateLeases, AnAckIsStale) { EXPECT_EQ(settled(core::SettleAction::ack), Outcome::stale); }

TEST_F(LateLeases, ARetryIsStale) { EXPECT_EQ(settled(core::SettleAction::retry), Outcome::stale); }

TEST_F(LateLeases, AnExtensionRevivesNoDeadLease) {
  core::ExtendRequest request;
  core::ExtendItem item;
  item.receipt = core::append(request.bytes, receipt());
  item.lease = Millis(60'000);
  request.items.push_back(item);
  EXPECT_EQ(take<core::ItemsReply>(*engine_, std::move(request)).items.at(0).outcome,
            Outcome::stale);
  EXPECT_EQ(stats().leased, 0u);
}

TEST_F(LateLeases, ACancelFindsItReadyAndTheBooksBalance) {
  const auto reply = take<core::ItemsReply>(*engine_, of_last_key<core::CancelRequest>());
  EXPECT_EQ(reply.items.at(0).outcome, Outcome::cancelled);
  const QueueStats after = stats();
  EXPECT_EQ(after.leased, 0u);
  EXPECT_EQ(after.ready, kClaims - 1);
  EXPECT_EQ(after.counters.run_outs, kClaims);
  EXPECT_EQ(after.counters.cancelled, 1u);
  EXPECT_EQ(server_.ask({"ZCARD", "tarry:{1}:q/0:leases"}), ":1\r\n");
  EXPECT_EQ(server_.ask({"HLEN", "tarry:{1}:q/0:claims"}), ":1\r\n");
}

TEST_F(LateLeases, AGetAndAListShowThemReady) {
  const auto got = take<core::GetReply>(*engine_, of_last_key<core::GetRequest>());
  EXPECT_EQ(got.items.at(0)->state, State::ready);
  core::ListRequest list;
  list.queue = "q";
  list.state = State::leased;
  EXPECT_TRUE(take<core::ListReply>(*engine_, list).messages.empty());
  list.state.reset();
  const auto listed = take<core::ListReply>(*engine_, list).messages;
  EXPECT_EQ(listed.size(), kClaims);
  for (const MessageInfo& item : listed) EXPECT_EQ(item.state, State::ready) << item.key;
}

}  // namespace
}  // namespace tarry::redis
