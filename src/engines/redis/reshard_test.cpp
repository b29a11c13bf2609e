// Resharding on a real server: messages in every state, the mover stopped after each of its calls,
// and engines that do not know of the reshard.
#include <future>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

using Keys = std::vector<std::string>;

class ReshardTest : public ::testing::Test, protected test::EngineCalls {
 protected:
  static testing::RedisServer& server() { return testing::server_of<ReshardTest>(); }
  ReshardTest() { (void)server().ask({"FLUSHALL"}); }

  std::unique_ptr<core::Engine> open(std::uint32_t shards = 1, std::int64_t calls = -1) {
    auto options = testing::options_for(server(), clock_);
    options.shards = shards;
    options.reshard_calls = calls;
    return testing::must_open(std::move(options));
  }

  static Outcome push(core::Engine& engine, const std::string& key, std::int64_t in_ms = 0,
                      std::optional<IfExists> rule = {},
                      std::uint32_t priority = kDefaultPriority) {
    core::PushRequest request;
    request.queue = "q";
    core::PushItem item;
    item.key = core::append(request.bytes, key);
    item.payload = core::append(request.bytes, "payload of " + key);
    item.due = Due::after(Millis(in_ms));
    item.if_exists = rule;
    item.priority = priority;
    request.items.push_back(item);
    const auto reply = take<core::PushReply>(engine, std::move(request));
    EXPECT_FALSE(reply.items.at(0).error) << reply.items.at(0).error->message;
    return reply.items.at(0).outcome;
  }
  // A push of this many messages with generated keys, due at once, goes by plain commands.
  static constexpr std::uint32_t kPlain = 8;
  static core::PushRequest plain_push(std::uint32_t messages) {
    core::PushRequest request;
    request.queue = "q";
    for (std::uint32_t i = 0; i < messages; ++i) {
      core::PushItem item;
      item.payload = core::append(request.bytes, "plain");
      item.due = Due::at(Time(Millis(1)));
      request.items.push_back(item);
    }
    return request;
  }
  // The key of a shard's bodies.
  static std::string bodies_of(const std::string& shard) {
    const std::string told = server().ask({"KEYS", "tarry:{*}:" + shard + ":msgs"});
    const std::size_t at = told.find("tarry:");
    return at == std::string::npos ? "" : told.substr(at, told.find("\r\n", at) - at);
  }
  static Outcome cancel(core::Engine& engine, const std::string& key) {
    core::CancelRequest request;
    request.queue = "q";
    request.keys.push_back(core::append(request.bytes, key));
    return outcome(take<core::ItemsReply>(engine, std::move(request)));
  }
  static Outcome reschedule(core::Engine& engine, const std::string& key, std::int64_t in_ms) {
    core::RescheduleRequest request;
    request.queue = "q";
    core::RescheduleItem item;
    item.key = core::append(request.bytes, key);
    item.due = Due::after(Millis(in_ms));
    request.items.push_back(item);
    return outcome(take<core::ItemsReply>(engine, std::move(request)));
  }
  static Outcome outcome(const core::ItemsReply& reply) {
    EXPECT_FALSE(reply.items.at(0).error) << reply.items.at(0).error->message;
    return reply.items.at(0).outcome;
  }
  static Result<MessageInfo> get(core::Engine& engine, const std::string& key) {
    core::GetRequest request;
    request.queue = "q";
    request.keys.push_back(core::append(request.bytes, key));
    return take<core::GetReply>(engine, std::move(request)).items.at(0);
  }
  static std::map<std::string, std::string> claim(core::Engine& engine, std::uint32_t max = 1000,
                                                  const Keys& keys = {}) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.max = max;
    request.keys = keys;
    const auto reply = take<core::ClaimReply>(engine, std::move(request));
    std::map<std::string, std::string> claimed;
    for (const auto& item : reply.items) {
      claimed.emplace(core::view(reply.bytes, item.key), core::view(reply.bytes, item.receipt));
    }
    return claimed;
  }
  static Outcome settle(core::Engine& engine, const std::string& receipt,
                        core::SettleAction action = core::SettleAction::ack) {
    core::SettleRequest request;
    core::SettleItem item;
    item.receipt = core::append(request.bytes, receipt);
    item.action = action;
    request.items.push_back(item);
    return outcome(take<core::ItemsReply>(engine, std::move(request)));
  }
  static void remember(core::Engine& engine) {
    core::ConfigureRequest request;
    request.queue = "q";
    request.patch.remember = Millis(3'600'000);
    (void)take<core::ConfigureReply>(engine, std::move(request));
  }
  static QueueStats stats(core::Engine& engine) {
    return take<StoreStats>(engine, core::StatsRequest{"q"}).queues.at(0);
  }
  static Result<core::Reply> step(core::Engine& engine, std::uint32_t shards,
                                  std::uint64_t turn = 0) {
    return ask(engine, core::ReshardRequest{"q", shards, turn});
  }
  // Reshards to the end, however many steps that takes.
  static ReshardStep reshard(core::Engine& engine, std::uint32_t shards) {
    ReshardStep last;
    for (int i = 0; i < 1000 && !last.done; ++i) {
      auto reply = step(engine, shards, last.turn);
      EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
      if (!reply) break;
      last = std::get<ReshardStep>(*reply);
    }
    EXPECT_TRUE(last.done);
    return last;
  }
  static void expect_conserved(core::Engine& engine, const std::string& when) {
    const QueueStats now = stats(engine);
    const QueueCounters& c = now.counters;
    EXPECT_EQ(c.accepted, now.scheduled + now.ready + now.leased + now.dead + c.acked +
                              c.cancelled + c.replaced + c.expired + c.purged + c.moved_away)
        << when;
  }

  // Makes one message in every state, and returns the receipts.
  std::map<std::string, std::string> fill(core::Engine& engine) {
    remember(engine);
    for (const char* key : {"acked", "dead", "leased", "retried", "stopping"}) push(engine, key);
    auto claimed = claim(engine);
    EXPECT_EQ(claimed.size(), 5u);
    EXPECT_EQ(settle(engine, claimed.at("acked")), Outcome::done);
    EXPECT_EQ(settle(engine, claimed.at("dead"), core::SettleAction::bury), Outcome::done);
    EXPECT_EQ(settle(engine, claimed.at("retried"), core::SettleAction::retry), Outcome::done);
    EXPECT_EQ(cancel(engine, "stopping"), Outcome::stopping);
    push(engine, "scheduled", 3'600'000);
    push(engine, "odd", 3'600'000, {}, 7);
    push(engine, "ready");
    push(engine, "ready odd", 0, {}, 9);
    return claimed;
  }
  static const std::map<std::string, State>& states() {
    static const std::map<std::string, State> states = {
        {"acked", State::remembered},  {"dead", State::dead},       {"leased", State::leased},
        {"retried", State::scheduled}, {"stopping", State::leased}, {"scheduled", State::scheduled},
        {"odd", State::scheduled},     {"ready", State::ready},     {"ready odd", State::ready}};
    return states;
  }
  static std::map<std::string, MessageInfo> all(core::Engine& engine) {
    std::map<std::string, MessageInfo> found;
    for (const auto& [key, state] : states()) {
      auto info = get(engine, key);
      EXPECT_TRUE(info) << key << (info ? "" : ": " + info.error().message);
      if (info) found.emplace(key, *std::move(info));
    }
    return found;
  }
  static void expect_same(const std::map<std::string, MessageInfo>& before,
                          const std::map<std::string, MessageInfo>& after) {
    ASSERT_EQ(before.size(), after.size());
    for (const auto& [key, was] : before) {
      const MessageInfo& is = after.at(key);
      EXPECT_EQ(was.state, is.state) << key;
      EXPECT_EQ(was.id, is.id) << key;
      EXPECT_EQ(was.due, is.due) << key;
      EXPECT_EQ(was.priority, is.priority) << key;
      EXPECT_EQ(was.pushed.has_value(), was.state != State::remembered) << key;
      EXPECT_EQ(was.pushed, is.pushed) << key;
      EXPECT_EQ(was.attempt, is.attempt) << key;
      EXPECT_EQ(was.tallies, is.tallies) << key;
      EXPECT_EQ(was.payload, is.payload) << key;
      EXPECT_EQ(was.reason, is.reason) << key;
      EXPECT_EQ(was.stopping, is.stopping) << key;
    }
  }

  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
};

