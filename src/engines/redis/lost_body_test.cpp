// Bodies that another program has deleted: only their own messages may suffer, and no script may
// stop half-way.
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

class LostBody : public ::testing::Test, public testing::OneRedisEngine {
 protected:
  LostBody() {
    core::ConfigureRequest configure;
    configure.queue = "q";
    configure.patch.remember = 1h;
    (void)take<core::ConfigureReply>(*engine_, configure);
  }

  void push(std::string_view key, std::uint32_t priority = kDefaultPriority, Due due = {}) {
    core::PushRequest request;
    request.queue = "q";
    core::PushItem item;
    item.priority = priority;
    item.due = due;
    item.key = core::append(request.bytes, key);
    request.items.push_back(item);
    EXPECT_EQ(take<core::PushReply>(*engine_, std::move(request)).items.at(0).outcome,
              Outcome::pushed);
  }
  core::ClaimReply claim() {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.max = 10;
    request.lease = 1s;
    return take<core::ClaimReply>(*engine_, request);
  }
  Outcome settled(const core::ClaimReply& claimed, core::SettleAction action) {
    core::SettleRequest request;
    core::SettleItem item;
    item.receipt =
        core::append(request.bytes, core::view(claimed.bytes, claimed.items.at(0).receipt));
    item.action = action;
    request.items.push_back(item);
    const auto reply = take<core::ItemsReply>(*engine_, std::move(request));
    EXPECT_FALSE(reply.items.at(0).error) << reply.items.at(0).error->message;
    return reply.items.at(0).outcome;
  }
  void lose(const std::string& key) {
    ASSERT_EQ(server_.ask({"HDEL", "tarry:{1}:q/0:msgs", key}), ":1\r\n");
  }
  void expect_no_lease() {
    EXPECT_EQ(server_.ask({"HLEN", "tarry:{1}:q/0:leased"}), ":1\r\n");
    EXPECT_EQ(server_.ask({"HLEN", "tarry:{1}:q/0:claims"}), ":1\r\n");
    EXPECT_EQ(server_.ask({"ZCARD", "tarry:{1}:q/0:leases"}), ":1\r\n");
  }
};

TEST_F(LostBody, OfOneThatIsStoppingDoesNotStopTheQueueWhenItsLeaseRunsOut) {
  push("a");
  ASSERT_EQ(claim().items.size(), 1u);
  core::CancelRequest cancel;
  cancel.queue = "q";
  cancel.keys.push_back(core::append(cancel.bytes, "a"));
  ASSERT_EQ(take<core::ItemsReply>(*engine_, std::move(cancel)).items.at(0).outcome,
            Outcome::stopping);
  lose("a");
  clock_->advance(2'000);
  push("b");
  EXPECT_EQ(claim().items.size(), 1u);
  core::StatsRequest stats;
  stats.queue = "q";
  EXPECT_EQ(take<StoreStats>(*engine_, stats).queues.at(0).counters.cancelled, 1u);
}

TEST_F(LostBody, OfOneThatIsAckedIsNotRemembered) {
  push("a");
  const auto claimed = claim();
  lose("a");
  EXPECT_EQ(settled(claimed, core::SettleAction::ack), Outcome::done);
  expect_no_lease();
  push("a");
}

TEST_F(LostBody, LeavesNothingToGoOnWith) {
  for (const core::SettleAction action :
       {core::SettleAction::retry, core::SettleAction::release, core::SettleAction::bury}) {
    push("a");
    const auto claimed = claim();
    lose("a");
    EXPECT_EQ(settled(claimed, action), Outcome::stale);
    expect_no_lease();
  }
}

TEST_F(LostBody, OfAnotherPriorityIsPassedOver) {
  for (const std::string key : {"a", "b", "c"}) push(key, 5, in(1s));
  lose("a");
  clock_->advance(2'000);
  EXPECT_EQ(claim().items.size(), 2u);
  EXPECT_EQ(server_.ask({"ZCARD", "tarry:{1}:q/0:odd"}), ":1\r\n");
  core::StatsRequest stats;
  stats.queue = "q";
  EXPECT_FALSE(take<StoreStats>(*engine_, stats).queues.at(0).oldest_ready);
}

TEST_F(LostBody, AReviveOfAllDoesNotTurnInOneThatIsInTwoPlaces) {
  push("a");
  ASSERT_EQ(server_.ask({"ZADD", "tarry:{1}:q/0:dead", "99999999999999", "a"}), ":1\r\n");
  core::ReviveRequest revive;
  revive.queue = "q";
  revive.all = true;
  std::promise<Result<core::Reply>> promise;
  auto revived = promise.get_future();
  engine_->submit(revive, [&](Result<core::Reply> reply) { promise.set_value(std::move(reply)); });
  const bool answered = revived.wait_for(20s) == std::future_status::ready;
  engine_->close();
  ASSERT_TRUE(answered);
  EXPECT_EQ(std::get<core::CountReply>(*revived.get()).count, 0u);
}

}  // namespace
}  // namespace tarry::redis
