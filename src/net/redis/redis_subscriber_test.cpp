#include "net/redis/redis_subscriber.h"

#include <string>

#include <gtest/gtest.h>

#include "support/raw_server.h"
#include "support/redis_rig.h"

namespace tarry::net {
namespace {

using tarry::testing::RawConnection;
using tarry::testing::RedisRig;
using tarry::testing::RedisServer;

class RedisSubscriberTest : public ::testing::Test {
 protected:
  void subscribe(const RedisOptions& options) {
    rig_.open(options);
    rig_.run([&] {
      rig_.client().subscribe(
          RedisChannels::plain, {"news", "other"},
          [this](std::string_view channel, std::string_view message) {
            inbox_.put(std::string(channel) + "=" + std::string(message));
          },
          [this] { inbox_.put("subscribed"); });
    });
  }

  testing::Inbox inbox_;
  RedisRig rig_;
};

TEST_F(RedisSubscriberTest, hears_what_is_published) {
  const RedisServer server;
  subscribe(RedisRig::to(server));
  ASSERT_EQ(inbox_.next(), "subscribed");
  const std::string bytes("\0\r\n\xff", 4);
  EXPECT_EQ(rig_.ask({"PUBLISH", "news", bytes}), "(1)");
  EXPECT_EQ(server.ask({"PUBLISH", "other", "b"}), ":1\r\n");
  EXPECT_EQ(inbox_.next(), "news=" + bytes);
  EXPECT_EQ(inbox_.next(), "other=b");
}

TEST_F(RedisSubscriberTest, survives_broken_connections_and_restarts) {
  RedisServer server;
  subscribe(RedisRig::to(server));
  ASSERT_EQ(inbox_.next(), "subscribed");
  EXPECT_EQ(server.ask({"CLIENT", "KILL", "TYPE", "pubsub"}), ":1\r\n");
  ASSERT_EQ(inbox_.next(), "subscribed");
  EXPECT_EQ(server.ask({"PUBLISH", "news", "after a kill"}), ":1\r\n");
  EXPECT_EQ(inbox_.next(), "news=after a kill");
  server.kill9();
  server.start();
  ASSERT_EQ(inbox_.next(), "subscribed");
  EXPECT_EQ(server.ask({"PUBLISH", "news", "after a crash"}), ":1\r\n");
  EXPECT_EQ(inbox_.next(), "news=after a crash");
}

TEST_F(RedisSubscriberTest, stands_once_it_is_allowed) {
  const RedisServer server;
  ASSERT_EQ(server.ask({"ACL", "SETUSER", "alice", "on", ">pw", "+@all", "resetchannels"}),
            "+OK\r\n");
  RedisOptions options = RedisRig::to(server);
  options.user = "alice";
  options.password = "pw";
  subscribe(options);
  ASSERT_EQ(server.ask({"ACL", "SETUSER", "alice", "&*"}), "+OK\r\n");
  EXPECT_EQ(inbox_.next(), "subscribed");
}

TEST_F(RedisSubscriberTest, is_silent_after_close) {
  const RedisServer server;
  subscribe(RedisRig::to(server));
  ASSERT_EQ(inbox_.next(), "subscribed");
  rig_.run([&] { rig_.client().close(); });
  rig_.flush();
  (void)server.ask({"PUBLISH", "news", "late"});
  inbox_.put("end");
  EXPECT_EQ(inbox_.next(), "end");
}

TEST_F(RedisSubscriberTest, asks_an_idle_server_for_a_sign_of_life) {
  testing::RawServer server;
  RedisOptions options;
  options.port = server.port();
  options.command_timeout_ms = 300;
  subscribe(options);
  RawConnection first = server.accept();
  ASSERT_TRUE(first.receive_some());
  ASSERT_TRUE(first.send("+OK\r\n+PONG\r\n"));
  ASSERT_TRUE(first.receive_some());
  ASSERT_TRUE(
      first.send("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"
                 "*3\r\n$9\r\nsubscribe\r\n$5\r\nother\r\n:2\r\n"));
  ASSERT_EQ(inbox_.next(), "subscribed");
  EXPECT_TRUE(first.wait_for_end());  // ends because no PONG came
  RawConnection second = server.accept();
  EXPECT_TRUE(second.receive_some());
}

}  // namespace
}  // namespace tarry::net
