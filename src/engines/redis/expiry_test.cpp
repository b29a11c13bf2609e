// Messages that expire, as Redis keeps them: what stands in the keys and what is gone from them,
// how much one call ends, and stores of an older schema.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/rules/expiry.h"
#include "engines/redis/records/body.h"
#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

class RedisExpiry : public ::testing::Test, public testing::OneRedisEngine {
 protected:
  static std::string key(std::string_view part) { return "tarry:{1}:q/0:" + std::string(part); }
  [[nodiscard]] std::int64_t now() const { return clock_->now().realtime_ms; }

  core::PushRequest pushes(const std::vector<std::string>& keys, std::optional<Millis> expire) {
    core::PushRequest request;
    request.queue = "q";
    for (const std::string& name : keys) {
      core::PushItem item;
      if (!name.empty()) item.key = core::append(request.bytes, name);
      item.payload = core::append(request.bytes, "x");
      item.due = Due::at(Time(Millis(now())));
      item.expire = expire;
      request.items.push_back(item);
    }
    return request;
  }
  core::PushReply push(const std::vector<std::string>& keys, std::optional<Millis> expire = {}) {
    auto reply = asked<core::PushReply>(pushes(keys, expire));
    for (const auto& item : reply.items) EXPECT_FALSE(item.error) << item.error->message;
    return reply;
  }
  core::ClaimReply claim(std::uint32_t max = 1000) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.max = max;
    request.lease = 1h;
    return asked<core::ClaimReply>(std::move(request));
  }
  core::ItemResult settle(const core::ClaimReply& claimed, core::SettleAction action) {
    core::SettleRequest request;
    for (const auto& item : claimed.items) {
      core::SettleItem settled;
      settled.receipt = core::append(request.bytes, core::view(claimed.bytes, item.receipt));
      settled.action = action;
      if (action == core::SettleAction::retry) settled.delay = 1min;
      request.items.push_back(settled);
    }
    return asked<core::ItemsReply>(std::move(request)).items.at(0);
  }
  template <typename Request>
  core::ItemResult on_key(const std::string& name) {
    Request request;
    request.queue = "q";
    request.keys.push_back(core::append(request.bytes, name));
    return asked<core::ItemsReply>(std::move(request)).items.at(0);
  }
  Result<MessageInfo> get(const std::string& name) {
    core::GetRequest request;
    request.queue = "q";
    request.keys.push_back(core::append(request.bytes, name));
    return asked<core::GetReply>(std::move(request)).items.at(0);
  }
  void configure(SettingsPatch patch) {
    core::ConfigureRequest request;
    request.queue = "q";
    request.patch = patch;
    (void)asked<core::ConfigureReply>(std::move(request));
  }
  QueueStats stats() { return asked<StoreStats>(core::StatsRequest{"q"}).queues.at(0); }
  std::string meta(const std::string& field) { return server_.ask({"HGET", key("meta"), field}); }
  std::string agenda() { return server_.ask({"ZSCORE", "tarry:{1}:agenda", "q/0"}); }
  static std::string text(std::int64_t ms) {
    const std::string digits = std::to_string(ms);
    return "$" + std::to_string(digits.size()) + "\r\n" + digits + "\r\n";
  }
  // `leases` has its placeholder and this many entries more.
  void expect_entries(std::int64_t entries) {
    EXPECT_EQ(server_.ask({"ZCARD", key("leases")}), ":" + std::to_string(entries + 1) + "\r\n");
  }
};

constexpr std::string_view kNil = "$-1\r\n";

TEST_F(RedisExpiry, AMessageWithoutOneKeepsNothingOfIt) {
  push({"k"});
  expect_entries(0);
  EXPECT_EQ(meta("expiring"), kNil);
  EXPECT_EQ(server_.ask({"HSTRLEN", key("msgs"), "k"}), ":15\r\n");  // flags, CRC, id, pushed, "x"
  push({"expires"}, 1min);
  EXPECT_EQ(server_.ask({"HSTRLEN", key("msgs"), "expires"}), ":27\r\n");
  EXPECT_EQ(server_.ask({"HSTRLEN", key("msgs"), "k"}), ":15\r\n");
}