TEST_F(ReshardTest, EveryStateComesThroughUpAndDown) {
  const auto engine = open();
  auto claimed = fill(*engine);
  auto before = all(*engine);
  std::uint32_t from = 1;
  for (const std::uint32_t to : {4u, 3u, 1u, 256u, 2u}) {
    auto first = step(*engine, to);
    ASSERT_TRUE(first) << first.error().message;
    auto now = std::get<ReshardStep>(*first);
    EXPECT_FALSE(now.done);  // two are leased
    EXPECT_EQ(now.from, from);
    EXPECT_EQ(now.to, to);
    EXPECT_EQ(now.left, 2u);
    EXPECT_EQ(now.leased, 2u);
    EXPECT_EQ(now.moved, 7u);
    expect_same(before, all(*engine));
    expect_conserved(*engine, "moving");
    for (const char* key : {"leased", "stopping"}) {
      EXPECT_EQ(settle(*engine, claimed.at(key), core::SettleAction::release), Outcome::done);
    }
    EXPECT_TRUE(reshard(*engine, to).changed);
    expect_conserved(*engine, "done");
    for (const char* key : {"leased", "stopping"}) {
      EXPECT_EQ(settle(*engine, claimed.at(key)), Outcome::stale) << key;
    }
    EXPECT_EQ(cancel(*engine, "stopping"), Outcome::settled);
    ASSERT_EQ(push(*engine, "stopping", 0, IfExists::replace), Outcome::pushed);
    from = to;
    claimed = claim(*engine, 1000, {"leased", "stopping"});
    ASSERT_EQ(claimed.size(), 2u);
    EXPECT_EQ(cancel(*engine, "stopping"), Outcome::stopping);
    // Each round adds one claim and one release.
    auto after = all(*engine);
    for (const char* key : {"leased", "stopping"}) after[key] = before.at(key);
    expect_same(before, after);
    before = all(*engine);
    EXPECT_EQ(server().ask({"KEYS", "*closed*"}), "*0\r\n");
  }
  EXPECT_FALSE(reshard(*engine, 2).changed);
}

