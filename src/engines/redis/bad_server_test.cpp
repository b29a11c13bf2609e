// Servers that are loading, read-only or full, slots without a server, and other programs' values
// under our names: one clear line each, and nothing half done.
#include <future>
#include <map>

#include <gtest/gtest.h>

#include "net/redis/protocol/redis_slot.h"
#include "support/inbox_rig.h"
#include "support/redis_cluster_servers.h"

namespace tarry::redis {
namespace {

using BadRig = tarry::testing::InboxRig;
using tarry::testing::RedisClusterServers;
using tarry::testing::RedisServer;

std::string opening_refused(RedisEngineOptions options) {
  const auto engine = open_redis(std::move(options));
  if (engine) return "opened";
  EXPECT_EQ(engine.error().message.find('\n'), std::string::npos) << engine.error().message;
  return std::string(to_string(engine.error().code)) + ": " + engine.error().message;
}

Result<core::Reply> reply_of(core::Engine& engine, core::Request request) {
  auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
  auto future = promise->get_future();
  engine.submit(std::move(request),
                [promise](Result<core::Reply> reply) { promise->set_value(std::move(reply)); });
  return future.get();
}

std::string said(const Error& error) {
  EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
  return std::string(to_string(error.code)) + ": " + error.message;
}

std::string push_one(core::Engine& engine, const std::string& key, const std::string& queue = "q") {
  core::PushRequest push;
  push.queue = queue;
  push.items.emplace_back();
  push.items[0].key = core::append(push.bytes, key);
  const auto reply = reply_of(engine, std::move(push));
  if (!reply) return said(reply.error());
  const core::PushResult& item = std::get<core::PushReply>(*reply).items.at(0);
  return item.error ? said(*item.error) : std::string(to_string(item.outcome));
}

std::string claim_one(core::Engine& engine, std::int64_t wait_ms = 0,
                      std::int64_t lease_ms = 60'000, const std::string& queue = "q") {
  core::ClaimRequest claim;
  claim.queues = {queue};
  claim.wait = Millis(wait_ms);
  claim.lease = Millis(lease_ms);
  const auto reply = reply_of(engine, std::move(claim));
  if (!reply) return said(reply.error());
  const auto& claimed = std::get<core::ClaimReply>(*reply);
  return claimed.items.empty() ? "" : std::string(core::view(claimed.bytes, claimed.items[0].key));
}

std::string cancel_one(core::Engine& engine, const std::string& key) {
  core::CancelRequest cancel;
  cancel.queue = "q";
  cancel.keys.push_back(core::append(cancel.bytes, key));
  const auto reply = reply_of(engine, std::move(cancel));
  if (!reply) return said(reply.error());
  const core::ItemResult& item = std::get<core::ItemsReply>(*reply).items.at(0);
  return item.error ? said(*item.error) : std::string(to_string(item.outcome));
}

constexpr std::int64_t kMinute = 60'000;

TEST(BadServer, OneThatIsLoadingIsWaitedForByNobodyAndServesThen) {
  BadRig rig({"--key-load-delay", "2000", "--loading-process-events-interval-bytes", "1024"});
  const auto engine = rig.open();
  ASSERT_EQ(push_one(*engine, "k"), "pushed");
  (void)rig.ask({"EVAL",
                 "for i = 1, 20000 do redis.call('SET', i, string.rep('x', 100)) end return 'ok'",
                 "0"});
  (void)rig.ask({"SAVE"});
  rig.server().kill9();
  rig.server().start_loading();
  const std::string refused = opening_refused(rig.options());
  EXPECT_TRUE(refused.starts_with("unavailable: Redis at ")) << refused;
  EXPECT_TRUE(refused.ends_with(" is loading its dataset")) << refused;
  const std::string away = claim_one(*engine, kMinute);
  EXPECT_TRUE(away.starts_with("unavailable: ") || away.starts_with("unknown_outcome: ")) << away;
  ASSERT_EQ(rig.server().ask({"CONFIG", "SET", "key-load-delay", "0"}), "+OK\r\n");
  std::string claimed;
  do {
    claimed = claim_one(*engine, kMinute);
  } while (claimed.starts_with("unavailable: ") || claimed.starts_with("unknown_outcome: "));
  EXPECT_EQ(claimed, "k");
}

TEST(BadServer, AReplicaIsReadOnlyAndKeepsWhatItHas) {
  BadRig rig;
  const auto engine = rig.open();
  ASSERT_EQ(push_one(*engine, "k"), "pushed");
  const std::string nobody = std::to_string(RedisServer::free_port());
  (void)rig.ask({"REPLICAOF", "127.0.0.1", nobody});
  BadRig without_store;
  (void)without_store.ask({"REPLICAOF", "127.0.0.1", nobody});
  for (const std::string& refused :
       {opening_refused(without_store.options()), push_one(*engine, "l"),
        claim_one(*engine, kMinute), cancel_one(*engine, "k")}) {
    EXPECT_TRUE(refused.starts_with("unavailable: Redis at ")) << refused;
    EXPECT_NE(refused.find(" is a read-only replica: "), std::string::npos) << refused;
  }
  (void)rig.ask({"REPLICAOF", "NO", "ONE"});
  EXPECT_EQ(claim_one(*engine), "k");
  EXPECT_EQ(push_one(*engine, "l"), "pushed");
}

TEST(BadServer, AFullOneGetsNoHalfOfAStore) {
  BadRig rig({"--maxmemory", "1"});
  const std::string refused = opening_refused(rig.options());
  EXPECT_TRUE(refused.starts_with("no_space: Redis at ")) << refused;
  EXPECT_NE(refused.find(" is full (maxmemory); nothing was done"), std::string::npos) << refused;
  EXPECT_EQ(rig.ask({"DBSIZE"}), ":0\r\n");
}

TEST(BadServer, OneQueueTooManyIsNotMade) {
  BadRig rig;
  const auto engine = rig.open();
  ASSERT_EQ(push_one(*engine, "k"), "pushed");
  (void)rig.ask({"EVAL", "for i = 1, ARGV[1] do redis.call('HSET', KEYS[1], 'o' .. i, '') end", "1",
                 BadRig::key(0, "queues"), std::to_string(core::kMaxQueues - 1)});
  const std::string refused = push_one(*engine, "k", "other");
  EXPECT_TRUE(refused.starts_with("no_space: Redis at ")) << refused;
  EXPECT_NE(refused.find(" has its limit of 100000 queues; none was made"), std::string::npos)
      << refused;
  EXPECT_EQ(rig.ask({"HEXISTS", BadRig::key(0, "queues"), "other"}), ":0\r\n");
  EXPECT_EQ(push_one(*engine, "l"), "pushed");
  (void)rig.ask({"HDEL", BadRig::key(0, "queues"), "o1"});
  EXPECT_EQ(push_one(*engine, "k", "other"), "pushed");
}

// ---- what others wrote under our names

TEST(BadServer, FieldsThatAreNotOursAreNamedBeforeAnythingIsDone) {
  BadRig rig;
  const auto engine = rig.open();
  ASSERT_EQ(push_one(*engine, "k"), "pushed");
  const std::string meta = BadRig::key(1, "q/0:meta");
  const std::string settings = rig.ask({"HGET", meta, "settings"});
  for (const std::string field : {"settings", "largest", "watched", "paused", "bulk"}) {
    (void)rig.ask({"HSET", meta, field, "nonsense"});
    for (const std::string& refused :
         {push_one(*engine, "l"), claim_one(*engine), cancel_one(*engine, "k")}) {
      EXPECT_TRUE(refused.starts_with("damaged: Redis at ")) << field << ": " << refused;
      EXPECT_NE(refused.find(meta), std::string::npos) << refused;
      EXPECT_NE(refused.find(field + " nonsense"), std::string::npos) << refused;
    }
    EXPECT_EQ(rig.ask({"HEXISTS", BadRig::key(1, "q/0:msgs"), "l"}), ":0\r\n") << field;
    EXPECT_EQ(rig.ask({"HLEN", BadRig::key(1, "q/0:leased")}), ":1\r\n") << field;
    (void)rig.ask({"HDEL", meta, field});
    (void)rig.ask({"HSET", meta, "settings", settings});
  }
  EXPECT_EQ(claim_one(*engine), "k");
}

TEST(BadServer, ACounterThatIsNoneMakesNoErrorOfWhatIsDone) {
  BadRig rig;
  const auto engine = rig.open();
  ASSERT_EQ(push_one(*engine, "k"), "pushed");
  (void)rig.ask({"HSET", BadRig::key(1, "q/0:meta"), "accepted", "many"});
  EXPECT_EQ(push_one(*engine, "l"), "pushed");
  EXPECT_EQ(cancel_one(*engine, "l"), "cancelled");
}

TEST(BadServer, IdsThatAreNoneAreNamed) {
  BadRig rig;
  const auto engine = rig.open();
  (void)rig.ask({"HSET", BadRig::key(0, "store"), "ids", "some"});
  const std::string refused = push_one(*engine, "");
  EXPECT_TRUE(refused.starts_with("damaged: Redis at ")) << refused;
  EXPECT_NE(refused.find("tarry:{0}:store ids some"), std::string::npos) << refused;
}

// LEASED still tells which messages were claimed. They are delivered again once their lease has run
// out.
TEST(BadServer, AClaimThatDoesNotUnpackEndsAsOthersDo) {
  BadRig rig;
  const auto engine = rig.open();
  for (const char* key : {"k", "l"}) ASSERT_EQ(push_one(*engine, key), "pushed");
  core::ClaimRequest claim;
  claim.queues = {"q"};
  claim.max = 2;
  claim.wait = Millis(kMinute);
  std::uint32_t attempt = 0;
  for (const std::string text : {"nonsense", "\xc1", "\x01\x02"}) {
    const auto reply = std::get<core::ClaimReply>(BadRig::answer(*engine, claim));
    ASSERT_EQ(reply.items.size(), 2u) << text;
    ++attempt;
    for (const core::ClaimedItem& item : reply.items) EXPECT_EQ(item.attempt, attempt);
    EXPECT_EQ(rig.ask({"EVAL",
                       "local n = 0 for _, f in ipairs(redis.call('HKEYS', KEYS[1])) do "
                       "if string.match(f, '^%d') then redis.call('HSET', KEYS[1], f, ARGV[1]) "
                       "redis.call('ZADD', KEYS[2], 1, f) n = n + 1 end end "
                       "redis.call('HSET', KEYS[3], 'agenda', 1) return n",
                       "3", BadRig::key(1, "q/0:claims"), BadRig::key(1, "q/0:leases"),
                       BadRig::key(1, "q/0:meta"), text}),
              ":1\r\n");
  }
}

TEST(BadServer, WhatKeepsTheSweepFromAPartitionIsLoggedOnce) {
  BadRig rig;
  const auto engine = rig.open();
  ASSERT_EQ(push_one(*engine, "k"), "pushed");
  for (const int partition : {2, 3}) {
    (void)rig.ask({"DEL", BadRig::key(partition, "agenda")});
    (void)rig.ask({"SET", BadRig::key(partition, "agenda"), "mine"});
  }
  rig.wait_for_line("the sweep fails, and due messages may be late: Redis at ");
  EXPECT_EQ(claim_one(*engine), "k");
  for (const int partition : {2, 3}) (void)rig.ask({"DEL", BadRig::key(partition, "agenda")});
  rig.wait_for_line("the sweep works again");
  const std::string lines = rig.lines();
  EXPECT_NE(lines.find("WRONGTYPE"), std::string::npos) << lines;
  EXPECT_EQ(lines.find("the sweep fails"), lines.rfind("the sweep fails")) << lines;
}

TEST(BadServer, AShardThatTimeCannotPassIsLogged) {
  BadRig rig;
  const auto engine = rig.open();
  ASSERT_EQ(push_one(*engine, "k"), "pushed");
  ASSERT_EQ(claim_one(*engine, 0, 1), "k");
  const std::string dead = BadRig::key(1, "q/0:dead");
  (void)rig.ask({"DEL", dead});
  (void)rig.ask({"SET", dead, "mine"});
  rig.wait_for_line("the sweep fails, and due messages may be late: Redis at ");
  (void)rig.ask({"DEL", dead});
  (void)rig.ask({"ZADD", dead, "+inf", ""});
  rig.wait_for_line("the sweep works again");
  EXPECT_EQ(claim_one(*engine, kMinute), "k");
}

// ---- slots that nobody serves

class UncoveredSlots : public ::testing::Test {
 protected:
  static std::uint16_t slot_of(int partition) {
    return net::redis_slot(BadRig::key(partition, "in"));
  }
  static RedisEngineOptions options(RedisClusterServers& servers) {
    RedisEngineOptions options;
    options.cluster.push_back({"127.0.0.1", servers.server(0).port()});
    return options;
  }
  static void uncover(RedisClusterServers& servers, int partition) {
    for (std::size_t i = 0; i < servers.masters(); ++i) {
      (void)servers.ask(i, {"CLUSTER", "DELSLOTS", std::to_string(slot_of(partition))});
    }
  }
};

TEST_F(UncoveredSlots, OneQueueIsAwayAndTheOthersGoOn) {
  RedisClusterServers servers(1, 0, {"--cluster-require-full-coverage", "no"});
  const auto opened = open_redis(options(servers));
  ASSERT_TRUE(opened) << opened.error().message;
  core::Engine& engine = **opened;
  ASSERT_EQ(push_one(engine, "k"), "pushed");
  ASSERT_EQ(push_one(engine, "k", "other"), "pushed");
  uncover(servers, 1);
  for (const std::string& refused : {push_one(engine, "l"), claim_one(engine, kMinute)}) {
    EXPECT_TRUE(refused.starts_with("unavailable: ")) << refused;
    EXPECT_NE(refused.find("slot"), std::string::npos) << refused;
  }
  EXPECT_EQ(claim_one(engine, 0, kMinute, "other"), "k");
  uncover(servers, 0);
  const std::string refused = opening_refused(options(servers));
  EXPECT_TRUE(refused.starts_with("unavailable: ")) << refused;
  EXPECT_NE(refused.find("slot"), std::string::npos) << refused;
}

TEST_F(UncoveredSlots, AClusterThatWantsThemAllSaysThatItIsDown) {
  RedisClusterServers servers(1);
  const auto opened = open_redis(options(servers));
  ASSERT_TRUE(opened) << opened.error().message;
  core::Engine& engine = **opened;
  ASSERT_EQ(push_one(engine, "k"), "pushed");
  uncover(servers, 9);
  servers.until([&] {
    return servers.ask(0, {"CLUSTER", "INFO"}).find("cluster_state:fail") != std::string::npos;
  });
  for (const std::string& refused :
       {push_one(engine, "l"), claim_one(engine, kMinute), opening_refused(options(servers))}) {
    EXPECT_TRUE(refused.starts_with("unavailable: ")) << refused;
    EXPECT_NE(refused.find(" says that the cluster is down: CLUSTERDOWN "), std::string::npos)
        << refused;
  }
  servers.expect_ok(0, {"CLUSTER", "ADDSLOTS", std::to_string(slot_of(9))});
  servers.until([&] { return claim_one(engine) == "k"; });
}

}  // namespace
}  // namespace tarry::redis
