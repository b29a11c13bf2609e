#include "net/redis/redis_client.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/redis_rig.h"

namespace tarry::net {
namespace {

using tarry::testing::RedisRig;

class RedisClientTest : public ::testing::Test {
 protected:
  void open() { rig_.open(RedisRig::to(server_)); }

  testing::RedisServer server_;
  RedisRig rig_;
};

TEST_F(RedisClientTest, answers_thousands_at_once_in_the_order_of_sending) {
  constexpr int kCommands = 10'000;
  open();
  std::vector<RedisRig::Future> futures;
  rig_.run([&] {
    for (int i = 0; i < kCommands; ++i) futures.push_back(rig_.send_now({"INCR", "n"}));
  });
  for (int i = 0; i < kCommands; ++i) {
    ASSERT_EQ(RedisRig::text_of(std::move(futures[static_cast<std::size_t>(i)])),
              "(" + std::to_string(i + 1) + ")");
  }
}

TEST_F(RedisClientTest, carries_any_bytes) {
  open();
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(rig_.ask({"SET", bytes, bytes + "\r\n" + bytes}), "OK");
  EXPECT_EQ(rig_.ask({"GET", bytes}), bytes + "\r\n" + bytes);
  EXPECT_EQ(rig_.ask({"SET", "", ""}), "OK");
  EXPECT_EQ(rig_.ask({"GET", ""}), "");
  EXPECT_EQ(rig_.ask({"GET", "other"}), "(nil)");
}

TEST_F(RedisClientTest, hands_on_errors_as_replies) {
  open();
  EXPECT_TRUE(rig_.ask({"EVALSHA", std::string(40, 'f'), "0"}).starts_with("!NOSCRIPT"));
  EXPECT_TRUE(rig_.ask({"NO_SUCH_COMMAND"}).starts_with("!ERR unknown command"));
  EXPECT_EQ(rig_.ask({"ECHO", "still here"}), "still here");
}

TEST_F(RedisClientTest, reads_nested_arrays) {
  open();
  const RedisAnswer answer = rig_.send({"EVAL", "return {1,{2,{'x',false}}}", "0"}).get();
  const RedisView view = std::get<RedisReply>(answer).view();
  ASSERT_EQ(view.size(), 2u);
  EXPECT_EQ(view[0].integer(), 1);
  EXPECT_EQ(view[1][0].integer(), 2);
  EXPECT_EQ(view[1][1][0].text(), "x");
  EXPECT_TRUE(view[1][1][1].is_nil());
}

TEST_F(RedisClientTest, carries_ten_megabytes_each_way) {
  open();
  std::string bytes(10 * 1024 * 1024, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 4099);
  EXPECT_EQ(rig_.ask({"SET", "big", bytes}), "OK");
  EXPECT_TRUE(rig_.ask({"GET", "big"}) == bytes);
}

TEST_F(RedisClientTest, speaks_over_a_unix_socket) {
  RedisOptions options;
  options.unix_path = server_.socket_path();
  rig_.open(options);
  EXPECT_EQ(rig_.ask({"ECHO", "hello"}), "hello");
  rig_.run([&] { EXPECT_EQ(rig_.client().server(), server_.socket_path()); });
}

TEST_F(RedisClientTest, tells_its_name_and_its_database) {
  RedisOptions options = RedisRig::to(server_);
  options.database = 3;
  options.client_name = "tarry-7";
  rig_.open(options);
  const std::string info = rig_.ask({"CLIENT", "INFO"});
  EXPECT_NE(info.find(" name=tarry-7 "), std::string::npos) << info;
  EXPECT_NE(info.find(" db=3 "), std::string::npos) << info;
}

TEST_F(RedisClientTest, is_no_worse_for_a_name_that_the_server_refuses) {
  RedisOptions options = RedisRig::to(server_);
  options.client_name = "two words";
  rig_.open(options);
  EXPECT_EQ(rig_.ask({"CLIENT", "GETNAME"}), "(nil)");
}

TEST_F(RedisClientTest, resolves_names) {
  RedisOptions options = RedisRig::to(server_);
  options.host = "localhost";
  rig_.open(options);
  EXPECT_EQ(rig_.ask({"PING"}), "PONG");
}

TEST_F(RedisClientTest, puts_nothing_between_the_commands_of_a_batch) {
  open();
  std::vector<RedisRig::Future> batches;
  std::vector<RedisRig::Future> singles;
  for (int i = 0; i < 100; ++i) {
    rig_.run([&] { singles.push_back(rig_.send_now({"INCR", "other"})); });
    batches.push_back(rig_.send_batch({{"MULTI"}, {"INCR", "n"}, {"INCR", "n"}, {"EXEC"}}));
    rig_.run([&] { singles.push_back(rig_.send_now({"INCR", "other"})); });
  }
  std::int64_t n = 0;
  for (auto& batch : batches) {
    const RedisAnswer answer = batch.get();
    const RedisView view = std::get<RedisReply>(answer).view();
    ASSERT_EQ(view.size(), 2u);
    EXPECT_EQ(view[0].integer(), ++n);
    EXPECT_EQ(view[1].integer(), ++n);
  }
  for (std::size_t i = 0; i < singles.size(); ++i) {
    EXPECT_EQ(RedisRig::text_of(std::move(singles[i])), "(" + std::to_string(i + 1) + ")");
  }
}

TEST_F(RedisClientTest, answers_a_batch_with_its_last_reply) {
  open();
  const auto batch = [&](std::vector<RedisRig::Words> words) {
    return RedisRig::text_of(rig_.send_batch(words));
  };
  EXPECT_EQ(batch({{"SET", "a", "1"}, {"NO_SUCH"}, {"GET", "a"}}), "1");
  EXPECT_TRUE(batch({{"MULTI"}, {"NO_SUCH"}, {"EXEC"}}).starts_with("!EXECABORT"));
  EXPECT_TRUE(batch({}).starts_with("invalid_argument: "));
}

TEST_F(RedisClientTest, runs_no_callback_within_send) {
  open();
  for (const bool closed : {false, true}) {
    bool within = false;
    auto [done, future] = RedisRig::promise();
    rig_.run([&, &done = done] {
      if (closed) rig_.client().close();
      within = true;
      rig_.client().send(RedisCommand("PING"),
                         [&, done = std::move(done)](RedisAnswer answer) mutable {
                           EXPECT_FALSE(within);
                           done(std::move(answer));
                         });
      within = false;
    });
    EXPECT_EQ(RedisRig::text_of(std::move(future)).starts_with("closed: "), closed);
  }
}

TEST_F(RedisClientTest, sends_from_within_a_callback) {
  open();
  auto [done, future] = RedisRig::promise();
  rig_.run([&, &done = done] {
    rig_.client().send(RedisCommand("PING"), [&, done = std::move(done)](RedisAnswer) mutable {
      rig_.client().send(std::move(RedisCommand("ECHO").add("again")), std::move(done));
    });
  });
  EXPECT_EQ(RedisRig::text_of(std::move(future)), "again");
}

TEST_F(RedisClientTest, may_be_destroyed_within_a_callback) {
  open();
  ASSERT_EQ(rig_.ask({"PING"}), "PONG");
  auto [done, last] = RedisRig::promise();
  rig_.run([&, &done = done] {
    rig_.client().send(RedisCommand("PING"), [&](RedisAnswer) { rig_.destroy_now(); });
    rig_.client().send(RedisCommand("PING"), std::move(done));
  });
  EXPECT_TRUE(RedisRig::text_of(std::move(last)).starts_with("unknown_outcome: "));
}

TEST_F(RedisClientTest, completes_everything_at_its_close) {
  open();
  ASSERT_EQ(rig_.ask({"PING"}), "PONG");
  server_.pause();
  std::vector<RedisRig::Future> sent;
  for (int i = 0; i < 10; ++i) sent.push_back(rig_.send({"INCR", "n"}));
  rig_.flush();
  RedisRig::Future unsent;
  rig_.run([&] {
    unsent = rig_.send_now({"INCR", "n"});
    rig_.client().close();
  });
  for (auto& future : sent) {
    const RedisFailure failure = RedisRig::failure_of(std::move(future));
    EXPECT_EQ(failure.error.code, ErrorCode::unknown_outcome);
    EXPECT_TRUE(failure.sent);
  }
  const RedisFailure failure = RedisRig::failure_of(std::move(unsent));
  EXPECT_EQ(failure.error.code, ErrorCode::closed);
  EXPECT_FALSE(failure.sent);
  EXPECT_EQ(RedisRig::failure_of(rig_.send({"PING"})).error.code, ErrorCode::closed);
  server_.cont();
}

TEST_F(RedisClientTest, completes_what_waits_for_a_connection_at_its_close) {
  open();
  RedisRig::Future waits;
  rig_.run([&] {
    waits = rig_.send_now({"PING"});
    rig_.client().close();
  });
  EXPECT_EQ(RedisRig::failure_of(std::move(waits)).error.code, ErrorCode::closed);
}

TEST_F(RedisClientTest, bounds_a_reply) {
  RedisOptions options = RedisRig::to(server_);
  options.max_reply_bytes = 1000;
  rig_.open(options);
  EXPECT_EQ(rig_.ask({"SET", "small", std::string(900, 'x')}), "OK");
  EXPECT_EQ(rig_.ask({"SET", "large", std::string(1000, 'x')}), "OK");
  EXPECT_EQ(rig_.ask({"GET", "small"}).size(), 900u);
  EXPECT_EQ(rig_.ask({"GET", "large"}),
            "unknown_outcome: a reply of Redis at 127.0.0.1:" + std::to_string(server_.port()) +
                " is over the limit of 1000 bytes");
  EXPECT_EQ(rig_.ask({"GET", "small"}).size(), 900u);
}

}  // namespace
}  // namespace tarry::net