// The mover is stopped after each call in turn. Every message exists unchanged, and verbs by key
// find it. Then another mover continues.
TEST_F(ReshardTest, StoppedBehindEachCallNothingIsLostOrTwice) {
  constexpr std::int64_t kFirstRead = 12;  // calls before it make only keys and the record
  constexpr std::int64_t kUses = 5;
  int stops = 0;
  for (std::int64_t round = 0;; ++round) {
    const std::int64_t calls =
        round < kFirstRead ? round : kFirstRead + (round - kFirstRead) / kUses;
    (void)server().ask({"FLUSHALL"});
    const auto engine = open(2);
    auto claimed = fill(*engine);
    const auto before = all(*engine);
    const auto stale = open(2);
    EXPECT_EQ(push(*stale, "of the stale one", 3'600'000), Outcome::pushed);
    const auto stopped = open(2, calls);
    const auto reply = step(*stopped, 3);
    if (reply) break;
    ASSERT_EQ(reply.error().code, ErrorCode::unavailable) << reply.error().message;
    ++stops;
    const std::string when = "stopped after " + std::to_string(calls) + " calls";
    SCOPED_TRACE(when);
    expect_conserved(*engine, when);
    // Some keys are not requested before the next mover comes.
    switch (round % kUses) {
      case 0: expect_same(before, all(*engine)); break;
      case 1:
        EXPECT_EQ(cancel(*stale, "scheduled"), Outcome::cancelled);
        EXPECT_EQ(push(*engine, "scheduled", 3'600'000), Outcome::settled);
        EXPECT_EQ(push(*engine, "scheduled", 3'600'000, IfExists::replace), Outcome::pushed);
        EXPECT_EQ(push(*stale, "dead"), Outcome::exists);
        EXPECT_EQ(push(*stale, "acked"), Outcome::settled);
        EXPECT_EQ(push(*stale, "leased"), Outcome::in_flight);
        break;
      case 2:
        EXPECT_EQ(reschedule(*stale, "odd", 1'800'000), Outcome::rescheduled);
        EXPECT_EQ(reschedule(*engine, "dead", 3'600'000), Outcome::revived);
        EXPECT_EQ(reschedule(*engine, "acked", 1), Outcome::settled);
        break;
      case 3: {
        const auto got = claim(*stale, 1000, {"ready", "ready odd"});
        EXPECT_EQ(got.size(), 2u);
        for (const auto& [key, receipt] : got) EXPECT_EQ(settle(*stale, receipt), Outcome::done);
        EXPECT_EQ(cancel(*engine, "ready"), Outcome::settled);
        break;
      }
      default:
        EXPECT_EQ(push(*engine, "ready", 0, IfExists::replace), Outcome::replaced);
        EXPECT_EQ(push(*stale, "odd", 5, IfExists::earlier), Outcome::moved);
        EXPECT_EQ(cancel(*stale, "dead"), Outcome::cancelled);
        EXPECT_EQ(cancel(*engine, "nobody"), Outcome::unknown);
        EXPECT_EQ(push(*stale, "dead", 3'600'000), Outcome::settled);
        EXPECT_EQ(push(*stale, "dead", 3'600'000, IfExists::replace), Outcome::pushed);
        break;
    }
    const auto as_left = all(*engine);
    expect_conserved(*engine, when + ", used");
    EXPECT_EQ(settle(*stale, claimed.at("leased"), core::SettleAction::release), Outcome::done);
    EXPECT_EQ(settle(*engine, claimed.at("stopping")), Outcome::done);
    reshard(*engine, 3);
    auto after = all(*stale);
    EXPECT_EQ(after.at("leased").state, State::ready);
    EXPECT_EQ(after.at("stopping").state, State::remembered);
    for (const char* key : {"leased", "stopping"}) after[key] = as_left.at(key);
    expect_same(as_left, after);
    expect_conserved(*engine, when + ", and gone on");
    EXPECT_TRUE(get(*engine, "of the stale one"));
    // No copy of a message may be left.
    clock_->advance(7'200'000);
    const auto due = claim(*engine);
    std::set<std::string> expected = {"of the stale one"};
    for (const auto& [key, info] : as_left) {
      if (info.state == State::scheduled || info.state == State::ready || key == "leased") {
        expected.insert(key);
      }
    }
    std::set<std::string> got;
    for (const auto& [key, receipt] : due) got.insert(key);
    EXPECT_EQ(got, expected);
    EXPECT_TRUE(claim(*stale).empty());
  }
  EXPECT_GE(stops, 40);
}