TEST_F(RedisExpiry, TheAgendaKnowsTheFirst) {
  push({"late"}, 2min);
  push({"soon"}, 1min);
  push({"middle"}, 90s);
  EXPECT_EQ(agenda(), text(now() + 60'000));
  EXPECT_EQ(on_key<core::CancelRequest>("soon").outcome, Outcome::cancelled);
  clock_->advance(60'000);
  (void)stats();
  EXPECT_EQ(agenda(), text(now() + 30'000));
}

TEST_F(RedisExpiry, EndsWithoutAClaim) {
  push({"k"}, 1min);
  clock_->advance(60'000);
  const auto deadline = std::chrono::steady_clock::now() + 1min;
  while (server_.ask({"HLEN", key("msgs")}) != ":1\r\n") {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nobody ends it";
  }
  EXPECT_EQ(meta("expired"), text(1));
  expect_entries(0);
  EXPECT_EQ(stats().counters.expired, 1u);
  EXPECT_EQ(meta("expiring"), kNil);
}

TEST_F(RedisExpiry, EntriesGoWithTheirMessages) {
  push({"a", "b", "c"}, 1h);
  expect_entries(3);
  EXPECT_EQ(settle(claim(1), core::SettleAction::ack).outcome, Outcome::done);
  expect_entries(2);
  EXPECT_EQ(on_key<core::CancelRequest>("b").outcome, Outcome::cancelled);
  expect_entries(1);
  EXPECT_EQ(asked<core::CountReply>(core::PurgeRequest{"q"}).count, 1u);
  expect_entries(0);
  core::PushRequest never = pushes({"d"}, {});
  push({"d"}, 1h);
  never.items[0].if_exists = IfExists::replace;
  EXPECT_EQ(asked<core::PushReply>(std::move(never)).items.at(0).outcome, Outcome::replaced);
  expect_entries(0);
}

// Claims of many messages take another way (scripts/claim_fast.lua), and so do other priorities.
TEST_F(RedisExpiry, EntriesOfClaimedMessagesComeBackWithThem) {
  push(std::vector<std::string>(40), 1h);
  core::PushRequest odd = pushes({"odd"}, 1h);
  odd.items[0].priority = 3;
  (void)asked<core::PushReply>(std::move(odd));
  expect_entries(41);
  const core::ClaimReply first = claim();
  ASSERT_EQ(first.items.size(), 41u);
  expect_entries(1);  // the lease
  EXPECT_EQ(settle(first, core::SettleAction::release).outcome, Outcome::done);
  expect_entries(41);
  const core::ClaimReply again = claim();
  ASSERT_EQ(again.items.size(), 41u);
  expect_entries(1);
  clock_->advance(3'600'000);  // the leases run out, and the messages expire
  EXPECT_EQ(stats().counters.expired, 41u);
  expect_entries(0);
}

TEST_F(RedisExpiry, NoClaimGetsOneOfThoseThatOneCallCannotEnd) {
  push(std::vector<std::string>(1'300), 1s);
  push({"never"});
  clock_->advance(1'000);
  EXPECT_EQ(keys_in(Result<core::Reply>(claim())), std::vector<std::string>{"never"});
  EXPECT_EQ(stats().counters.expired, 1'300u);
  push(std::vector<std::string>(1'300), 1s);
  push({"named"}, 1s);
  clock_->advance(1'000);
  EXPECT_FALSE(get("named"));
}

// More leases have run out than one call ends (late_leases_test.cpp), and their messages have
// expired.
TEST_F(RedisExpiry, AMessageWhoseLeaseIsOverIsNotClaimedByItsKey) {
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("k" + std::to_string(i));
  push(names, 1min);
  core::ClaimRequest request;
  request.queues = {"q"};
  request.max = 1;
  request.lease = 1min;
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(asked<core::ClaimReply>(request).items.size(), 1u);
    clock_->advance(1);  // so that the leases end one after the other
  }
  clock_->advance(120'000);
  request.keys = {"k29"};
  request.any_state = true;
  EXPECT_TRUE(asked<core::ClaimReply>(request).items.empty());
  EXPECT_FALSE(get("k29"));
  while (stats().leased > 0) {
  }
  EXPECT_EQ(stats().counters.expired, 30u);
}

TEST_F(RedisExpiry, AWaitingClaimGoesOnWaiting) {
  push(std::vector<std::string>(1'300), 1s);
  clock_->advance(1'000);
  core::ClaimRequest request;
  request.queues = {"q"};
  request.wait = 1h;
  auto waiting = begin(*engine_, request);
  wait_until_it_waits(*engine_, "q");
  push({"k"});
  EXPECT_EQ(keys_in(waiting.get()), std::vector<std::string>{"k"});
}

// A push by plain commands does not know the queue's settings (scripts/pushed.lua).
TEST_F(RedisExpiry, OfTheQueueIsForPlainPushesToo) {
  configure({.expire = Millis(1min)});
  const core::PushReply reply = push(std::vector<std::string>(20));
  for (const auto& item : reply.items) {
    const auto info = get(std::string(core::view(reply.bytes, item.key)));
    ASSERT_TRUE(info);
    EXPECT_EQ(info->expire_at, info->due + 1min);
    EXPECT_EQ(info->id, item.id);
  }
  EXPECT_EQ(stats().counters.accepted, 20u);
  const std::string refused = server_.ask({"INFO", "errorstats"});
  (void)push(std::vector<std::string>(20));
  EXPECT_EQ(server_.ask({"INFO", "errorstats"}), refused) << "the second push asks no more";
  clock_->advance(60'000);
  EXPECT_TRUE(claim().items.empty());
  EXPECT_EQ(stats().counters.expired, 40u);
}

TEST_F(RedisExpiry, OfTheQueueIsForTheInboxToo) {
  configure({.expire = Millis(1min)});
  core::PushRequest fixed = pushes({"fixed"}, {});
  fixed.items[0].expire_at = Time(Millis(now() + 60'000));
  (void)asked<core::PushReply>(std::move(fixed));
  const std::string in = "tarry:{1}:in";
  const std::string due = std::to_string(now() + 60'000);
  (void)server_.ask(
      {"XADD", in, "*", "queue", "q", "key", "k", "payload", "x", "due", std::to_string(now())});
  for (const std::vector<std::string>& late :
       {std::vector<std::string>{"verb", "reschedule"},
        std::vector<std::string>{"payload", "x", "if_exists", "later"}}) {
    std::vector<std::string> words = {"XADD", in, "*", "queue", "q", "key", "fixed", "due", due};
    words.insert(words.end(), late.begin(), late.end());
    (void)server_.ask(words);
  }
  const auto deadline = std::chrono::steady_clock::now() + 1min;
  while (server_.ask({"XLEN", in}) != ":0\r\n") {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nobody drains it";
    (void)server_.ask({"PUBLISH", "tarry:{1}:wake", "in"});
  }
  EXPECT_EQ(get("k")->expire, 1min);
  EXPECT_EQ(get("k")->expire_at, get("k")->due + 1min);
  EXPECT_EQ(get("fixed")->due, Time(Millis(now())));
  EXPECT_EQ(server_.ask({"XLEN", in + ":bad"}), ":2\r\n");
  EXPECT_NE(server_.ask({"XRANGE", in + ":bad", "-", "+"}).find("the message expires"),
            std::string::npos);
}

TEST_F(RedisExpiry, LeasedMessagesAreListedWithoutTheEntriesOfOthers) {
  push({"a"}, 1h);
  (void)claim();
  push({"b", "c"}, 1min);
  core::ListRequest request;
  request.queue = "q";
  request.state = State::leased;
  const auto listed = asked<core::ListReply>(request).messages;
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].key, "a");
  request.state.reset();
  EXPECT_EQ(asked<core::ListReply>(request).messages.size(), 3u);
}

TEST_F(RedisExpiry, LeavesWithItsMessageAtAReshard) {
  push({"a", "b", "c", "d", "e"}, 1h);
  const Result<MessageInfo> before = get("a");
  ReshardStep step;
  for (int i = 0; i < 1000 && !step.done; ++i) {
    step = asked<ReshardStep>(core::ReshardRequest{"q", 3, step.turn});
  }
  ASSERT_TRUE(step.done);
  EXPECT_EQ(get("a")->expire_at, before->expire_at);
  clock_->advance(3'600'000);
  EXPECT_TRUE(claim().items.empty());
  EXPECT_EQ(stats().counters.expired, 5u);
}

// The clock is set back: an entry that was due waits again, and is not lost.
TEST_F(RedisExpiry, FollowsAClockThatWasSetBack) {
  push({"k"}, 1min);
  clock_->step_realtime(-30'000);
  EXPECT_TRUE(claim().items.empty());
  clock_->step_realtime(89'999);
  EXPECT_EQ(get("k")->state, State::ready);
  clock_->advance(1);
  EXPECT_FALSE(get("k"));
  EXPECT_EQ(stats().counters.expired, 1u);
}

TEST_F(RedisExpiry, KeepsItsMomentInAMove) {
  core::MoveRequest request;
  request.queue = "q";
  for (const bool dead : {false, true}) {
    core::MoveItem item;
    item.push.key = core::append(request.bytes, dead ? "dead" : "live");
    item.push.due = Due::at(Time(Millis(now())));
    item.push.expire = 1min;
    item.push.expire_at = Time(Millis(now() + 600'000));
    item.attempt = 2;
    item.dead = dead;
    request.items.push_back(item);
  }
  (void)asked<core::PushReply>(std::move(request));
  for (const char* name : {"live", "dead"}) {
    EXPECT_EQ(get(name)->expire, 1min) << name;
    EXPECT_EQ(get(name)->expire_at, Time(Millis(now() + 600'000))) << name;
  }
  clock_->advance(600'000);
  EXPECT_FALSE(get("live"));
  EXPECT_EQ(get("dead")->state, State::dead);
}

// Programs that know only schema 3 would deliver messages after their expiry.
TEST_F(RedisExpiry, IsRefusedInAStoreOfAnOlderSchema) {
  push({"there"});
  ASSERT_EQ(server_.ask({"HSET", "tarry:{0}:store", "schema", "3"}), ":0\r\n");
  engine_.reset();
  engine_ = testing::must_open(testing::options_for(server_, clock_));
  EXPECT_FALSE(engine_->capabilities().expiry);
  const auto refused = [](const std::optional<Error>& error) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::unsupported);
    for (const char* part : {"expiry", "schema 4", "schema 3"}) {
      EXPECT_NE(error->message.find(part), std::string::npos) << error->message;
    }
  };
  refused(asked<core::PushReply>(pushes({"k"}, 1min)).items.at(0).error);
  for (const SettingsPatch& patch :
       {SettingsPatch{.expire = Millis(1min)}, SettingsPatch{.on_expiry = OnExpiry::dead}}) {
    core::ConfigureRequest configure;
    configure.queue = "q";
    configure.patch = patch;
    const auto reply = ask(std::move(configure));
    ASSERT_FALSE(reply);
    refused(reply.error());
  }
  push({"other"});
  ASSERT_EQ(server_.ask({"HSET", "tarry:{0}:store", "schema", "4"}), ":0\r\n");
  engine_.reset();
  engine_ = testing::must_open(testing::options_for(server_, clock_));
  push({"k"}, 1min);
  EXPECT_EQ(claim().items.size(), 3u);
}

}  // namespace
}  // namespace tarry::redis
