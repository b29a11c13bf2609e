// Every verb that reads several shards, after a reshard was stopped at each possible call.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

using KeySet = std::set<std::string>;

class ReshardReadersTest : public ::testing::Test, protected test::EngineCalls {
 protected:
  static testing::RedisServer& server() { return testing::server_of<ReshardReadersTest>(); }
  static constexpr std::size_t kLeased = 4;

  std::unique_ptr<core::Engine> open(std::int64_t calls = -1) {
    auto options = testing::options_for(server(), clock_);
    options.reshard_calls = calls;
    return testing::must_open(std::move(options));
  }

  static void push(core::Engine& engine, const KeySet& keys, std::int64_t in_ms,
                   std::uint32_t priority = kDefaultPriority) {
    core::PushRequest request;
    request.queue = "q";
    for (const std::string& key : keys) {
      core::PushItem item;
      item.key = core::append(request.bytes, key);
      item.due = Due::after(Millis(in_ms));
      item.priority = priority;
      request.items.push_back(item);
    }
    (void)take<core::PushReply>(engine, std::move(request));
  }
  static std::map<std::string, std::string> claim(core::Engine& engine, const KeySet& keys = {}) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.max = 1000;
    request.lease = Millis(3'600'000);
    request.keys = {keys.begin(), keys.end()};
    const auto reply = take<core::ClaimReply>(engine, std::move(request));
    std::map<std::string, std::string> claimed;
    for (const auto& item : reply.items) {
      claimed.emplace(core::view(reply.bytes, item.key), core::view(reply.bytes, item.receipt));
    }
    return claimed;
  }
  static void settle(core::Engine& engine, const std::map<std::string, std::string>& claimed,
                     core::SettleAction action) {
    core::SettleRequest request;
    for (const auto& [key, receipt] : claimed) {
      core::SettleItem item;
      item.receipt = core::append(request.bytes, receipt);
      item.action = action;
      request.items.push_back(item);
    }
    (void)take<core::ItemsReply>(engine, std::move(request));
  }
  static KeySet keys_of(const std::map<std::string, std::string>& claimed) {
    KeySet keys;
    for (const auto& [key, receipt] : claimed) keys.insert(key);
    return keys;
  }
  static KeySet listed(core::Engine& engine, bool whole, std::optional<State> state = {}) {
    KeySet keys;
    core::ListRequest request;
    request.queue = "q";
    request.state = state;
    request.limit = 3;
    request.whole = whole;
    for (int page = 0; page < 100; ++page) {
      auto reply = take<core::ListReply>(engine, request);
      for (const MessageInfo& message : reply.messages) keys.insert(message.key);
      if (reply.next.empty()) return keys;
      request.after = reply.next;
    }
    ADD_FAILURE() << "the list does not end";
    return keys;
  }
  static bool reshard(core::Engine& engine, std::uint32_t shards) {
    std::uint64_t turn = 0;
    for (int i = 0; i < 1000; ++i) {
      auto reply = ask(engine, core::ReshardRequest{"q", shards, turn});
      if (!reply) {
        EXPECT_EQ(reply.error().code, ErrorCode::unavailable) << reply.error().message;
        return false;
      }
      const auto& step = std::get<ReshardStep>(*reply);
      if (step.done || step.leased > 0) return true;
      turn = step.turn;
    }
    return false;
  }

  void fill(core::Engine& engine) {
    core::ConfigureRequest configure;
    configure.queue = "q";
    configure.patch.remember = Millis(36'000'000);
    (void)take<core::ConfigureReply>(engine, std::move(configure));
    push(engine, {"dead 0", "dead 1"}, 0);
    settle(engine, claim(engine), core::SettleAction::bury);
    push(engine, {"remembered 0", "remembered 1"}, 0);
    settle(engine, claim(engine), core::SettleAction::ack);
    push(engine, {"scheduled 0", "scheduled 1", "scheduled 2"}, 600'000);
    push(engine, {"scheduled odd"}, 600'000, 7);
    push(engine, {"ready 0", "ready 1", "ready 2"}, 0);
    push(engine, {"ready odd"}, 0, 9);
    push(engine, {"leased 0", "leased 1", "leased 2", "leased 3"}, 0);
  }
  static KeySet leased_keys() { return {"leased 0", "leased 1", "leased 2", "leased 3"}; }

  static void expect_whole(core::Engine& engine) {
    const std::map<State, KeySet> there = {
        {State::scheduled, {"scheduled 0", "scheduled 1", "scheduled 2", "scheduled odd"}},
        {State::ready, {"ready 0", "ready 1", "ready 2", "ready odd"}},
        {State::leased, leased_keys()},
        {State::dead, {"dead 0", "dead 1"}},
        {State::remembered, {"remembered 0", "remembered 1"}}};
    KeySet all;
    for (const auto& [state, keys] : there) all.insert(keys.begin(), keys.end());
    for (const bool whole : {false, true}) {
      EXPECT_EQ(listed(engine, whole), all) << "whole: " << whole;
      for (const auto& [state, keys] : there) {
        EXPECT_EQ(listed(engine, whole, state), keys) << to_string(state) << ", whole: " << whole;
      }
    }
    const auto stats = take<StoreStats>(engine, core::StatsRequest{"q"}).queues.at(0);
    EXPECT_EQ(stats.scheduled, 4u);
    EXPECT_EQ(stats.ready, 4u);
    EXPECT_EQ(stats.leased, kLeased);
    EXPECT_EQ(stats.dead, 2u);
    EXPECT_EQ(stats.remembered, 2u);
    EXPECT_EQ(stats.counters.accepted, 14u + stats.counters.acked);
    const auto forecast =
        take<core::ForecastReply>(engine, core::ForecastRequest{"q", Millis(300'000), 3});
    EXPECT_EQ(forecast.due_now, 4u);
    EXPECT_EQ(forecast.buckets, (std::vector<std::uint64_t>{0, 4, 0}));
    core::GetRequest get;
    get.queue = "q";
    for (const std::string& key : all) get.keys.push_back(core::append(get.bytes, key));
    for (const auto& item : take<core::GetReply>(engine, get).items) {
      EXPECT_TRUE(item) << item.error().message;
    }
    for (const KeySet& keys : {KeySet{"ready 0", "ready odd"}, KeySet{}}) {
      const auto claimed = claim(engine, keys);
      EXPECT_EQ(keys_of(claimed), keys.empty() ? there.at(State::ready) : keys);
      settle(engine, claimed, core::SettleAction::release);
    }
  }

  // Reshards from `from` to `to` shards, stopped after each call in turn.
  void run(std::uint32_t from, std::uint32_t to) {
    int stops = 0;
    for (std::int64_t calls = 0;; ++calls) {
      SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to) + " shards, stopped after " +
                   std::to_string(calls) + " calls");
      (void)server().ask({"FLUSHALL"});
      const auto engine = open();
      fill(*engine);
      if (from != 1) {
        ASSERT_TRUE(reshard(*engine, from));
      }
      auto leased = claim(*engine, leased_keys());
      ASSERT_EQ(leased.size(), kLeased);
      const auto stopped = open(calls);
      const bool whole = reshard(*stopped, to);
      if (!whole) ++stops;
      expect_whole(*open());
      if (HasFailure()) return;
      if (!whole) continue;
      // The mover has moved all it can, and waits for leases. When they have ended, it makes the
      // rest of its calls.
      settle(*engine, leased, core::SettleAction::release);
      for (std::int64_t more = 0; !reshard(*open(more), to); ++more) {
        leased = claim(*engine, leased_keys());
        expect_whole(*engine);
        settle(*engine, leased, core::SettleAction::release);
      }
      (void)claim(*engine, leased_keys());
      expect_whole(*open());
      break;
    }
    EXPECT_GE(stops, 20);
  }

  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
};

TEST_F(ReshardReadersTest, TellAllWhileTheNewSetIsBehindTheOld) { run(1, 4); }

// The new set's first shard has the number 0: no list may begin with it.
TEST_F(ReshardReadersTest, TellAllWhileTheNewSetHasShardZero) { run(4, 1); }

// An older program was stopped after its first or its second RENAME, and a late push has made MSGS
// again.
TEST_F(ReshardReadersTest, AHalfClosedShardIsClosedByTheNextTry) {
  for (const bool with_due : {false, true}) {
    (void)server().ask({"FLUSHALL"});
    auto engine = open();
    fill(*engine);
    const auto leased = claim(*engine, leased_keys());
    std::int64_t calls = 0;
    while (server().ask({"HGET", "tarry:{0}:queues", "q"}).find("moving") == std::string::npos) {
      EXPECT_FALSE(reshard(*open(calls++), 3));
    }
    engine.reset();
    const std::string shard = "tarry:{1}:q/0:";
    const std::string told = server().ask({"HGET", shard + "meta", "generation"});
    const std::size_t from = told.find('\n') + 1;
    const std::string before = told.substr(from, told.rfind('.') - from);
    (void)server().ask({"HSET", shard + "meta", "generation", before});
    (void)server().ask({"DEL", shard + "msgs", shard + "due"});
    if (!with_due) (void)server().ask({"RENAME", shard + "due.closed", shard + "due"});
    (void)server().ask({"HSET", shard + "msgs", "late", "a body"});
    expect_whole(*open());
    engine = open();
    settle(*engine, leased, core::SettleAction::release);
    EXPECT_TRUE(reshard(*engine, 3));
    (void)claim(*engine, leased_keys());
    expect_whole(*engine);
  }
}

TEST_F(ReshardReadersTest, ABrokenQueueIsNamedAndTheOthersAreTold) {
  (void)server().ask({"FLUSHALL"});
  const auto engine = open();
  fill(*engine);
  core::PushRequest other = push_of("other", Millis(0));
  (void)take<core::PushReply>(*engine, other);
  (void)server().ask({"DEL", "tarry:{1}:q/0:due"});
  (void)server().ask({"SET", "tarry:{1}:q/0:due", "not ours"});
  const auto stats = take<StoreStats>(*engine, core::StatsRequest{});
  ASSERT_EQ(stats.queues.size(), 1u);
  EXPECT_EQ(stats.queues.at(0).queue, "other");
  ASSERT_EQ(stats.unreadable.size(), 1u);
  EXPECT_EQ(stats.unreadable.at(0).queue, "q");
  EXPECT_EQ(stats.unreadable.at(0).error.code, ErrorCode::damaged);
  const auto alone = ask(*engine, core::StatsRequest{"q"});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, ErrorCode::damaged);
}

}  // namespace
}  // namespace tarry::redis