TEST_F(ReshardTest, WhoTakesOverIsObeyedAndTheOtherIsTold) {
  const auto one = open();
  const auto other = open();
  push(*one, "k", 3'600'000);
  push(*one, "held");
  const auto claimed = claim(*one);
  const auto mine = step(*one, 2);
  ASSERT_TRUE(mine);
  const auto theirs = step(*other, 2);
  ASSERT_TRUE(theirs);
  const auto told = step(*one, 2, std::get<ReshardStep>(*mine).turn);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, ErrorCode::conflict);
  EXPECT_NE(told.error().message.find("another process"), std::string::npos);
  EXPECT_EQ(step(*one, 3).error().code, ErrorCode::conflict);
  EXPECT_EQ(settle(*one, claimed.at("held")), Outcome::done);
  EXPECT_TRUE(std::get<ReshardStep>(*step(*other, 2, std::get<ReshardStep>(*theirs).turn)).done);
  EXPECT_EQ(cancel(*one, "k"), Outcome::cancelled);
}

TEST_F(ReshardTest, AStepIsMadeOnce) {
  const auto engine = open();
  push(*engine, "held");
  const auto claimed = claim(*engine);
  const auto first = step(*engine, 2);
  ASSERT_TRUE(first);
  const std::uint64_t turn = std::get<ReshardStep>(*first).turn;
  // Of two steps at once, the later one would remove the notes of the other.
  auto answers = std::make_shared<std::promise<std::vector<ErrorCode>>>();
  auto refused = std::make_shared<std::vector<ErrorCode>>();
  auto left = std::make_shared<int>(2);
  for (int i = 0; i < 2; ++i) {
    engine->submit(core::ReshardRequest{"q", 2, turn}, [=](const Result<core::Reply>& reply) {
      if (!reply) refused->push_back(reply.error().code);
      if (--*left == 0) answers->set_value(*refused);
    });
  }
  EXPECT_EQ(answers->get_future().get(), std::vector<ErrorCode>{ErrorCode::conflict});
  EXPECT_EQ(step(*engine, 2, turn).error().code, ErrorCode::conflict);
  // A step that failed is refused the second time: only a new turn completes its work.
  const auto other = step(*engine, 2);
  ASSERT_TRUE(other) << other.error().message;
  push(*engine, "k", 3'600'000);
  const std::uint64_t next = std::get<ReshardStep>(*other).turn;
  const auto stopped = open(1, 1);
  EXPECT_EQ(step(*stopped, 2, next).error().code, ErrorCode::unavailable);
  EXPECT_EQ(step(*engine, 2, next).error().code, ErrorCode::conflict);
  EXPECT_EQ(settle(*engine, claimed.at("held")), Outcome::done);
  EXPECT_TRUE(reshard(*engine, 2).done);
  EXPECT_EQ(cancel(*engine, "k"), Outcome::cancelled);
}

