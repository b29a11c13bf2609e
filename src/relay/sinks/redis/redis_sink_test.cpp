#include "relay/sinks/redis/redis_sink.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "support/outgoing.h"
#include "support/redis_server.h"

namespace tarry::relay {
namespace {

using test::Answers;
using test::fate_of_one;
using test::kLine;

net::RedisOptions at(const testing::RedisServer& server) {
  net::RedisOptions options;
  options.unix_path = server.socket_path();
  return options;
}

TEST(RedisSink, ListStreamAndChannel) {
  testing::RedisServer server;
  Answers list;
  const auto to_list = redis_sink(at(server), {RedisTarget::Kind::list, "due"});
  to_list->send(list.batch({"a", "b"}, {{"lang", "de"}}));
  EXPECT_EQ(list.fate("a"), Fate::confirmed);
  EXPECT_EQ(list.fate("b"), Fate::confirmed);
  EXPECT_EQ(server.ask({"LPOP", "due"}),
            "$" + std::to_string(std::string(kLine).size()) + "\r\n" + kLine + "\r\n");
  EXPECT_EQ(server.ask({"LLEN", "due"}), ":1\r\n");

  Answers stream;
  const auto to_stream = redis_sink(at(server), {RedisTarget::Kind::stream, "events", 1});
  to_stream->send(stream.batch({"a"}, {{"lang", "de"}}));
  EXPECT_EQ(stream.fate("a"), Fate::confirmed);
  const std::string script =
      "return table.concat(redis.call('XRANGE', 'events', '-', '+')[1][2], '|')";
  const std::string fields =
      "queue|q|id|1|key|a|attempt|1|due_ms|1600000000000|header:lang|de|payload|payload-a";
  EXPECT_EQ(server.ask({"EVAL", script, "0"}),
            "$" + std::to_string(fields.size()) + "\r\n" + fields + "\r\n");

  Answers channel;
  const auto to_channel = redis_sink(at(server), {RedisTarget::Kind::channel, "news"});
  to_channel->send(channel.batch({"a"}));
  EXPECT_EQ(channel.fate("a"), Fate::confirmed);  // confirmed although nobody listens: at most once
  EXPECT_EQ(to_channel->title(), "redis " + server.socket_path() + ", channel \"news\"");
}

TEST(RedisSink, AKeyOfAnotherTypeIsNoMessagesFault) {
  testing::RedisServer server;
  ASSERT_EQ(server.ask({"SET", "due", "a string"}), "+OK\r\n");
  Answers answers;
  const auto sink = redis_sink(at(server), {RedisTarget::Kind::list, "due"});
  sink->send(answers.batch({"a"}));
  EXPECT_EQ(answers.fate("a"), Fate::down);
  EXPECT_TRUE(answers.of("a").reason.starts_with("redis: WRONGTYPE")) << answers.of("a").reason;
}

TEST(RedisSink, NorIsAUserThatMayNotWriteThere) {
  testing::RedisServer server;
  ASSERT_EQ(server.ask({"ACL", "SETUSER", "app", "on", ">pw", "~other", "+@all"}), "+OK\r\n");
  net::RedisOptions options = at(server);
  options.user = "app";
  options.password = "pw";
  Answers answers;
  const auto sink = redis_sink(std::move(options), {RedisTarget::Kind::stream, "due"});
  sink->send(answers.batch({"a"}));
  EXPECT_EQ(answers.fate("a"), Fate::down);
  EXPECT_TRUE(answers.of("a").reason.starts_with("redis: NOPERM")) << answers.of("a").reason;
}

TEST(RedisSink, WhatIsNotSentIsDownWhatIsNotAnsweredUnknown) {
  testing::RedisServer server;
  const auto sink = redis_sink(at(server), {RedisTarget::Kind::list, "due"});
  EXPECT_EQ(fate_of_one(*sink, "a"), Fate::confirmed);
  server.pause();
  Answers second;
  sink->send(second.batch({"b"}));
  sink->close();
  EXPECT_NE(second.fate("b"), Fate::confirmed);
  EXPECT_EQ(fate_of_one(*sink, "c"), Fate::down);
  server.cont();
}

TEST(RedisSink, WhatAServerDoesNotReadWaitsWhereItsLeaseIsLookedAt) {
  testing::RedisServer server;
  const auto sink = redis_sink(at(server), {RedisTarget::Kind::list, "due"});
  server.pause();
  Answers answers;
  const std::string large(512 * 1024, 'x');
  auto batch = answers.batch({"a", "b", "c"}, {}, {large, large, large});
  const auto lease = std::make_shared<LeaseEnd>(Moment::max());
  batch[1].lease = lease;
  sink->send(std::move(batch));
  lease->lose();
  server.cont();
  EXPECT_EQ(answers.fate("a"), Fate::confirmed);
  EXPECT_EQ(answers.fate("b"), Fate::late);
  EXPECT_EQ(answers.fate("c"), Fate::confirmed);
  EXPECT_EQ(server.ask({"LLEN", "due"}), ":2\r\n");
}

TEST(RedisSink, AServerThatIsFullOrGoneIsDown) {
  testing::RedisServer server;
  ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory", "1"}), "+OK\r\n");
  const auto sink = redis_sink(at(server), {RedisTarget::Kind::list, "due"});
  EXPECT_EQ(fate_of_one(*sink, "a"), Fate::down);
  server.kill9();
  const auto another = redis_sink(at(server), {RedisTarget::Kind::list, "due"});
  EXPECT_EQ(fate_of_one(*another, "a"), Fate::down);
}

}  // namespace
}  // namespace tarry::relay
