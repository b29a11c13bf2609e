// RedisCluster against real clusters of Debian's redis-server.
#include "net/redis/redis_cluster.h"

#include <gtest/gtest.h>

#include "net/redis/protocol/redis_slot.h"
#include "support/redis_cluster_servers.h"
#include "support/redis_rig.h"

namespace tarry::net {
namespace {

using tarry::testing::RedisClusterServers;
using tarry::testing::RedisRig;
using tarry::testing::RedisServer;

// One key in each third of the slots, and so on each master.
const std::string kFirst = "{b}k";   // slot 3300
const std::string kSecond = "{c}k";  // slot 7365
const std::string kThird = "{a}k";   // slot 15495

class RedisClusterTest : public ::testing::Test {
 protected:
  static RedisClusterServers& servers() {
    static RedisClusterServers started(3, 1);
    return started;
  }
  void SetUp() override {
    if (!needs_servers()) return;
    servers().clear();
    open({{"127.0.0.1", servers().server(0).port()}});
  }
  virtual bool needs_servers() const { return true; }
  void open(std::vector<RedisAddress> seeds, RedisOptions options = {}) {
    rig_.open_cluster(std::move(seeds), std::move(options));
  }

  testing::Inbox inbox_;  // outlives the rig, whose thread puts into it
  RedisRig rig_;
};

TEST_F(RedisClusterTest, CommandsGoWhereTheirKeyLives) {
  ASSERT_EQ(servers().first_owner(redis_slot(kFirst)), 0u);
  ASSERT_EQ(servers().first_owner(redis_slot(kSecond)), 1u);
  ASSERT_EQ(servers().first_owner(redis_slot(kThird)), 2u);
  for (const std::string& key : {kFirst, kSecond, kThird}) {
    EXPECT_EQ(rig_.ask({"SET", key, "1"}), "OK");
    EXPECT_EQ(rig_.ask({"INCR", key}), "(2)");
  }
  EXPECT_EQ(servers().ask(1, {"GET", kSecond}), "$1\r\n2\r\n");
  EXPECT_EQ(rig_.ask({"PING"}), "PONG");
}

TEST_F(RedisClusterTest, OneNodeThatAnswersIsEnough) {
  const std::uint16_t nobody = RedisServer::free_port();
  open({{"127.0.0.1", nobody}, {"127.0.0.1", servers().server(2).port()}});
  EXPECT_EQ(rig_.ask({"SET", kFirst, "1"}), "OK");
}

TEST_F(RedisClusterTest, ATransactionGoesToOneNode) {
  EXPECT_EQ(RedisRig::text_of(
                rig_.send_batch({{"MULTI"}, {"SET", kSecond, "5"}, {"INCR", kSecond}, {"EXEC"}})),
            "(array of 2)");
}

TEST_F(RedisClusterTest, SeveralSlotsInOneCommandAreRefused) {
  EXPECT_TRUE(rig_.ask({"MGET", kFirst, kSecond}).starts_with("!CROSSSLOT"));
}

TEST_F(RedisClusterTest, FollowsASlotStepByStep) {
  const std::uint16_t slot = redis_slot(kFirst);
  const std::string other = "{b}other";
  ASSERT_EQ(rig_.ask({"SET", kFirst, "1"}), "OK");
  ASSERT_EQ(rig_.ask({"SET", other, "1"}), "OK");
  servers().begin_move(slot, 0, 1);
  EXPECT_EQ(rig_.ask({"INCR", kFirst}), "(2)");  // the key is still on node 0
  servers().move_key(kFirst, 0, 1);
  EXPECT_EQ(rig_.ask({"INCR", kFirst}), "(3)");  // by an ASK
  EXPECT_EQ(rig_.ask({"INCR", other}), "(2)");
  EXPECT_EQ(RedisRig::text_of(rig_.send_batch({{"MULTI"}, {"INCR", other}, {"EXEC"}})),
            "(array of 1)");
  EXPECT_TRUE(RedisRig::text_of(rig_.send_batch({{"MULTI"}, {"INCR", kFirst}, {"EXEC"}}))
                  .starts_with("!EXECABORT"));
  auto both = rig_.send({"MGET", kFirst, other});  // TRYAGAIN, until both keys are on the same node
  rig_.flush();
  servers().move_key(other, 0, 1);
  EXPECT_EQ(RedisRig::text_of(std::move(both)), "(array of 2)");
  servers().end_move(slot, 1);
  EXPECT_EQ(rig_.ask({"INCR", kFirst}), "(4)");  // by a MOVED
  EXPECT_EQ(servers().ask(1, {"GET", kFirst}), "$1\r\n4\r\n");

  servers().begin_move(slot, 1, 0);
  servers().move_key(kFirst, 1, 0);
  servers().move_key(other, 1, 0);
  servers().end_move(slot, 0);
  EXPECT_EQ(rig_.ask({"INCR", kFirst}), "(5)");
}

// How many errors of this kind the node has sent.
int errors_of(const RedisClusterServers& servers, std::size_t node, const std::string& kind) {
  const std::string told = servers.ask(node, {"INFO", "errorstats"});
  const std::string field = "errorstat_" + kind + ":count=";
  const std::size_t at = told.find(field);
  return at == std::string::npos ? 0 : std::stoi(told.substr(at + field.size()));
}

TEST_F(RedisClusterTest, IsRedirectedOnceAndKnowsItThen) {
  const std::uint16_t slot = redis_slot(kFirst);
  ASSERT_EQ(rig_.ask({"SET", kFirst, "1"}), "OK");
  servers().begin_move(slot, 0, 1);
  servers().move_key(kFirst, 0, 1);
  const int refused = errors_of(servers(), 1, "MOVED");
  EXPECT_EQ(rig_.ask({"INCR", kFirst}), "(2)");
  EXPECT_EQ(errors_of(servers(), 1, "MOVED"), refused);  // the client sent ASKING first
  servers().end_move(slot, 1);
  const int moved = errors_of(servers(), 0, "MOVED");
  EXPECT_EQ(rig_.ask({"INCR", kFirst}), "(3)");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rig_.ask({"GET", kFirst}), "3");
  // The first MOVED has corrected the client's map.
  EXPECT_EQ(errors_of(servers(), 0, "MOVED"), moved + 1);
  servers().begin_move(slot, 1, 0);
  servers().move_key(kFirst, 1, 0);
  servers().end_move(slot, 0);
}

TEST_F(RedisClusterTest, KeysThatStayApartAreAnErrorInTheEnd) {
  const std::uint16_t slot = redis_slot(kFirst);
  RedisOptions options;
  options.command_timeout_ms = 300;
  open({{"127.0.0.1", servers().server(0).port()}}, options);
  ASSERT_EQ(rig_.ask({"MSET", kFirst, "1", "{b}other", "1"}), "OK");
  servers().begin_move(slot, 0, 1);
  servers().move_key(kFirst, 0, 1);
  EXPECT_TRUE(rig_.ask({"MGET", kFirst, "{b}other"}).starts_with("!TRYAGAIN"));
  servers().move_key("{b}other", 0, 1);
  servers().end_move(slot, 1);
  servers().begin_move(slot, 1, 0);
  servers().move_key(kFirst, 1, 0);
  servers().move_key("{b}other", 1, 0);
  servers().end_move(slot, 0);
}

TEST_F(RedisClusterTest, HearsShardedChannelsOfEveryNode) {
  rig_.run([&] {
    rig_.client().subscribe(
        RedisChannels::sharded, {"{a}wake", "{b}wake", "{c}wake"},
        [&](std::string_view channel, std::string_view message) {
          inbox_.put(std::string(channel) + "=" + std::string(message));
        },
        [&] { inbox_.put("subscribed"); });
  });
  for (int i = 0; i < 3; ++i) ASSERT_EQ(inbox_.next(), "subscribed");
  for (const std::string channel : {"{a}wake", "{b}wake", "{c}wake"}) {
    EXPECT_EQ(rig_.ask({"SPUBLISH", channel, "x"}), "(1)");
    EXPECT_EQ(inbox_.next(), channel + "=x");
  }
  // When a slot moves, its channel moves too.
  const std::uint16_t slot = redis_slot("{b}wake");
  servers().begin_move(slot, 0, 1);
  servers().end_move(slot, 1);
  EXPECT_EQ(rig_.ask({"GET", kFirst}), "(nil)");  // the client learns of the move by a MOVED
  ASSERT_EQ(inbox_.next(), "subscribed");
  servers().until([&] { return rig_.ask({"SPUBLISH", "{b}wake", "y"}) == "(1)"; });
  std::string heard = inbox_.next();
  while (heard == "subscribed") heard = inbox_.next();
  EXPECT_EQ(heard, "{b}wake=y");
  servers().begin_move(slot, 1, 0);
  servers().end_move(slot, 0);
  rig_.run([&] { rig_.destroy_now(); });
}

TEST_F(RedisClusterTest, HearsPlainChannels) {
  rig_.run([&] {
    rig_.client().subscribe(
        RedisChannels::plain, {"{a}wake", "{b}wake"},
        [&](std::string_view channel, std::string_view message) {
          inbox_.put(std::string(channel) + "=" + std::string(message));
        },
        [&] { inbox_.put("subscribed"); });
  });
  ASSERT_EQ(inbox_.next(), "subscribed");
  (void)rig_.ask({"PUBLISH", "{b}wake", "x"});
  EXPECT_EQ(inbox_.next(), "{b}wake=x");
  rig_.run([&] { rig_.destroy_now(); });
}

class RedisClusterFault : public RedisClusterTest {
  bool needs_servers() const override { return false; }
};

TEST_F(RedisClusterFault, FollowsAFailover) {
  RedisClusterServers own(3, 1);
  open({{"127.0.0.1", own.server(1).port()}});
  ASSERT_EQ(rig_.ask({"SET", kFirst, "1"}), "OK");
  const auto before = [&] {
    std::uint64_t connections = 0;
    rig_.run([&] { connections = rig_.client().connections(); });
    return connections;
  };
  const std::uint64_t connections = before();
  own.fail_over(3);
  EXPECT_EQ(rig_.ask_until_answered({"INCR", kFirst}), "(2)");
  EXPECT_GT(before(), connections);
  // A crash has the same effect as a failover: server 0, which is a replica now, takes over again.
  own.wait_until_follows(0);
  own.server(3).kill9();
  own.until([&] { return rig_.ask({"INCR", kFirst}).starts_with("("); });
  EXPECT_EQ(rig_.ask({"SET", kSecond, "1"}), "OK");
}

TEST_F(RedisClusterFault, SlotsThatNobodyServesAreSaidSo) {
  RedisClusterServers own(2, 0, {"--cluster-require-full-coverage", "no"});
  const std::uint16_t slot = redis_slot(kFirst);
  own.expect_ok(0, {"CLUSTER", "DELSLOTS", std::to_string(slot)});
  own.expect_ok(1, {"CLUSTER", "DELSLOTS", std::to_string(slot)});
  open({{"127.0.0.1", own.server(0).port()}});
  const std::string said = rig_.ask({"GET", kFirst});
  EXPECT_NE(said.find("serves slot " + std::to_string(slot)), std::string::npos) << said;
  EXPECT_EQ(rig_.ask({"SET", kSecond, "1"}), "OK");
}

TEST_F(RedisClusterFault, ANodeThatKnowsNoOthersIsNotBelieved) {
  RedisClusterServers own(2);
  const RedisServer fresh(
      {"--cluster-enabled", "yes", "--cluster-port", std::to_string(RedisServer::free_port())});
  open({{"127.0.0.1", fresh.port()}, {"127.0.0.1", own.server(1).port()}});
  EXPECT_EQ(rig_.ask({"SET", kFirst, "1"}), "OK");
  open({{"127.0.0.1", fresh.port()}});
  const std::string said = rig_.ask({"SET", kFirst, "1"});
  EXPECT_NE(said.find("serves any slot"), std::string::npos) << said;
}

TEST_F(RedisClusterFault, NobodyThere) {
  const std::uint16_t nobody = RedisServer::free_port();
  open({{"127.0.0.1", nobody}});
  const RedisFailure failure = RedisRig::failure_of(rig_.send({"GET", kFirst}));
  EXPECT_EQ(failure.error.code, ErrorCode::unavailable);
  EXPECT_FALSE(failure.sent);
  EXPECT_NE(failure.error.message.find(std::to_string(nobody)), std::string::npos);
}

TEST_F(RedisClusterFault, AServerOfItsOwnIsNoCluster) {
  const RedisServer server;
  open({{"127.0.0.1", server.port()}});
  const RedisFailure failure = RedisRig::failure_of(rig_.send({"GET", kFirst}));
  EXPECT_EQ(failure.error.code, ErrorCode::invalid_argument);
  EXPECT_NE(failure.error.message.find("redis://"), std::string::npos) << failure.error.message;
}

TEST_F(RedisClusterFault, ClosingAnswersWhatWaits) {
  RedisServer server;
  server.pause();
  open({{"127.0.0.1", server.port()}, {"127.0.0.1", RedisServer::free_port()}});
  auto asked = rig_.send({"GET", kFirst});
  rig_.run([&] { rig_.destroy_now(); });
  EXPECT_EQ(RedisRig::failure_of(std::move(asked)).error.code, ErrorCode::closed);
  server.cont();
}

}  // namespace
}  // namespace tarry::net
