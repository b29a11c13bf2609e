// The option wait=N, with a real replica: one that follows, one that hangs, and none.
#include "engines/redis/node/replica_wait.h"

#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "engines/redis/redis_engine.h"
#include "support/redis_server.h"

namespace tarry::redis {
namespace {

using tarry::testing::RedisServer;

template <typename Condition>
void replicas_eventually(const char* what, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(what);
    std::this_thread::yield();
  }
}

class ReplicaWaitTest : public ::testing::Test {
 protected:
  void follow() {
    replica_ = std::make_unique<RedisServer>(
        std::vector<std::string>{"--replicaof", "127.0.0.1 " + std::to_string(master_.port())});
    replicas_eventually("the replica follows", [&] {
      return master_.ask({"INFO", "replication"}).find("state=online") != std::string::npos;
    });
  }

  std::unique_ptr<core::Engine> open(ReplicaWish wish) {
    RedisEngineOptions options;
    options.server.unix_path = master_.socket_path();
    options.partitions = 1;
    options.wait = wish;
    auto engine = open_redis(std::move(options));
    if (!engine) throw std::runtime_error(engine.error().message);
    return std::move(*engine);
  }

  static std::future<Result<core::Reply>> ask(core::Engine& engine, core::Request request) {
    auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
    auto future = promise->get_future();
    engine.submit(std::move(request),
                  [promise](Result<core::Reply> reply) { promise->set_value(std::move(reply)); });
    return future;
  }
  static core::PushRequest push(const std::string& key) {
    core::PushRequest request;
    request.queue = "q";
    core::PushItem item;
    item.key = core::append(request.bytes, key);
    item.due = Due::after(Millis(0));
    request.items.push_back(item);
    return request;
  }
  // The answer's error; empty if the request was done.
  static std::optional<Error> error_of(std::future<Result<core::Reply>> answer) {
    auto reply = answer.get();
    if (!reply) return reply.error();
    if (const auto* pushes = std::get_if<core::PushReply>(&*reply)) return pushes->items[0].error;
    return std::get<core::ItemsReply>(*reply).items[0].error;
  }
  static core::CancelRequest cancel(const std::string& key) {
    core::CancelRequest request;
    request.queue = "q";
    request.keys.push_back(core::append(request.bytes, key));
    return request;
  }
  static std::optional<Error> ack(core::Engine& engine) {
    core::ClaimRequest claim;
    claim.queues = {"q"};
    const auto claimed = ask(engine, claim).get();
    if (!claimed) return claimed.error();
    const auto& reply = std::get<core::ClaimReply>(*claimed);
    core::SettleRequest settle;
    core::SettleItem item;
    item.receipt = core::append(settle.bytes, core::view(reply.bytes, reply.items.at(0).receipt));
    settle.items.push_back(item);
    return error_of(ask(engine, settle));
  }
  // True if the server has the message. Asks the server directly.
  [[nodiscard]] bool has(const RedisServer& server, const std::string& key) const {
    return server.ask({"HEXISTS", "tarry:{0}:q/0:msgs", key}) == ":1\r\n";
  }

  RedisServer master_{{"--repl-diskless-sync-delay", "0"}};
  std::unique_ptr<RedisServer> replica_;
};

TEST_F(ReplicaWaitTest, WhatIsAnsweredIsOnTheReplica) {
  follow();
  const auto engine = open({1, 5'000});
  for (int i = 0; i < 100; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_FALSE(error_of(ask(*engine, push(key))));
    ASSERT_TRUE(has(*replica_, key)) << key;
  }
  for (int i = 1; i < 100; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_FALSE(error_of(ask(*engine, cancel(key))));
    ASSERT_FALSE(has(*replica_, key)) << key;
  }
  ASSERT_FALSE(ack(*engine));
  EXPECT_FALSE(has(*replica_, "k0"));
}

// Many answers share one WAIT.
TEST_F(ReplicaWaitTest, ManyWaitTogether) {
  follow();
  const auto engine = open({1, 5'000});
  (void)ask(*engine, push("first")).get();
  std::vector<std::future<Result<core::Reply>>> answers;
  constexpr int kMany = 200;
  for (int i = 0; i < kMany; ++i) answers.push_back(ask(*engine, push(std::to_string(i))));
  for (int i = 0; i < kMany; ++i) {
    EXPECT_FALSE(error_of(std::move(answers[static_cast<std::size_t>(i)])));
    EXPECT_TRUE(has(*replica_, std::to_string(i)));
  }
  const std::string calls = master_.ask({"INFO", "commandstats"});
  const std::size_t at = calls.find("cmdstat_wait:calls=");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(std::stoi(calls.substr(at + 19)), kMany);
}

TEST_F(ReplicaWaitTest, OneThatStandsStillLeavesItInDoubt) {
  follow();
  const auto engine = open({1, 50});
  replicas_eventually("it has what was done in time",
                      [&] { return !error_of(ask(*engine, push("before"))); });
  replica_->pause();
  const auto error = error_of(ask(*engine, push("k")));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::unknown_outcome);
  EXPECT_EQ(error->message, "Redis at " + master_.socket_path() +
                                " has done it, but only 0 of 1 replicas had it within 50 ms");
  EXPECT_TRUE(has(master_, "k"));
  EXPECT_EQ(error_of(ask(*engine, cancel("k")))->code, ErrorCode::unknown_outcome);
  EXPECT_FALSE(has(master_, "k"));
  EXPECT_EQ(ack(*engine)->code, ErrorCode::unknown_outcome);
  // A request that changes nothing is not held back.
  core::GetRequest get;
  get.queue = "q";
  get.keys.push_back(core::append(get.bytes, "k"));
  EXPECT_TRUE(ask(*engine, get).get());
  replica_->cont();
  replicas_eventually("it follows again", [&] { return !error_of(ask(*engine, push("again"))); });
  EXPECT_TRUE(has(*replica_, "again"));
}

TEST_F(ReplicaWaitTest, WhereThereIsNoneAllIsInDoubt) {
  const auto engine = open({2, 20});
  const auto error = error_of(ask(*engine, push("k")));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::unknown_outcome);
  EXPECT_NE(error->message.find("only 0 of 2 replicas"), std::string::npos) << error->message;
  EXPECT_TRUE(has(master_, "k"));
}

// A new connection has written nothing, so its WAIT would succeed at once.
TEST_F(ReplicaWaitTest, AMasterThatDiesMeanwhileLeavesItInDoubt) {
  follow();
  const auto engine = open({1, 5'000});
  ASSERT_FALSE(error_of(ask(*engine, push("before"))));
  replica_->pause();
  auto waiting = ask(*engine, push("k"));
  replicas_eventually("it waits for the replica", [&] {
    return master_.ask({"INFO", "clients"}).find("blocked_clients:1\r") != std::string::npos;
  });
  master_.kill9();
  const auto error = error_of(std::move(waiting));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::unknown_outcome);
  EXPECT_NE(error->message.find("could not be asked"), std::string::npos) << error->message;
}

}  // namespace
}  // namespace tarry::redis
