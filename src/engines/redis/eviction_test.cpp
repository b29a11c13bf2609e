// An engine is open, and the server at its address evicts keys: it was restarted, or another one
// took its place.
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "net/redis/protocol/redis_slot.h"
#include "support/engine_calls.h"
#include "support/inbox_rig.h"
#include "support/redis_cluster_servers.h"

namespace tarry::redis {
namespace {

using tarry::testing::InboxRig;
using tarry::testing::RedisServer;

class EvictionTest : public ::testing::Test, protected test::EngineCalls {
 protected:
  static void set_policy(const RedisServer& server, const std::string& policy) {
    ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory-policy", policy}), "+OK\r\n");
    // The engine looks at the server's settings only after it has connected again.
    (void)server.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  }
  // Pushes one message, and repeats the push as long as the connection is broken.
  static std::string push(core::Engine& engine, const std::string& queue = "q") {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (;;) {
      const auto reply = ask(engine, push_of(queue, Millis(0)));
      const auto error = reply ? std::get<core::PushReply>(*reply).items.at(0).error
                               : std::optional<Error>(reply.error());
      if (!error) return "pushed";
      const bool breaks = error->message.find("nothing is accepted") == std::string::npos;
      if (!breaks || std::chrono::steady_clock::now() > deadline) return told(*error);
    }
  }
  static std::string list(core::Engine& engine) {
    core::ListRequest request;
    request.queue = "q";
    request.limit = 1;
    const auto reply = ask(engine, request);
    return reply ? "listed" : told(reply.error());
  }
  static std::string claim_and_ack(core::Engine& engine) {
    core::ClaimRequest claim;
    claim.queues = {"q"};
    claim.max = 1;
    const auto claimed = take<core::ClaimReply>(engine, claim);
    if (claimed.items.empty()) return "nothing";
    core::SettleRequest settle;
    settle.items.emplace_back();
    settle.items.back().receipt =
        core::append(settle.bytes, core::view(claimed.bytes, claimed.items.at(0).receipt));
    const auto settled = take<core::ItemsReply>(engine, std::move(settle));
    return std::string(to_string(settled.items.at(0).outcome));
  }
  static std::string told(const Error& error) {
    return std::string(to_string(error.code)) + ": " + error.message;
  }
};

TEST_F(EvictionTest, NothingIsAcceptedByAServerThatThrowsKeysAway) {
  InboxRig rig;
  const auto engine = rig.open();
  ASSERT_EQ(push(*engine), "pushed");
  set_policy(rig.server(), "allkeys-random");
  std::string refused = push(*engine);
  EXPECT_TRUE(refused.starts_with("unavailable: nothing is accepted: Redis at ")) << refused;
  EXPECT_NE(refused.find("maxmemory-policy allkeys-random"), std::string::npos) << refused;
  EXPECT_EQ(push(*engine), refused);
  EXPECT_EQ(list(*engine), refused);  // the request of /readyz
  rig.wait_for_line("maxmemory-policy allkeys-random");
  EXPECT_EQ(claim_and_ack(*engine), "done");
  ASSERT_EQ(rig.ask({"CONFIG", "SET", "maxmemory-policy", "noeviction"}), "+OK\r\n");
  EXPECT_EQ(push(*engine), "pushed");
  EXPECT_EQ(list(*engine), "listed");
  rig.wait_for_line("messages are accepted again");
}

TEST_F(EvictionTest, WhoTakesTheLossIsNotRefused) {
  InboxRig rig;
  auto options = rig.options();
  options.allow_eviction = true;
  const auto engine = InboxRig::open(options);
  ASSERT_EQ(push(*engine), "pushed");
  set_policy(rig.server(), "allkeys-random");
  EXPECT_EQ(push(*engine), "pushed");
}

TEST_F(EvictionTest, InAClusterEachMasterIsLookedAt) {
  tarry::testing::RedisClusterServers servers(3);
  RedisEngineOptions options;
  options.cluster.push_back({"127.0.0.1", servers.server(0).port()});
  const auto engine = InboxRig::open(options);
  // The nth queue lives in partition n.
  std::map<std::size_t, std::string> queues;  // by master
  for (int n = 1; n < 16; ++n) {
    const std::string queue = "q" + std::to_string(n);
    ASSERT_EQ(push(*engine, queue), "pushed");
    queues[servers.first_owner(net::redis_slot(InboxRig::key(n, "in")))] = queue;
  }
  ASSERT_EQ(queues.size(), 3u);
  const std::size_t record = servers.first_owner(net::redis_slot(InboxRig::key(0, "in")));
  const std::size_t other = (record + 1) % 3;
  set_policy(servers.server(other), "volatile-ttl");
  std::string refused;
  servers.until([&] {
    refused = push(*engine, queues.at(other));
    return refused != "pushed";
  });
  EXPECT_NE(refused.find("maxmemory-policy volatile-ttl"), std::string::npos) << refused;
  EXPECT_NE(refused.find(std::to_string(servers.server(other).port())), std::string::npos);
}

}  // namespace
}  // namespace tarry::redis
