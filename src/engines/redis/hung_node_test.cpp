// In a cluster, the node with the store's record hangs. Queues on the other nodes continue to work.
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "engines/redis/redis_engine.h"
#include "net/redis/protocol/redis_slot.h"
#include "support/engine_calls.h"
#include "support/redis_cluster_servers.h"

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

struct HungNode : ::testing::Test, test::EngineCalls {
  static core::PushRequest push_of(const std::string& queue) {
    core::PushRequest push;
    push.queue = queue;
    push.items.emplace_back();
    push.items.back().due = Due::after(1h);
    return push;
  }
  [[nodiscard]] std::size_t owner_of(int partition) const {
    return servers_.first_owner(net::redis_slot("tarry:{" + std::to_string(partition) + "}:store"));
  }

  testing::RedisClusterServers servers_{3, 0, {"--cluster-require-full-coverage", "no"}};
};

// A failover has undone the record of a queue whose shard is on another node.
TEST_F(HungNode, WithAQueueWhoseRecordIsLostDoesNotGetItMadeElsewhere) {
  RedisEngineOptions options;
  for (std::size_t i = 0; i < servers_.masters(); ++i) {
    options.cluster.push_back({"127.0.0.1", servers_.server(i).port()});
  }
  options.server.command_timeout_ms = 3'000;
  options.server.connect_timeout_ms = 3'000;
  const auto open = [&] {
    auto opened = open_redis(options);
    if (!opened) throw std::runtime_error(opened.error().message);
    return std::move(*opened);
  };
  int partition = 1;  // of the first queue
  const std::size_t record = owner_of(0);
  std::string lost = "q1";
  {
    const auto engine = open();
    (void)take<core::PushReply>(*engine, push_of(lost));
    while (owner_of(partition) == record) {
      lost = "q" + std::to_string(++partition);
      (void)take<core::PushReply>(*engine, push_of(lost));
    }
  }
  const std::string number = std::to_string(partition);
  (void)servers_.ask(record, {"HDEL", "tarry:{0}:queues", lost});
  (void)servers_.ask(record, {"HDEL", "tarry:{0}:numbers", number});
  // The next new queue gets a number whose partition is on the node with the record.
  (void)servers_.ask(record, {"HSET", "tarry:{0}:store", "queues", "31"});
  const auto engine = open();

  servers_.server(owner_of(partition)).pause();
  const auto while_it_hangs = ask(*engine, push_of(lost));
  servers_.server(owner_of(partition)).cont();
  const auto error_of = [](const Result<core::Reply>& reply) -> std::optional<Error> {
    if (!reply) return reply.error();
    return std::get<core::PushReply>(*reply).items.at(0).error;
  };
  const auto refused = error_of(while_it_hangs);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::unavailable) << refused->message;
  EXPECT_TRUE(
      refused->message.starts_with("queue " + lost +
                                   " may exist on a node that does not answer; it is not created "
                                   "before that node has been asked: Redis at "))
      << refused->message;

  servers_.until([&] { return !error_of(ask(*engine, push_of(lost))); });
  core::ListRequest list;
  list.queue = lost;
  list.limit = 10;
  EXPECT_EQ(take<core::ListReply>(*engine, list).messages.size(), 2u);
}

TEST_F(HungNode, WithTheRecordOfTheStoreHoldsUpNoOther) {
  RedisEngineOptions options;
  for (std::size_t i = 0; i < servers_.masters(); ++i) {
    options.cluster.push_back({"127.0.0.1", servers_.server(i).port()});
  }
  options.server.command_timeout_ms = 3'000;
  options.server.connect_timeout_ms = 60'000;  // the node hangs for less than that
  auto opened = open_redis(std::move(options));
  if (!opened) throw std::runtime_error(opened.error().message);
  core::Engine& engine = **opened;
  // The nth queue lives in partition n.
  std::string on_the_node;
  std::string elsewhere;
  for (int n = 1; n < 16; ++n) {
    const std::string queue = "q" + std::to_string(n);
    (void)take<core::PushReply>(engine, push_of(queue));
    (owner_of(n) == owner_of(0) ? on_the_node : elsewhere) = queue;
  }
  ASSERT_FALSE(on_the_node.empty());

  servers_.server(owner_of(0)).pause();
  // This request learns that the node hangs, so its connection will be made again.
  const auto lost = ask(engine, push_of(on_the_node));
  ASSERT_TRUE(!lost || std::get<core::PushReply>(*lost).items.at(0).error);
  auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
  auto pushed = promise->get_future();
  engine.submit(push_of(elsewhere),
                [promise](Result<core::Reply> reply) { promise->set_value(std::move(reply)); });
  const bool answered = pushed.wait_for(20s) == std::future_status::ready;
  servers_.server(owner_of(0)).cont();
  ASSERT_TRUE(answered);
  const auto reply = pushed.get();
  ASSERT_TRUE(reply) << reply.error().message;
  const auto& item = std::get<core::PushReply>(*reply).items.at(0);
  EXPECT_FALSE(item.error) << item.error->message;
}

}  // namespace
}  // namespace tarry::redis
