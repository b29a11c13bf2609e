#include "net/redis/redis_sentinels.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/raw_server.h"
#include "support/redis_family.h"
#include "support/redis_rig.h"

namespace tarry::net {
namespace {

using tarry::testing::RedisFamily;
using tarry::testing::RedisRig;
using tarry::testing::RedisServer;

std::string local(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

RedisOptions by_sentinels(const std::vector<std::uint16_t>& ports, std::string master = "orders") {
  RedisOptions options;
  options.sentinels.emplace();
  for (const std::uint16_t port : ports)
    options.sentinels->addresses.push_back({"127.0.0.1", port});
  options.sentinels->master = std::move(master);
  return options;
}

RedisOptions of(RedisFamily& family) {
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < family.sentinels(); ++i) ports.push_back(family.sentinel(i).port());
  return by_sentinels(ports);
}

std::string name_of(RedisRig& rig) {
  std::string name;
  rig.run([&] { name = rig.client().server(); });
  return name;
}

class RedisSentinelsTest : public ::testing::Test {
 protected:
  // Connects; the sentinels' login is user "ann".
  void open_as_ann(RedisFamily& family) {
    RedisOptions options = of(family);
    options.sentinels->user = "ann";
    options.sentinels->password = "pw";
    rig_.open(options);
  }
  void subscribe() {
    rig_.run([&] {
      rig_.client().subscribe(
          RedisChannels::plain, {"news"}, [](std::string_view, std::string_view) {},
          [this] { inbox_.put("subscribed"); });
    });
    ASSERT_EQ(inbox_.next(), "subscribed");
  }
  // Asks until this server answers.
  void wait_for(const RedisServer& server) {
    const std::string mark = std::to_string(server.port());
    ASSERT_EQ(server.ask({"SET", "where", mark}), "+OK\r\n");
    RedisFamily::until("the client to find the master",
                       [&] { return rig_.ask({"GET", "where"}) == mark; });
  }