TEST_F(ReshardTest, ManyMessagesAndMadeKeysFindTheirShards) {
  const auto engine = open();
  const auto stale = open();
  core::PushRequest request;
  request.queue = "q";
  for (int i = 0; i < 3'000; ++i) {
    core::PushItem item;
    if (i % 2 == 0) item.key = core::append(request.bytes, "key " + std::to_string(i));
    item.payload = core::append(request.bytes, std::to_string(i));
    request.items.push_back(item);
  }
  const auto pushed = take<core::PushReply>(*stale, request);
  ASSERT_EQ(pushed.items.size(), 3'000u);
  EXPECT_EQ(reshard(*engine, 5).moved, 3'000u);
  const auto made = take<core::PushReply>(*stale, request);  // by a process that has an old record
  EXPECT_EQ(made.items.at(1).outcome, Outcome::pushed);
  EXPECT_EQ(made.items.at(0).outcome, Outcome::exists);
  EXPECT_EQ(stats(*engine).counters.accepted, 4'500u);
  for (const std::size_t i : {0u, 1u, 2'999u}) {
    EXPECT_EQ(cancel(*engine, std::string(core::view(pushed.bytes, pushed.items[i].key))),
              Outcome::cancelled);
  }
  EXPECT_EQ(claim(*engine, 10'000).size(), 4'497u);
}

// The process that made the queue was killed before all its shards existed.
TEST_F(ReshardTest, AShardThatWasNeverMadeIsMadeBeforeItIsClosed) {
  ASSERT_EQ(push(*open(3), "k"), Outcome::pushed);
  constexpr const char* kForgetAnEmptyShard = R"lua(
for _, bodies in ipairs(redis.call('KEYS', 'tarry:*:q/*:msgs')) do
  if redis.call('HLEN', bodies) == 1 then
    for _, key in ipairs(redis.call('KEYS', string.sub(bodies, 1, -5) .. '*')) do
      redis.call('DEL', key)
    end
    return 'forgotten'
  end
end)lua";
  ASSERT_EQ(server().ask({"EVAL", kForgetAnEmptyShard, "0"}), "$9\r\nforgotten\r\n");
  const auto engine = open();
  EXPECT_EQ(reshard(*engine, 5).moved, 1u);
  EXPECT_EQ(push(*engine, "k"), Outcome::exists);
  EXPECT_EQ(claim(*engine).size(), 1u);
  expect_conserved(*engine, "after it");
}

// The mover is stopped after each call in turn. Due messages reach a waiting claim, though no mover
// continues.
TEST_F(ReshardTest, WhatIsOnItsWayIsDeliveredWithoutAMover) {
  for (std::int64_t calls = 0;; ++calls) {
    (void)server().ask({"FLUSHALL"});
    const auto engine = open();
    ASSERT_EQ(push(*engine, "k", 10'000), Outcome::pushed);
    core::ClaimRequest claim;
    claim.queues = {"q"};
    claim.max = 1;
    claim.wait = Millis(3'600'000);
    auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
    auto answer = promise->get_future();
    engine->submit(claim,
                   [promise](Result<core::Reply> reply) { promise->set_value(std::move(reply)); });
    const auto stopped = open(1, calls);
    const bool done = step(*stopped, 3).has_value();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (answer.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << calls;
      clock_->advance(1'000);  // the sweep uses this clock
    }
    const auto reply = answer.get();
    ASSERT_TRUE(reply) << reply.error().message;
    const auto& claimed = std::get<core::ClaimReply>(*reply);
    ASSERT_EQ(claimed.items.size(), 1u) << calls;
    EXPECT_EQ(settle(*engine, std::string(core::view(claimed.bytes, claimed.items[0].receipt))),
              Outcome::done);
    if (done) break;
  }
}

// At any stage of a reshard Redis may become full. Then the mover is refused, but verbs that free
// memory work.
TEST_F(ReshardTest, WhileRedisIsFullNothingIsStuck) {
  for (std::int64_t calls = 0;; ++calls) {
    (void)server().ask({"FLUSHALL"});
    const auto engine = open();
    for (const char* key : {"a", "b", "c"}) push(*engine, key);
    auto claimed = claim(*engine, 1);
    push(*engine, "later", 3'600'000);
    const auto stopped = open(1, calls);
    const bool done = step(*stopped, 3).has_value();
    ASSERT_EQ(server().ask({"CONFIG", "SET", "maxmemory", "1"}), "+OK\r\n");
    if (!done) {
      EXPECT_EQ(step(*engine, 3).error().code, ErrorCode::no_space) << calls;
      EXPECT_EQ(cancel(*engine, "later"), Outcome::cancelled) << calls;
      EXPECT_EQ(cancel(*engine, "later"), Outcome::unknown) << calls;
      EXPECT_EQ(settle(*engine, claimed.begin()->second), Outcome::done) << calls;
    }
    ASSERT_EQ(server().ask({"CONFIG", "SET", "maxmemory", "0"}), "+OK\r\n");
    if (done) break;
    EXPECT_EQ(reshard(*engine, 3).to, 3u);
    EXPECT_EQ(claim(*engine).size(), 2u) << calls;
    expect_conserved(*engine, "at the end");
  }
}

// ---- pushes of generated keys: plain commands, and after them a script that may undo them

TEST_F(ReshardTest, APlainPushWhoseScriptIsRefusedLeavesNoMessage) {
  const auto engine = open();
  push(*engine, "k", 3'600'000);
  ASSERT_EQ(server().ask({"SCRIPT", "FLUSH"}), "+OK\r\n");
  ASSERT_EQ(server().ask({"ACL", "SETUSER", "default", "-eval"}), "+OK\r\n");
  const auto refused = ask(*engine, plain_push(kPlain));
  ASSERT_TRUE(refused);
  ASSERT_TRUE(std::get<core::PushReply>(*refused).items.at(0).error);
  EXPECT_EQ(std::get<core::PushReply>(*refused).items.at(0).error->code,
            ErrorCode::permission_denied);
  ASSERT_EQ(server().ask({"ACL", "SETUSER", "default", "+eval"}), "+OK\r\n");
  EXPECT_TRUE(claim(*engine).empty());
  EXPECT_EQ(stats(*engine).counters.accepted, 1u);
  ASSERT_EQ(server().ask({"SCRIPT", "FLUSH"}), "+OK\r\n");
  const auto pushed = take<core::PushReply>(*engine, plain_push(kPlain));
  EXPECT_EQ(pushed.items.at(1).outcome, Outcome::pushed);
  EXPECT_EQ(claim(*engine).size(), std::size_t{kPlain});
  EXPECT_EQ(stats(*engine).counters.accepted, 1u + kPlain);
  expect_conserved(*engine, "after it");
}

// A process that has missed two reshards writes into a shard that is in use again. A process that
// has missed a reshard's first step writes into a closed shard.
TEST_F(ReshardTest, ALatePlainPushIsSeenNowhereButWhereItBelongs) {
  const auto engine = open();
  const auto stale = open();
  const auto late = open();
  push(*engine, "k", 3'600'000);
  for (auto* learns : {stale.get(), late.get()}) {
    ASSERT_EQ(take<core::PushReply>(*learns, plain_push(kPlain)).items.size(), 8u);
  }
  for (const auto& [key, receipt] : claim(*engine)) {
    EXPECT_EQ(settle(*engine, receipt), Outcome::done);
  }
  reshard(*engine, 2);
  ASSERT_TRUE(step(*engine, 1));
  const auto amid = take<core::PushReply>(*stale, plain_push(kPlain));
  EXPECT_EQ(amid.items.at(0).outcome, Outcome::pushed);
  const auto moved = claim(*engine);
  EXPECT_EQ(moved.size(), std::size_t{kPlain});
  for (const auto& [key, receipt] : moved) EXPECT_EQ(settle(*engine, receipt), Outcome::done);
  reshard(*engine, 1);  // the shard has the number 0 again
  ASSERT_EQ(take<core::PushReply>(*late, plain_push(kPlain)).items.size(), std::size_t{kPlain});
  EXPECT_EQ(claim(*engine).size(), std::size_t{kPlain});
  EXPECT_EQ(stats(*engine).counters.accepted, 1u + 4 * kPlain);
  EXPECT_EQ(server().ask({"HLEN", bodies_of("q/0")}),
            ":10\r\n");  // "k", and the placeholder
  EXPECT_TRUE(get(*engine, "k"));
  expect_conserved(*engine, "after it");
}

TEST_F(ReshardTest, BodiesThatAreNobodysDoNotKeepAReshardFromEnding) {
  const auto engine = open();
  push(*engine, "k", 3'600'000);
  push(*engine, "leased");
  const auto claimed = claim(*engine);
  const std::string shard = bodies_of("q/0");
  for (int i = 0; i < 1'200; ++i) {
    (void)server().ask({"HSET", shard, "nobody's " + std::to_string(i), "....."});
  }
  auto now = std::get<ReshardStep>(*step(*engine, 3));
  EXPECT_EQ(now.left, 1u);
  EXPECT_EQ(now.leased, 1u);
  EXPECT_EQ(settle(*engine, claimed.at("leased")), Outcome::done);
  EXPECT_TRUE(reshard(*engine, 3).done);
  EXPECT_TRUE(get(*engine, "k"));
  expect_conserved(*engine, "after it");
}

// A process reads an entry of the inbox before the reshard, and delivers it after the reshard.
TEST_F(ReshardTest, AnEntryOfTheInboxIsNotCarriedOutAgainByTheNewShards) {
  const auto engine = open();
  push(*engine, "other", 3'600'000);
  const Keys entry = {"XADD", "tarry:{0}:in", "5-1", "queue", "q", "key", "k", "payload", "p"};
  ASSERT_EQ(server().ask(entry), "$3\r\n5-1\r\n");
  const auto sweep_until = [&](const char* what, const auto& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << what;
      clock_->advance(1'000);
    }
  };
  std::map<std::string, std::string> got;
  sweep_until("the message", [&] { return !(got = claim(*engine, 10, {"k"})).empty(); });
  EXPECT_EQ(settle(*engine, got.at("k")), Outcome::done);
  sweep_until("the empty inbox",
              [&] { return server().ask({"XLEN", "tarry:{0}:in"}) == ":0\r\n"; });
  reshard(*engine, 3);
  ASSERT_EQ(server().ask({"DEL", "tarry:{0}:in"}), ":1\r\n");
  ASSERT_EQ(server().ask(entry), "$3\r\n5-1\r\n");
  sweep_until("the inbox, empty again",
              [&] { return server().ask({"XLEN", "tarry:{0}:in"}) == ":0\r\n"; });
  EXPECT_EQ(server().ask({"XLEN", "tarry:{0}:in:bad"}), ":1\r\n");
  EXPECT_FALSE(get(*engine, "k"));
}

// The same for a process whose claims never wait.
TEST_F(ReshardTest, WhatIsOnItsWayIsDeliveredToWhoPolls) {
  for (std::int64_t calls = 0;; ++calls) {
    (void)server().ask({"FLUSHALL"});
    const auto engine = open();
    ASSERT_EQ(push(*engine, "k", 1'000), Outcome::pushed);
    const auto stopped = open(1, calls);
    const bool done = step(*stopped, 3).has_value();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (claim(*engine).empty()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << calls;
      clock_->advance(1'000);
    }
    if (done) break;
  }
}

TEST_F(ReshardTest, ManyThatAreRefusedAtOnceAskOnce) {
  const auto engine = open();
  const auto stale = open();
  push(*stale, "k", 3'600'000);
  reshard(*engine, 2);
  (void)server().ask({"CONFIG", "RESETSTAT"});
  std::vector<std::future<Result<core::Reply>>> replies;
  for (int i = 0; i < 200; ++i) {
    auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
    replies.push_back(promise->get_future());
    core::PushRequest request;
    request.queue = "q";
    core::PushItem item;
    item.key = core::append(request.bytes, "key " + std::to_string(i));
    request.items.push_back(item);
    stale->submit(std::move(request),
                  [promise](Result<core::Reply> reply) { promise->set_value(std::move(reply)); });
  }
  for (auto& reply : replies) {
    const auto got = reply.get();
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(std::get<core::PushReply>(*got).items.at(0).outcome, Outcome::pushed);
  }
  const std::string told = server().ask({"INFO", "commandstats"});
  const std::size_t at = told.find("cmdstat_hget:calls=");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(std::stoi(told.substr(at + 19)), 20);
}

TEST_F(ReshardTest, WhatIsWrongIsRefused) {
  const auto engine = open();
  EXPECT_EQ(step(*engine, 2).error().code, ErrorCode::not_found);
  push(*engine, "k");
  EXPECT_EQ(step(*engine, 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(step(*engine, 257).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(step(*engine, 2, 99).error().code, ErrorCode::conflict);
  EXPECT_EQ(stats(*engine).ready, 1u);
}

// From 3 shards to 5 to 2: the last set has numbers of the first set again, but other messages.
TEST_F(ReshardTest, AListThatIsOldGoesOnInNoOtherShardOfThatNumber) {
  for (const bool whole : {false, true}) {
    for (std::uint32_t pages = 1; pages < 8; ++pages) {
      (void)server().ask({"FLUSHALL"});
      const auto engine = open(3);
      std::set<std::string> keys;
      for (int i = 0; i < 60; ++i) push(*engine, *keys.insert("k" + std::to_string(i)).first, 1000);
      core::ListRequest request;
      request.queue = "q";
      request.limit = 8;
      request.whole = whole;
      std::set<std::string> seen;
      for (std::uint32_t page = 1;; ++page) {
        auto reply = take<core::ListReply>(*engine, request);
        for (const MessageInfo& info : reply.messages) seen.insert(info.key);
        request.after = std::move(reply.next);
        if (request.after.empty()) break;
        if (page != pages) continue;
        reshard(*engine, 5);
        reshard(*engine, 2);
      }
      EXPECT_EQ(seen, keys) << whole << ' ' << pages;
    }
  }
}

// Clients send HSCAN's cursor back. An invalid cursor must not reach Redis.
TEST_F(ReshardTest, ACursorThatIsNoneIsRefused) {
  const auto engine = open();
  push(*engine, "k");
  for (const std::string_view cursor : {"1e5", "-3", "1.5", "99999999999999999999"}) {
    core::ListRequest request;
    request.queue = "q";
    request.whole = true;
    request.after = "0..9." + base::base64url_encode(cursor) + ".";
    const auto reply = ask(*engine, request);
    ASSERT_FALSE(reply) << cursor;
    EXPECT_EQ(reply.error().code, ErrorCode::invalid_argument) << reply.error().message;
  }
}

}  // namespace
}  // namespace tarry::redis
