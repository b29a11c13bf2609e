// Pushes by plain commands with a script after them (scripts/pushed.lua): either all messages are
// pushed, or none.
#include <future>
#include <map>

#include <gtest/gtest.h>

#include "support/engine_calls.h"
#include "support/inbox_rig.h"

namespace tarry::redis {
namespace {

using tarry::testing::InboxRig;

constexpr std::size_t kPlain = 8;  // push_verb.cpp: fewer go through one script

class PlainPushTest : public ::testing::Test, public test::EngineCalls {
 protected:
  PlainPushTest() : engine_(rig_.open()) { EXPECT_EQ(push(1), "pushed"); }

  // Pushes `count` messages. Returns the answer for the first one, which is the same for all.
  std::string push(std::size_t count, std::int64_t due_ms = 1) {
    core::PushRequest request;
    request.queue = "q";
    request.items.resize(count);
    for (core::PushItem& item : request.items) {
      item.payload = core::append(request.bytes, "payload");
      item.due = Due::at(Time(Millis(due_ms)));
    }
    const auto reply = ask(*engine_, std::move(request));
    if (!reply) return "refused: " + reply.error().message;
    std::map<std::string, std::size_t> said;
    for (const core::PushResult& item : std::get<core::PushReply>(*reply).items) {
      ++said[item.error ? std::string(to_string(item.error->code)) + ": " + item.error->message
                        : std::string(to_string(item.outcome))];
    }
    EXPECT_EQ(said.size(), 1u);
    return said.begin()->first;
  }
  std::size_t claim(Millis wait = Millis(0)) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.max = 1'000;
    request.wait = wait;
    const auto reply = ask(*engine_, std::move(request));
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? std::get<core::ClaimReply>(*reply).items.size() : 0;
  }
  std::string accepted() { return rig_.ask({"HGET", key("meta"), "accepted"}); }
  static std::string key(std::string_view part) {
    return InboxRig::key(1, "q/0:" + std::string(part));
  }
  void expect_only_the_first_one() {
    EXPECT_EQ(rig_.ask({"HLEN", key("msgs")}), ":2\r\n");
    EXPECT_EQ(accepted(), "1");
    EXPECT_EQ(claim(), 1u);
  }

  InboxRig rig_;
  std::unique_ptr<core::Engine> engine_;
};

TEST_F(PlainPushTest, PutsThemInAndCountsThem) {
  EXPECT_EQ(push(kPlain), "pushed");
  EXPECT_EQ(push(500), "pushed");
  EXPECT_EQ(push(500, 4'000'000'000'000), "pushed");
  EXPECT_EQ(accepted(), "1009");
  EXPECT_EQ(claim() + claim(), 1u + kPlain + 500u);
}

TEST_F(PlainPushTest, DoesNotNeedTheScriptToBeKnown) {
  ASSERT_EQ(rig_.ask({"SCRIPT", "FLUSH"}), "+OK\r\n");
  EXPECT_EQ(push(kPlain), "pushed");
  EXPECT_EQ(claim(), 1u + kPlain);
}

TEST_F(PlainPushTest, WakesWhoWaits) {
  EXPECT_EQ(claim(), 1u);
  core::ClaimRequest request;
  request.queues = {"q"};
  request.max = 1'000;
  request.wait = Millis(60'000);
  auto waiting = begin(*engine_, std::move(request));
  EXPECT_EQ(push(kPlain), "pushed");
  const auto reply = waiting.get();
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(std::get<core::ClaimReply>(*reply).items.size(), kPlain);
}

// A waiting claim by key has every change published, but only until `watched`.
TEST_F(PlainPushTest, TellsWhoWatchesAsLongAsTheyDo) {
  const auto published = [this] {
    const std::string told = rig_.ask({"INFO", "commandstats"});
    const std::size_t at = told.find("cmdstat_publish:calls=");
    return at == std::string::npos ? 0 : std::stoi(told.substr(at + 22));
  };
  constexpr std::int64_t kFarAhead = 4'000'000'000'000;
  for (const bool ended : {true, false}) {
    (void)rig_.ask({"HSET", key("meta"), "watched", ended ? "1000" : "9000000000000"});
    const int before = published();
    EXPECT_EQ(push(kPlain, kFarAhead), "pushed");
    EXPECT_EQ(published() - before, ended ? 0 : 1);
  }
}

TEST_F(PlainPushTest, WhileRedisIsFullNothingIsIn) {
  ASSERT_EQ(rig_.ask({"CONFIG", "SET", "maxmemory", "1"}), "+OK\r\n");
  const std::string refused = push(kPlain);
  EXPECT_TRUE(refused.starts_with("no_space: ")) << refused;
  ASSERT_EQ(rig_.ask({"CONFIG", "SET", "maxmemory", "0"}), "+OK\r\n");
  expect_only_the_first_one();
}

TEST_F(PlainPushTest, WhatIsNotOursIsNamedAndNothingIsIn) {
  ASSERT_EQ(rig_.ask({"HSET", key("meta"), "watched", "nonsense"}), ":1\r\n");
  const std::string refused = push(kPlain);
  EXPECT_TRUE(refused.starts_with("damaged: ")) << refused;
  EXPECT_NE(refused.find("watched nonsense"), std::string::npos) << refused;
  ASSERT_EQ(rig_.ask({"HDEL", key("meta"), "watched"}), ":1\r\n");
  expect_only_the_first_one();
}

// In turn, each key that a push writes to has another type: due times, bodies, heads.
TEST_F(PlainPushTest, OfAKeyOfAnotherTypeNothingIsIn) {
  for (const std::string& other : {key("due"), key("msgs"), InboxRig::key(1, "heads")}) {
    ASSERT_EQ(rig_.ask({"RENAME", other, other + ".away"}), "+OK\r\n");
    ASSERT_EQ(rig_.ask({"SET", other, "mine"}), "+OK\r\n");
    const std::string refused = push(kPlain, 0);
    EXPECT_TRUE(refused.starts_with("damaged: ")) << other << ": " << refused;
    ASSERT_EQ(rig_.ask({"RENAME", other + ".away", other}), "+OK\r\n");
    EXPECT_EQ(rig_.ask({"HLEN", key("msgs")}), ":2\r\n") << other;
    EXPECT_EQ(rig_.ask({"ZCARD", key("due")}), ":2\r\n") << other;
  }
  expect_only_the_first_one();
}

}  // namespace
}  // namespace tarry::redis