  testing::Inbox inbox_;
  RedisRig rig_;  // destroyed first: its thread may put into the inbox
};

TEST_F(RedisSentinelsTest, say_where_the_master_is) {
  RedisFamily family;
  rig_.open(of(family));
  EXPECT_EQ(name_of(rig_), "orders (of sentinels " + local(family.sentinel().port()) + ")");
  EXPECT_EQ(rig_.ask({"SET", "a", "1"}), "OK");
  EXPECT_EQ(family.master().ask({"GET", "a"}), "$1\r\n1\r\n");
  EXPECT_EQ(name_of(rig_), "orders (" + local(family.master().port()) + ")");
}

TEST_F(RedisSentinelsTest, of_which_some_are_down) {
  RedisFamily family;
  const std::uint16_t nobody = RedisServer::free_port();
  RedisOptions options = by_sentinels({nobody, nobody, family.sentinel().port()});
  rig_.open(options);
  EXPECT_EQ(rig_.ask({"PING"}), "PONG");
}

TEST_F(RedisSentinelsTest, of_which_one_hangs) {
  RedisFamily family;
  RedisServer hangs({"--sentinel"}, "sentinel resolve-hostnames no\n");
  hangs.pause();
  RedisOptions options = by_sentinels({hangs.port(), family.sentinel().port()});
  options.connect_timeout_ms = 60'000;
  rig_.open(options);
  EXPECT_EQ(rig_.ask({"PING"}), "PONG");
  hangs.cont();
}

TEST_F(RedisSentinelsTest, that_all_hang_are_waited_for_no_longer_than_for_a_server) {
  RedisServer hangs({"--sentinel"}, "sentinel resolve-hostnames no\n");
  hangs.pause();
  RedisOptions options = by_sentinels({hangs.port(), hangs.port()});
  options.connect_timeout_ms = 100;
  const std::string said = RedisRig::refusal(options);
  EXPECT_TRUE(said.starts_with("unavailable: no sentinel of master \"orders\" answers (" +
                               local(hangs.port()) + ", " + local(hangs.port()) + "): "))
      << said;
  EXPECT_NE(said.find("within 100ms"), std::string::npos) << said;
}

TEST_F(RedisSentinelsTest, none_answers) {
  const std::uint16_t a = RedisServer::free_port();
  EXPECT_EQ(RedisRig::refusal(by_sentinels({a, a})),
            "unavailable: no sentinel of master \"orders\" answers (" + local(a) + ", " + local(a) +
                "): cannot connect to the sentinel at " + local(a) + ": Connection refused");
}

TEST_F(RedisSentinelsTest, none_knows_that_master) {
  RedisFamily family;
  const std::uint16_t here = family.sentinel().port();
  EXPECT_EQ(RedisRig::refusal(by_sentinels({here}, "mail")),
            "invalid_argument: no sentinel knows a master \"mail\": asked " + local(here));
  const std::uint16_t nobody = RedisServer::free_port();
  EXPECT_EQ(RedisRig::refusal(by_sentinels({nobody, here}, "mail")),
            "invalid_argument: no sentinel knows a master \"mail\": asked " + local(here) +
                "; no answer of " + local(nobody));
}

TEST_F(RedisSentinelsTest, are_none) {
  const RedisServer server;
  EXPECT_EQ(RedisRig::refusal(by_sentinels({server.port()})),
            "invalid_argument: what answers at " + local(server.port()) +
                " is not a sentinel: it does not know SENTINEL");
  testing::RawServer raw;
  RedisRig rig;
  rig.open(by_sentinels({raw.port()}));
  auto answer = rig.send({"PING"});
  auto connection = raw.accept();
  ASSERT_TRUE(connection.send("HTTP/1.1 400 Bad Request\r\n\r\n"));
  const RedisFailure failure = RedisRig::failure_of(std::move(answer));
  EXPECT_EQ(failure.error.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(failure.error.message.starts_with("what answers at " + local(raw.port()) +
                                                " is not a sentinel: "))
      << failure.error.message;
}

TEST_F(RedisSentinelsTest, password) {
  RedisFamily family(1, {"--requirepass", "masters", "--masterauth", "masters"},
                     "requirepass sentinels\nsentinel auth-pass orders masters");
  const std::string sentinel = "the sentinel at " + local(family.sentinel().port());
  RedisOptions options = of(family);
  EXPECT_EQ(
      RedisRig::refusal(options),
      "permission_denied: " + sentinel + " asks for a password: NOAUTH Authentication required.");
  options.sentinels->password = "wrong-one";
  const std::string said = RedisRig::refusal(options);
  EXPECT_TRUE(said.starts_with("permission_denied: " + sentinel + " refused the password: "))
      << said;
  EXPECT_EQ(said.find("wrong-one"), std::string::npos);
  options.sentinels->password = "sentinels";
  EXPECT_TRUE(RedisRig::refusal(options).starts_with("permission_denied: Redis at orders ("));
  options.password = "masters";
  rig_.open(options);
  EXPECT_EQ(rig_.ask({"PING"}), "PONG");
}

TEST_F(RedisSentinelsTest, a_user_must_be_let_ask_for_the_role) {
  RedisFamily family;
  ASSERT_EQ(
      family.master().ask({"ACL", "SETUSER", "ann", "on", ">pw", "~*", "&*", "+@all", "-role"}),
      "+OK\r\n");
  RedisOptions options = of(family);
  options.user = "ann";
  options.password = "pw";
  const std::string said = RedisRig::refusal(options);
  EXPECT_TRUE(said.starts_with("permission_denied: Redis at orders (" +
                               local(family.master().port()) +
                               ") does not say whether it is a master: NOPERM"))
      << said;
}

TEST_F(RedisSentinelsTest, of_which_one_names_what_is_no_master) {
  RedisFamily family;
  family.until_followed();
  const std::uint16_t replica = family.replica().port();
  RedisServer stale({"--sentinel"},
                    "sentinel monitor orders 127.0.0.1 " + std::to_string(replica) + " 2\n");
  const std::string said = RedisRig::refusal(by_sentinels({stale.port()}));
  EXPECT_EQ(said,
            "unavailable: Redis at orders (" + local(replica) +
                ") is not a master, although its sentinels say so: it says that it is a slave");
  // The next attempt asks another sentinel first.
  rig_.open(by_sentinels({stale.port(), family.sentinel().port()}));
  wait_for(family.master());
}

TEST_F(RedisSentinelsTest, a_failover_is_followed_by_commands_and_subscription) {
  RedisFamily family(3);
  rig_.open(of(family));
  rig_.run([&] {
    rig_.client().subscribe(
        RedisChannels::plain, {"news"},
        [this](std::string_view, std::string_view message) { inbox_.put(std::string(message)); },
        [this] { inbox_.put("subscribed"); });
  });
  ASSERT_EQ(inbox_.next(), "subscribed");
  EXPECT_EQ(rig_.ask({"SET", "a", "1"}), "OK");
  std::uint64_t before = 0;
  rig_.run([&] { before = rig_.client().connections(); });
  family.until_followed();
  family.lose_master();
  EXPECT_EQ(rig_.ask_until_answered({"GET", "a"}), "1");
  EXPECT_EQ(name_of(rig_), "orders (" + local(family.master().port()) + ")");
  rig_.run([&] { EXPECT_GT(rig_.client().connections(), before); });
  ASSERT_EQ(inbox_.next(), "subscribed");
  RedisFamily::until("the subscription to stand there", [&] {
    return family.master().ask({"PUBLISH", "news", "from the new one"}) == ":1\r\n";
  });
  std::string heard = inbox_.next();
  while (heard == "subscribed") heard = inbox_.next();
  EXPECT_EQ(heard, "from the new one");
}

// The user has exactly the rights in docs/guide/redis.md.
TEST_F(RedisSentinelsTest, tell_of_a_new_master_while_the_old_one_still_answers) {
  RedisFamily family;
  ASSERT_EQ(family.sentinel().ask({"ACL", "SETUSER", "ann", "on", ">pw", "resetchannels",
                                   "&+switch-master", "+ping", "+client|setname",
                                   "+sentinel|get-master-addr-by-name", "+subscribe"}),
            "+OK\r\n");
  open_as_ann(family);
  subscribe();
  EXPECT_EQ(rig_.ask({"PING"}), "PONG");
  // The sentinel will not tell the old master of the change for hours, so that it goes on as a
  // master.
  EXPECT_EQ(family.sentinel().ask({"SENTINEL", "DEBUG", "publish-period", "10000000"}), "+OK\r\n");
  family.fail_over();
  wait_for(family.master());
  ASSERT_EQ(inbox_.next(), "subscribed");
  EXPECT_TRUE(RedisFamily::is_master(family.replica()));
}

// The client is not subscribed while the master changes, and the old master goes on as a master.
TEST_F(RedisSentinelsTest, are_asked_again_once_they_are_listened_to_again) {
  RedisFamily family;
  ASSERT_EQ(family.sentinel().ask({"ACL", "SETUSER", "ann", "on", ">pw", "&*", "+@all"}),
            "+OK\r\n");
  open_as_ann(family);
  EXPECT_EQ(rig_.ask({"PING"}), "PONG");
  ASSERT_EQ(family.sentinel().ask({"ACL", "SETUSER", "ann", "-subscribe"}), "+OK\r\n");
  RedisFamily::until("the subscription to be gone", [&] {
    (void)family.sentinel().ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    return family.sentinel().ask({"CLIENT", "LIST", "TYPE", "pubsub"}).find("id=") ==
           std::string::npos;
  });
  EXPECT_EQ(family.sentinel().ask({"SENTINEL", "DEBUG", "publish-period", "10000000"}), "+OK\r\n");
  family.fail_over();
  const std::string port = std::to_string(family.master().port());
  RedisFamily::until("the sentinel to know it", [&] {
    return family.sentinel()
               .ask({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", RedisFamily::kName})
               .find(port) != std::string::npos;
  });
  EXPECT_TRUE(RedisFamily::is_master(family.replica()));
  ASSERT_EQ(family.sentinel().ask({"ACL", "SETUSER", "ann", "+subscribe"}), "+OK\r\n");
  wait_for(family.master());
}

TEST_F(RedisSentinelsTest, a_subscription_leaves_a_master_that_became_a_replica) {
  RedisFamily family;
  ASSERT_EQ(
      family.sentinel().ask({"ACL", "SETUSER", "ann", "on", ">pw", "&*", "+@all", "-subscribe"}),
      "+OK\r\n");
  open_as_ann(family);
  subscribe();
  EXPECT_EQ(rig_.ask({"SET", "a", "1"}), "OK");
  EXPECT_EQ(family.sentinel().ask({"SENTINEL", "DEBUG", "publish-period", "10000000"}), "+OK\r\n");
  family.fail_over();
  RedisFamily::follow(family.replica(), family.master());
  RedisFamily::until("the client to be on the new one",
                     [&] { return rig_.ask({"SET", "a", "2"}) == "OK"; });
  RedisFamily::until("the subscription to be there too", [&] {
    return family.master().ask({"PUBSUB", "NUMSUB", "news"}).ends_with(":1\r\n");
  });
}

TEST_F(RedisSentinelsTest, a_master_that_became_a_replica_is_left) {
  RedisFamily family;
  rig_.open(of(family));
  EXPECT_EQ(rig_.ask({"SET", "a", "1"}), "OK");
  family.until_followed();
  // The roles are swapped by hand, without closing connections; the sentinel notices it later.
  EXPECT_EQ(family.replica().ask({"REPLICAOF", "NO", "ONE"}), "+OK\r\n");
  RedisFamily::follow(family.master(), family.replica());
  const std::string said = rig_.ask({"SET", "a", "2"});
  EXPECT_TRUE(said.starts_with("!READONLY")) << said;
  rig_.flush();
  bool connected = true;
  rig_.run([&] { connected = rig_.client().is_connected(); });
  EXPECT_FALSE(connected);
}

TEST_F(RedisSentinelsTest, what_was_sent_to_one_that_became_a_replica_is_answered) {
  RedisFamily family;
  rig_.open(of(family));
  EXPECT_EQ(rig_.ask({"SET", "a", "1"}), "OK");
  family.until_followed();
  RedisFamily::follow(family.master(), family.replica());
  std::vector<RedisRig::Future> answers;
  rig_.run([&] {
    for (int i = 0; i < 3; ++i) {
      answers.push_back(rig_.send_now({"SET", "a", "2"}));
      answers.push_back(rig_.send_now({"GET", "a"}));
    }
  });
  for (std::size_t i = 0; i < answers.size(); i += 2) {
    EXPECT_TRUE(RedisRig::text_of(std::move(answers[i])).starts_with("!READONLY"));
    EXPECT_EQ(RedisRig::text_of(std::move(answers[i + 1])), "1");
  }
}

}  // namespace
}  // namespace tarry::net
