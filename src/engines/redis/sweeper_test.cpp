// The sweep alone must find due messages: nothing else wakes the waiting claim.
#include "engines/redis/sweeper.h"

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engines/redis/redis_engine.h"
#include "support/engine_calls.h"
#include "support/redis_server.h"

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

class SweeperTest : public ::testing::Test, public test::EngineCalls {
 protected:
  using Reply = Result<core::Reply>;

  RedisEngineOptions options() {
    RedisEngineOptions options;
    options.server.unix_path = server_.socket_path();
    options.partitions = 1;
    return options;
  }
  static std::unique_ptr<core::Engine> open(RedisEngineOptions options) {
    auto engine = open_redis(std::move(options));
    if (!engine) throw std::runtime_error(engine.error().message);
    return *std::move(engine);
  }

  // Claims the message in queue q, and expects its lease to be ended.
  void expect_a_lease_ends(core::Engine& engine) {
    core::ClaimRequest claim;
    claim.queues = {"q"};
    claim.lease = 1s;
    ASSERT_EQ(take<core::ClaimReply>(engine, claim).items.size(), 1u);
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (server_.ask({"HLEN", "tarry:{0}:q/0:leased"}) != ":1\r\n") {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nobody ends it";
    }
  }

  testing::RedisServer server_;
};

TEST_F(SweeperTest, LooksAtEachShardThatIsWaitedAtHoweverManyThereAre) {
  const auto producer = open(options());
  RedisEngineOptions deaf = options();
  ASSERT_EQ(server_.ask({"ACL", "SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "+@all"}),
            "+OK\r\n");
  deaf.server.user = "deaf";
  deaf.server.password = "pw";
  const auto consumer = open(std::move(deaf));

  core::ClaimRequest first;
  core::ClaimRequest second;
  std::vector<std::future<Reply>> pushed;
  for (int i = 0; i < 1'100; ++i) {
    const std::string queue = "q" + std::to_string(1'000 + i);
    pushed.push_back(begin(*producer, push_of(queue, 24h)));
    (i < 600 ? first : second).queues.push_back(queue);
  }
  for (auto& push : pushed) ASSERT_TRUE(push.get());
  first.wait = second.wait = 20s;
  auto others = begin(*consumer, first);
  auto waiting = begin(*consumer, second);
  wait_until_it_waits(*consumer, "q1000");
  wait_until_it_waits(*consumer, "q2099");
  (void)take<core::PushReply>(*producer, push_of("q2099", 0h));
  const Reply reply = waiting.get();
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(std::get<core::ClaimReply>(*reply).items.size(), 1u);
  consumer->close();
}

TEST_F(SweeperTest, EndsALeaseBehindMoreEntriesThanASliceOfWhichNothingCanBeDone) {
  const auto engine = open(options());
  (void)take<core::PushReply>(*engine, push_of("q", 0h));
  for (int i = 0; i < 150; ++i) {
    ASSERT_EQ(server_.ask({"ZADD", "tarry:{0}:agenda", "1", "ghost" + std::to_string(i) + "/0"}),
              ":1\r\n");
  }
  expect_a_lease_ends(*engine);
}

// The names belong to existing queues, but to no shard.
TEST_F(SweeperTest, NamesThatNameNoShardAreOfThose) {
  const auto engine = open(options());
  (void)take<core::PushReply>(*engine, push_of("q", 0h));
  std::vector<std::future<Reply>> pushed;
  for (int i = 0; i < 150; ++i) {
    const std::string queue = "g" + std::to_string(i);
    pushed.push_back(begin(*engine, push_of(queue, 24h)));
    const std::string tail =
        std::vector<std::string>{"", "/", "/x", "/0x"}.at(static_cast<std::size_t>(i % 4));
    ASSERT_EQ(server_.ask({"ZADD", "tarry:{0}:agenda", "1", queue + tail}), ":1\r\n");
  }
  for (auto& push : pushed) ASSERT_TRUE(push.get());
  expect_a_lease_ends(*engine);
}

}  // namespace
}  // namespace tarry::redis
