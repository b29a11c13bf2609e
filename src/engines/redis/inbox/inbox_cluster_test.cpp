// Inboxes in a cluster: an entry and its shard live on different nodes, and slots move.
#include <gtest/gtest.h>

#include "net/redis/protocol/redis_slot.h"
#include "support/inbox_rig.h"
#include "support/redis_cluster_servers.h"

namespace tarry::redis {
namespace {

using ClusterRig = tarry::testing::InboxRig;
using tarry::testing::RedisClusterServers;

class InboxClusterTest : public ::testing::Test {
 protected:
  InboxClusterTest() { engine_ = ClusterRig::open(options()); }

  [[nodiscard]] RedisEngineOptions options() {
    RedisEngineOptions options;
    for (std::size_t i = 0; i < servers_.masters(); ++i) {
      options.cluster.push_back({"127.0.0.1", servers_.server(i).port()});
    }
    options.shards = 3;
    return options;
  }

  [[nodiscard]] std::uint16_t slot_of(int partition) const {
    return net::redis_slot(ClusterRig::key(partition, "in"));
  }
  [[nodiscard]] std::size_t first_owner_of(int partition) const {
    return servers_.first_owner(slot_of(partition));
  }
  void add(int partition, std::size_t node, std::vector<std::string> fields) {
    std::vector<std::string> words = {"XADD", ClusterRig::key(partition, "in"), "*"};
    words.insert(words.end(), fields.begin(), fields.end());
    const std::string reply = servers_.ask(node, words);
    ASSERT_TRUE(reply.starts_with('$')) << reply;
  }
  void wait_until_drained(int partition, std::size_t node) {
    servers_.until(
        [&] { return servers_.ask(node, {"XLEN", ClusterRig::key(partition, "in")}) == ":0\r\n"; });
  }
  std::uint64_t accepted(const std::string& queue) {
    return ClusterRig::stats(*engine_, queue).counters.accepted;
  }

  RedisClusterServers servers_;
  std::unique_ptr<core::Engine> engine_;
};

TEST_F(InboxClusterTest, EntriesFindTheirQueuesOnOtherNodes) {
  for (int partition = 0; partition < 16; ++partition) {
    for (int i = 0; i < 30; ++i) {
      const std::string queue = "q" + std::to_string(i % 5);
      add(partition, first_owner_of(partition), {"queue", queue, "payload", "p"});
    }
    add(partition, first_owner_of(partition), {"queue", "q0", "wrong", "1"});
  }
  for (int partition = 0; partition < 16; ++partition) {
    wait_until_drained(partition, first_owner_of(partition));
    EXPECT_EQ(
        servers_.ask(first_owner_of(partition), {"XLEN", ClusterRig::key(partition, "in:bad")}),
        ":1\r\n");
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(accepted("q" + std::to_string(i)), 16u * 6) << i;
  }
}

// The partition has no shard, but its keys exist all the same. So no call gets TRYAGAIN while the
// slot has moved half-way.
TEST_F(InboxClusterTest, ASlotThatMovesTakesItsInboxAlong) {
  constexpr int kPartition = 9;
  const std::size_t from = first_owner_of(kPartition);
  const std::size_t to = (from + 1) % 3;
  add(kPartition, from, {"queue", "q", "payload", "before"});
  wait_until_drained(kPartition, from);
  const std::vector<std::string> keys = {"in", "in:bad", "in:by", "heads", "agenda"};
  servers_.begin_move(slot_of(kPartition), from, to);
  for (const std::string& key : keys) {
    EXPECT_EQ(servers_.ask(from, {"EXISTS", ClusterRig::key(kPartition, key)}), ":1\r\n") << key;
  }
  add(kPartition, from, {"queue", "q", "payload", "during"});
  wait_until_drained(kPartition, from);
  add(kPartition, from, {"queue", "q", "payload", "along"});
  for (const std::string& key : keys) {
    servers_.move_key(ClusterRig::key(kPartition, key), from, to);
  }
  // The inbox is drained during the move. No process knows of the move's end yet.
  servers_.until([&] { return accepted("q") == 3; });
  servers_.end_move(slot_of(kPartition), to);
  wait_until_drained(kPartition, to);
  add(kPartition, to, {"queue", "q", "payload", "after"});
  wait_until_drained(kPartition, to);
  EXPECT_EQ(accepted("q"), 4u);
  EXPECT_EQ(servers_.ask(to, {"XLEN", ClusterRig::key(kPartition, "in:bad")}), ":0\r\n");
}

// ---- errors about single nodes

TEST_F(InboxClusterTest, OneMasterThatThrowsKeysAwayIsRefusedByName) {
  servers_.expect_ok(2, {"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  auto opened = open_redis(options());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::invalid_argument);
  const std::string name = "127.0.0.1:" + std::to_string(servers_.server(2).port());
  EXPECT_NE(opened.error().message.find("Redis at " + name + " evicts keys"), std::string::npos)
      << opened.error().message;
  servers_.expect_ok(2, {"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  EXPECT_TRUE(open_redis(options()));
}

TEST_F(InboxClusterTest, EveryMasterKnowsTheScriptsOnceAStoreIsOpened) {
  for (std::size_t i = 0; i < servers_.masters(); ++i) {
    EXPECT_EQ(servers_.ask(i, {"SCRIPT", "FLUSH"}), "+OK\r\n");
  }
  ASSERT_TRUE(open_redis(options()));
  for (std::size_t i = 0; i < servers_.masters(); ++i) {
    const std::string told = servers_.ask(i, {"INFO", "memory"});
    const std::size_t at = told.find("number_of_cached_scripts:");
    ASSERT_NE(at, std::string::npos) << told;
    EXPECT_GT(std::stoi(told.substr(at + 25)), 30) << i;
  }
}

TEST_F(InboxClusterTest, AnErrorNamesTheNodeThatSpoke) {
  core::PushRequest push;
  push.queue = "q";
  for (int i = 0; i < 100; ++i) {
    push.items.emplace_back();
    push.items.back().key = core::append(push.bytes, "k" + std::to_string(i));
  }
  (void)ClusterRig::answer(*engine_, push);
  const std::size_t full = 1;
  servers_.expect_ok(full, {"CONFIG", "SET", "maxmemory", "1"});
  for (core::PushItem& item : push.items) item.if_exists = IfExists::replace;
  const auto reply = std::get<core::PushReply>(ClusterRig::answer(*engine_, push));
  servers_.expect_ok(full, {"CONFIG", "SET", "maxmemory", "0"});
  const std::string name = "127.0.0.1:" + std::to_string(servers_.server(full).port());
  int refused = 0;
  for (const core::PushResult& item : reply.items) {
    if (!item.error) continue;
    ++refused;
    EXPECT_EQ(item.error->message.find("Redis at " + name + " is full"), 0u) << item.error->message;
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 100);
}

}  // namespace
}  // namespace tarry::redis
