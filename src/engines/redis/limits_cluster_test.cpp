// Limits of queues in a cluster: one script cannot see shards in several slots, so a queue with
// limits has one shard.
#include <gtest/gtest.h>

#include <string>

#include "engines/redis/redis_engine.h"
#include "support/engine_calls.h"
#include "support/inbox_rig.h"
#include "support/redis_cluster_servers.h"

namespace tarry::redis {
namespace {

class LimitsInCluster : public ::testing::Test, protected test::EngineCalls {
 protected:
  [[nodiscard]] std::unique_ptr<core::Engine> open(std::uint32_t shards,
                                                   std::uint32_t partitions = 16) {
    RedisEngineOptions options;
    options.cluster.push_back({"127.0.0.1", servers_.server(0).port()});
    options.shards = shards;
    options.partitions = partitions;
    return testing::InboxRig::open(options);
  }
  static Result<core::Reply> limit(core::Engine& engine, std::uint32_t most) {
    core::ConfigureRequest request;
    request.queue = "q";
    request.patch.max_leased = most;
    return ask(engine, request);
  }
  static void expect_limit_of_one(core::Engine& engine) {
    core::PushRequest push;
    push.queue = "q";
    push.items.resize(5);
    for (core::PushItem& item : push.items) item.due = Due::after(Millis(0));
    (void)take<core::PushReply>(engine, push);
    core::ClaimRequest claim;
    claim.queues = {"q"};
    claim.max = 10;
    EXPECT_EQ(take<core::ClaimReply>(engine, claim).items.size(), 1u);
    EXPECT_TRUE(take<core::ClaimReply>(engine, claim).items.empty());
  }
  static void expect_refused(const Result<core::Reply>& reply, const std::string& why) {
    ASSERT_FALSE(reply) << "was taken";
    EXPECT_EQ(reply.error().code, ErrorCode::unsupported);
    EXPECT_EQ(reply.error().message, why);
  }
  // All of its steps, or the first error.
  static Result<core::Reply> reshard(core::Engine& engine, std::uint32_t shards) {
    std::uint64_t turn = 0;
    for (;;) {
      auto reply = ask(engine, core::ReshardRequest{"q", shards, turn});
      if (!reply || std::get<ReshardStep>(*reply).done) return reply;
      turn = std::get<ReshardStep>(*reply).turn;
    }
  }

  testing::RedisClusterServers servers_{3, 0};
};

TEST_F(LimitsInCluster, AreHeldByAQueueWithOneShard) {
  const auto engine = open(1);
  ASSERT_TRUE(limit(*engine, 1));
  expect_limit_of_one(*engine);
  expect_refused(
      reshard(*engine, 3),
      "in a Redis Cluster the shards of a queue with limits cannot be changed: set "
      "max_leased and rate of queue q to none, and set them again when the reshard is done");
}

TEST_F(LimitsInCluster, AreRefusedToAQueueWithMoreShards) {
  const auto engine = open(3);
  const std::string why =
      "in a Redis Cluster only a queue with 1 shard can have limits (max_leased, rate), and queue "
      "q "
      "has 3: give it 1 shard first, without limits (tarry queue reshard q 1)";
  expect_refused(limit(*engine, 1), why);
  core::StatsRequest names;
  names.names_only = true;
  EXPECT_TRUE(take<StoreStats>(*engine, names).queues.empty());  // the queue was not made
  ASSERT_TRUE(ask(*engine, push_of("q", Millis(3'600'000))));
  expect_refused(limit(*engine, 1), why);
  ASSERT_TRUE(limit(*engine, 0));
  ASSERT_TRUE(reshard(*engine, 1));
  ASSERT_TRUE(limit(*engine, 1));
  expect_limit_of_one(*engine);
}

TEST_F(LimitsInCluster, AreHeldByAnyQueueOfAStoreWithOnePartition) {
  const auto engine = open(3, 1);
  ASSERT_TRUE(limit(*engine, 1));
  expect_limit_of_one(*engine);
}

}  // namespace
}  // namespace tarry::redis
