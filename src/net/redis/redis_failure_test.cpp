// Failures of connections: servers that refuse, die or hang, or are not Redis.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/redis/redis_client.h"
#include "support/raw_server.h"
#include "support/redis_rig.h"

namespace tarry::net {
namespace {

using tarry::testing::RawConnection;
using tarry::testing::RawServer;
using tarry::testing::RedisRig;
using tarry::testing::RedisServer;

std::string at(std::uint16_t port) { return "Redis at 127.0.0.1:" + std::to_string(port); }

RedisOptions on_port(std::uint16_t port) {
  RedisOptions options;
  options.port = port;
  return options;
}

TEST(RedisRefusalTest, no_server) {
  const std::uint16_t port = RedisServer::free_port();
  EXPECT_EQ(RedisRig::refusal(on_port(port)),
            "unavailable: cannot connect to " + at(port) + ": Connection refused");
  RedisOptions options;
  options.unix_path = "/no/such/redis.sock";
  EXPECT_EQ(
      RedisRig::refusal(options),
      "unavailable: cannot connect to Redis at /no/such/redis.sock: No such file or directory");
  options.unix_path = "/" + std::string(200, 'x');
  EXPECT_TRUE(
      RedisRig::refusal(options).starts_with("invalid_argument: cannot connect to Redis at /xxx"));
}

TEST(RedisRefusalTest, no_such_host) {
  RedisOptions options;
  options.host = "no-such-host.invalid";
  EXPECT_TRUE(RedisRig::refusal(options).starts_with(
      "unavailable: cannot connect to Redis at no-such-host.invalid:6379: "));
}

TEST(RedisRefusalTest, password) {
  const RedisServer server({"--requirepass", "s3cret"});
  RedisOptions options = RedisRig::to(server);
  EXPECT_EQ(RedisRig::refusal(options),
            "permission_denied: " + at(server.port()) +
                " asks for a password: NOAUTH Authentication required.");
  options.database = 1;
  EXPECT_TRUE(RedisRig::refusal(options).starts_with("permission_denied: " + at(server.port()) +
                                                     " asks for a password: NOAUTH"));
  options.password = "wrong-one";
  const std::string said = RedisRig::refusal(options);
  EXPECT_TRUE(said.starts_with("permission_denied: " + at(server.port()) +
                               " refused the password: WRONGPASS"))
      << said;
  EXPECT_EQ(said.find(options.password), std::string::npos);

  options.password = "s3cret";
  RedisRig rig;
  rig.open(options);
  EXPECT_EQ(rig.ask({"PING"}), "PONG");
}

TEST(RedisRefusalTest, user) {
  const RedisServer server;
  ASSERT_EQ(server.ask({"ACL", "SETUSER", "alice", "on", ">pw", "~*", "&*", "+@all", "-ping"}),
            "+OK\r\n");
  RedisOptions options = RedisRig::to(server);
  options.user = "alice";
  options.password = "wrong-one";
  EXPECT_TRUE(RedisRig::refusal(options).starts_with("permission_denied: " + at(server.port()) +
                                                     " refused user \"alice\": WRONGPASS"));
  options.user = "a\nb";
  EXPECT_TRUE(RedisRig::refusal(options).starts_with("permission_denied: " + at(server.port()) +
                                                     " refused user \"a\\nb\": WRONGPASS"));
  options.user = "alice";
  options.password = "pw";
  RedisRig rig;
  rig.open(options);  // the user may not PING, and the connection is used nevertheless
  EXPECT_EQ(rig.ask({"ACL", "WHOAMI"}), "alice");
}

TEST(RedisRefusalTest, database) {
  const RedisServer server;
  RedisOptions options = RedisRig::to(server);
  options.database = 99;
  EXPECT_EQ(RedisRig::refusal(options), "invalid_argument: " + at(server.port()) +
                                            " refused database 99: ERR DB index is out of range");
}

TEST(RedisRefusalTest, no_room) {
  const RedisServer server({"--maxclients", "1"});
  RedisRig first;
  first.open(RedisRig::to(server));
  ASSERT_EQ(first.ask_until_answered({"PING"}), "PONG");
  EXPECT_EQ(RedisRig::refusal(RedisRig::to(server)),
            "unavailable: " + at(server.port()) +
                " has no room for another connection: ERR max number of clients reached");
}

// A server answers the first bytes with `answer`, and waits until the client has disconnected.
std::string refusal_after(std::string_view answer, bool then_close = false) {
  RawServer server;
  RedisRig rig;
  rig.open(on_port(server.port()));
  auto future = rig.send({"GET", "a"});
  RawConnection connection = server.accept();
  EXPECT_TRUE(connection.receive_some());
  EXPECT_TRUE(connection.send(answer));
  if (then_close) connection.close();
  std::string said = RedisRig::text_of(std::move(future));
  EXPECT_TRUE(then_close || connection.wait_for_end());
  const std::size_t where = said.find(":" + std::to_string(server.port()));
  if (where != std::string::npos) said.replace(where, 1 + std::to_string(server.port()).size(), "");
  return said;
}

TEST(RedisRefusalTest, not_redis) {
  EXPECT_EQ(refusal_after("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
            "invalid_argument: what answers at 127.0.0.1 is not Redis: "
            "Protocol error, got \"H\" as reply type byte");
}

TEST(RedisRefusalTest, loading) {
  EXPECT_EQ(refusal_after("+OK\r\n-LOADING Redis is loading the dataset in memory\r\n"),
            "unavailable: Redis at 127.0.0.1 is loading its dataset");
}

TEST(RedisRefusalTest, not_ready) {
  EXPECT_EQ(refusal_after("+OK\r\n-MASTERDOWN Link with MASTER is down\x1b\r\n"),
            "unavailable: Redis at 127.0.0.1 is not ready: MASTERDOWN Link with MASTER is down ");
}

TEST(RedisRefusalTest, protected_mode) {
  const std::string said =
      refusal_after("-DENIED Redis is running in protected mode " + std::string(900, '.') + "\r\n");
  EXPECT_TRUE(
      said.starts_with("permission_denied: Redis at 127.0.0.1 refused the connection: "
                       "DENIED Redis is running in protected mode ..."));
  EXPECT_LT(said.size(), 300u);
}

TEST(RedisRefusalTest, closes_at_once) {
  EXPECT_EQ(refusal_after("", true),
            "unavailable: Redis at 127.0.0.1 closed the connection before it answered");
}

TEST(RedisRefusalTest, answers_nothing) {
  RawServer server;
  RedisOptions options = on_port(server.port());
  options.connect_timeout_ms = 50;
  EXPECT_EQ(RedisRig::refusal(options),
            "unavailable: " + at(server.port()) + " did not answer within 50ms");
}

TEST(RedisBreakTest, waits_between_attempts_and_comes_back) {
  RedisServer server;
  server.stop();
  RedisRig rig;
  rig.open(RedisRig::to(server));
  const std::string refused =
      "unavailable: cannot connect to " + at(server.port()) + ": Connection refused";
  EXPECT_EQ(rig.ask({"PING"}), refused);
  EXPECT_EQ(rig.ask({"PING"}), refused);  // the error of a new attempt, or the last error again
  server.start();
  EXPECT_EQ(rig.ask_until_answered({"PING"}), "PONG");
}

TEST(RedisBreakTest, does_not_know_what_became_of_commands_when_the_server_dies) {
  RedisServer server({"--appendonly", "yes", "--appendfsync", "always"});
  RedisRig rig;
  rig.open(RedisRig::to(server));
  ASSERT_EQ(rig.ask({"SET", "a", "1"}), "OK");
  server.pause();
  std::vector<RedisRig::Future> futures;
  for (int i = 0; i < 100; ++i) futures.push_back(rig.send({"INCR", "n"}));
  rig.flush();
  server.kill9();
  for (auto& future : futures) {
    const RedisFailure failure = RedisRig::failure_of(std::move(future));
    EXPECT_EQ(failure.error.code, ErrorCode::unknown_outcome);
    EXPECT_TRUE(failure.sent);
    EXPECT_NE(failure.error.message.find(at(server.port())), std::string::npos);
  }
  server.start();
  EXPECT_EQ(rig.ask_until_answered({"GET", "a"}), "1");
  EXPECT_EQ(rig.ask({"GET", "n"}), "(nil)");
}

TEST(RedisBreakTest, knows_which_commands_the_kernel_never_had) {
  RedisServer server;
  RedisRig rig;
  rig.open(RedisRig::to(server));
  ASSERT_EQ(rig.ask({"PING"}), "PONG");
  server.pause();
  const std::string megabyte(1 << 20, 'x');  // the sockets' buffers have no room for 64 of them
  std::vector<RedisRig::Future> futures;
  rig.run([&] {
    for (int i = 0; i < 64; ++i) futures.push_back(rig.send_now({"APPEND", "a", megabyte}));
  });
  rig.flush();
  futures.push_back(rig.send({"PING"}));
  server.kill9();
  std::size_t sent = 0;
  bool before = true;
  for (auto& future : futures) {
    const RedisFailure failure = RedisRig::failure_of(std::move(future));
    EXPECT_EQ(failure.error.code,
              failure.sent ? ErrorCode::unknown_outcome : ErrorCode::unavailable);
    EXPECT_TRUE(before || !failure.sent);
    before = failure.sent;
    sent += failure.sent ? 1 : 0;
  }
  EXPECT_GE(sent, 1u);
  EXPECT_LT(sent, 64u);
}

TEST(RedisBreakTest, gives_up_a_server_that_hangs) {
  RedisServer server;
  RedisRig rig;
  RedisOptions options = RedisRig::to(server);
  options.command_timeout_ms = 300;
  rig.open(options);
  ASSERT_EQ(rig.ask_until_answered({"PING"}), "PONG");
  server.pause();
  auto first = rig.send({"INCR", "n"});
  auto second = rig.send({"INCR", "n"});
  for (auto* future : {&first, &second}) {
    const RedisFailure failure = RedisRig::failure_of(std::move(*future));
    EXPECT_EQ(failure.error.code, ErrorCode::unknown_outcome);
    EXPECT_EQ(failure.error.message, at(server.port()) + " sent nothing for 300ms");
    EXPECT_TRUE(failure.sent);
  }
  server.cont();
  EXPECT_EQ(rig.ask_until_answered({"PING"}), "PONG");
}

// The client leaves a demoted master, because its name may lead to the new master by now. But if a
// new connection leads to a replica again, the client does not leave it at every answer.
TEST(RedisBreakTest, leaves_a_master_that_was_demoted_and_not_a_replica_at_each_answer) {
  RedisServer server;
  const RedisServer other;
  RedisRig rig;
  rig.open(RedisRig::to(server));
  ASSERT_EQ(rig.ask({"SET", "a", "1"}), "OK");
  const std::string before = rig.ask({"CLIENT", "ID"});
  ASSERT_EQ(server.ask({"REPLICAOF", "127.0.0.1", std::to_string(other.port())}), "+OK\r\n");
  EXPECT_TRUE(rig.ask({"SET", "a", "2"}).starts_with("!READONLY"));
  EXPECT_NE(rig.ask_until_answered({"CLIENT", "ID"}), before);
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(rig.ask_until_answered({"SET", "a", "2"}).starts_with("!READONLY"));
  }
  std::uint64_t connections = 0;
  rig.run([&] { connections = rig.client().connections(); });
  EXPECT_LT(connections, 50u);
}

TEST(RedisBreakTest, does_not_trust_a_server_that_says_more_than_it_was_asked) {
  RawServer server;
  RedisRig rig;
  rig.open(on_port(server.port()));
  for (int i = 0; i < 2; ++i) {
    auto future = rig.send({"GET", "a"});
    RawConnection connection = server.accept();
    ASSERT_TRUE(connection.receive_some());
    ASSERT_TRUE(connection.send("+OK\r\n+PONG\r\n"));
    ASSERT_TRUE(connection.receive_some());
    ASSERT_TRUE(connection.send("$1\r\nx\r\n$1\r\ny\r\n"));
    EXPECT_EQ(RedisRig::text_of(std::move(future)), "x");
    EXPECT_TRUE(connection.wait_for_end());
  }
}

TEST(RedisBreakTest, ends_a_connection_whose_bytes_make_no_sense) {
  RawServer server;
  RedisRig rig;
  rig.open(on_port(server.port()));
  auto future = rig.send({"GET", "a"});
  RawConnection connection = server.accept();
  ASSERT_TRUE(connection.receive_some());
  ASSERT_TRUE(connection.send("+OK\r\n+PONG\r\n"));
  ASSERT_TRUE(connection.receive_some());
  ASSERT_TRUE(connection.send("gibberish\r\n"));
  EXPECT_TRUE(RedisRig::text_of(std::move(future))
                  .starts_with("unknown_outcome: a reply of " + at(server.port()) +
                               " cannot be read: Protocol error"));
  EXPECT_TRUE(connection.wait_for_end());
}

}  // namespace
}  // namespace tarry::net
