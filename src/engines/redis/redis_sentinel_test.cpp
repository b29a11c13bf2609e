// The engine with Sentinel: a failover takes place, and may undo confirmed changes.
#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engines/redis/redis_engine.h"
#include "support/redis_family.h"

namespace tarry::redis {
namespace {

using tarry::testing::RedisFamily;

class RedisSentinelTest : public ::testing::Test {
 protected:
  RedisSentinelTest() {
    RedisEngineOptions options;
    options.server.sentinels.emplace();
    options.server.sentinels->addresses = {{"127.0.0.1", family_.sentinel().port()}};
    options.server.sentinels->master = RedisFamily::kName;
    auto opened = open_redis(std::move(options));
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    if (opened) engine_ = *std::move(opened);
  }

  Result<core::Reply> answer_to(core::Request request) {
    std::promise<Result<core::Reply>> promise;
    engine_->submit(std::move(request),
                    [&](Result<core::Reply> reply) { promise.set_value(std::move(reply)); });
    return promise.get_future().get();
  }

  // An outcome's name; or the error's, where nothing was done.
  std::string push(std::string_view queue, std::string_view key) {
    core::PushRequest request;
    request.queue = queue;
    core::PushItem item;
    item.key = core::append(request.bytes, key);
    item.payload = core::append(request.bytes, "payload");
    item.due = Due::after(Millis(0));
    request.items.push_back(item);
    const auto reply = answer_to(std::move(request));
    if (!reply) return std::string(to_string(reply.error().code));
    const auto& pushed = std::get<core::PushReply>(*reply).items.at(0);
    return std::string(pushed.error ? to_string(pushed.error->code) : to_string(pushed.outcome));
  }

  // Tries until the new master is found.
  std::string push_until_answered(std::string_view queue, std::string_view key) {
    std::string outcome;
    RedisFamily::until("the new master to be found", [&] {
      outcome = push(queue, key);
      return outcome != "unavailable";
    });
    return outcome;
  }

  std::vector<std::string> claim(std::string_view queue) {
    core::ClaimRequest request;
    request.queues = {std::string(queue)};
    request.max = 10;
    const auto reply = answer_to(std::move(request));
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
    std::vector<std::string> keys;
    if (!reply) return keys;
    const auto& claimed = std::get<core::ClaimReply>(*reply);
    for (const core::ClaimedItem& item : claimed.items) {
      keys.emplace_back(core::view(claimed.bytes, item.key));
    }
    std::ranges::sort(keys);
    return keys;
  }

  RedisFamily family_;
  std::unique_ptr<core::Engine> engine_;
};

using Keys = std::vector<std::string>;

TEST_F(RedisSentinelTest, AFailoverLosesNothingThatTheReplicaHadGot) {
  ASSERT_EQ(push("q", "before"), "pushed");
  family_.lose_master();
  EXPECT_EQ(push_until_answered("q", "after"), "pushed");
  EXPECT_EQ(push("q", "before"), "exists");
  EXPECT_EQ(claim("q"), (Keys{"after", "before"}));
}

TEST_F(RedisSentinelTest, WhatTheReplicaHadNotGotIsNotTakenForDone) {
  ASSERT_EQ(push("q", "before"), "pushed");
  family_.lose_master([this] {
    EXPECT_EQ(push("q", "undone"), "pushed");
    EXPECT_EQ(push("queue-that-is-undone", "undone"), "pushed");
  });
  EXPECT_EQ(push_until_answered("queue-that-is-undone", "again"), "pushed");
  EXPECT_EQ(push("other", "more"), "pushed");
  EXPECT_EQ(push("q", "undone"), "pushed");
  EXPECT_EQ(claim("q"), (Keys{"before", "undone"}));
  EXPECT_EQ(claim("queue-that-is-undone"), Keys{"again"});
  EXPECT_EQ(claim("other"), Keys{"more"});
}

TEST_F(RedisSentinelTest, TheOldMasterIsLeftWhileItStillAnswers) {
  ASSERT_EQ(push("q", "before"), "pushed");
  family_.until_followed();
  // Nobody tells the old master.
  ASSERT_EQ(family_.sentinel().ask({"SENTINEL", "DEBUG", "publish-period", "10000000"}), "+OK\r\n");
  family_.fail_over();
  RedisFamily::until("a push to reach the new master", [&] {
    (void)push("q", "after");
    return family_.master().ask({"HLEN", "tarry:{1}:q/0:msgs"}) == ":3\r\n";  // a placeholder too
  });
  EXPECT_TRUE(RedisFamily::is_master(family_.replica()));
  EXPECT_EQ(claim("q"), (Keys{"after", "before"}));
}

}  // namespace
}  // namespace tarry::redis
