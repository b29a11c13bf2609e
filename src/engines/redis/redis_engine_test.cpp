// The engine against a real server, beyond the contract suite: several engines on one server,
// servers that forget or refuse, and keys that are not ours.
#include "engines/redis/redis_engine.h"

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

using tarry::testing::RedisServer;

class RedisEngineTest : public ::testing::Test {
 protected:
  RedisEngineTest() { (void)server().ask({"FLUSHALL"}); }

  static RedisServer& server() { return testing::server_of<RedisEngineTest>(); }
  static std::unique_ptr<core::Engine> open(RedisEngineOptions options) {
    return testing::must_open(std::move(options));
  }
  static std::unique_ptr<core::Engine> open() { return open(testing::options_for(server())); }

  static Error refusal(RedisEngineOptions options) {
    auto engine = open_redis(std::move(options));
    EXPECT_FALSE(engine);
    return engine ? Error{} : engine.error();
  }
};

std::future<Result<core::Reply>> ask(core::Engine& engine, core::Request request) {
  return test::EngineCalls::begin(engine, std::move(request));
}

core::PushRequest push_of(std::string_view key, std::int64_t delay_ms = 0,
                          std::string_view queue = "q") {
  core::PushRequest request;
  request.queue = queue;
  core::PushItem item;
  item.key = core::append(request.bytes, key);
  item.payload = core::append(request.bytes, "payload");
  item.due = Due::after(Millis(delay_ms));
  request.items.push_back(item);
  return request;
}

core::ClaimRequest claim_of(std::int64_t wait_ms = 0) {
  core::ClaimRequest request;
  request.queues = {"q"};
  request.max = 10;
  request.wait = Millis(wait_ms);
  return request;
}

Outcome pushed(core::Engine& engine, core::PushRequest request) {
  const auto reply = ask(engine, std::move(request)).get();
  EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
  if (!reply) return Outcome::unknown;
  const auto& item = std::get<core::PushReply>(*reply).items.at(0);
  EXPECT_FALSE(item.error) << item.error->message;
  return item.outcome;
}

std::vector<std::string> keys_in(const Result<core::Reply>& reply) {
  return test::EngineCalls::keys_in(reply);
}

// Acks all that was claimed.
core::SettleRequest ack_of(const core::ClaimReply& claimed) {
  core::SettleRequest settle;
  for (const core::ClaimedItem& item : claimed.items) {
    core::SettleItem ack;
    ack.receipt = core::append(settle.bytes, core::view(claimed.bytes, item.receipt));
    settle.items.push_back(ack);
  }
  return settle;
}

constexpr std::int64_t kLongWait = 60'000;

// Begins a claim, and returns when it has found nothing and waits.
std::future<Result<core::Reply>> parked_claim(core::Engine& engine) {
  auto waiting = ask(engine, claim_of(kLongWait));
  for (std::uint64_t parked = 0; parked == 0;) {
    core::StatsRequest stats;
    stats.queue = "q";
    const auto reply = ask(engine, stats).get();
    // A queue that does not exist has no figures. When this is answered, the claim has already
    // looked at the queue.
    if (!reply) break;
    parked = std::get<StoreStats>(*reply).queues.at(0).waiting_claims;
  }
  return waiting;
}

TEST_F(RedisEngineTest, APushThroughOneEngineWakesAClaimThatWaitsAtAnother) {
  const auto one = open();
  const auto other = open();
  ASSERT_EQ(pushed(*one, push_of("first")), Outcome::pushed);
  EXPECT_EQ(keys_in(ask(*other, claim_of()).get()), std::vector<std::string>{"first"});
  auto waiting = parked_claim(*other);
  ASSERT_EQ(pushed(*one, push_of("second")), Outcome::pushed);
  EXPECT_EQ(keys_in(waiting.get()), std::vector<std::string>{"second"});
}

TEST_F(RedisEngineTest, AClaimMayWaitAtAQueueThatIsNotThereYet) {
  const auto one = open();
  const auto other = open();
  auto waiting = parked_claim(*other);
  ASSERT_EQ(pushed(*one, push_of("k", 5)), Outcome::pushed);
  EXPECT_EQ(keys_in(waiting.get()), std::vector<std::string>{"k"});
}

TEST_F(RedisEngineTest, WhatFallsDueIsDeliveredWithoutAnySubscription) {
  RedisEngineOptions deaf = testing::options_for(server());
  ASSERT_EQ(server().ask({"ACL", "SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "+@all"}),
            "+OK\r\n");
  deaf.server.user = "deaf";
  deaf.server.password = "pw";
  const auto producer = open();
  ASSERT_EQ(pushed(*producer, push_of("far", 3'600'000)), Outcome::pushed);
  // The consumer gets nothing on any channel: neither the confirmation of its subscription nor the
  // push.
  const auto consumer = open(std::move(deaf));
  auto waiting = parked_claim(*consumer);
  ASSERT_EQ(pushed(*producer, push_of("soon")), Outcome::pushed);
  EXPECT_EQ(keys_in(waiting.get()), std::vector<std::string>{"soon"});
}

TEST_F(RedisEngineTest, ScriptsThatTheServerForgotAreGivenAgain) {
  const auto engine = open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(server().ask({"SCRIPT", "FLUSH"}), "+OK\r\n");
    ASSERT_EQ(pushed(*engine, push_of("k" + std::to_string(i))), Outcome::pushed);
    ASSERT_EQ(server().ask({"SCRIPT", "FLUSH"}), "+OK\r\n");
    EXPECT_EQ(keys_in(ask(*engine, claim_of()).get()).size(), 1u);
  }
}

TEST_F(RedisEngineTest, AStoreThatWasEmptiedBehindItsBackBeginsAnew) {
  const auto engine = open();
  ASSERT_EQ(pushed(*engine, push_of("k")), Outcome::pushed);
  ASSERT_EQ(server().ask({"FLUSHALL"}), "+OK\r\n");
  EXPECT_TRUE(keys_in(ask(*engine, claim_of()).get()).empty());
  ASSERT_EQ(pushed(*engine, push_of("k")), Outcome::pushed);
  EXPECT_EQ(keys_in(ask(*engine, claim_of()).get()), std::vector<std::string>{"k"});
}

TEST_F(RedisEngineTest, PartitionsAreFixedWhenTheStoreIsMade) {
  RedisEngineOptions options = testing::options_for(server());
  options.partitions = 4;
  (void)open(options);
  (void)open();
  options.partitions = 5;
  const Error error = refusal(options);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_NE(error.message.find('5'), std::string::npos) << error.message;
  EXPECT_NE(error.message.find('4'), std::string::npos) << error.message;
}

TEST_F(RedisEngineTest, ANewerSchemaIsRefused) {
  (void)open();
  ASSERT_EQ(server().ask({"HSET", "tarry:{0}:store", "schema", "5"}), ":0\r\n");
  const Error error = refusal(testing::options_for(server()));
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.message.find("schema 5"), std::string::npos) << error.message;
}

TEST_F(RedisEngineTest, ARefusedOpeningLeavesNothing) {
  using Words = std::vector<std::string>;
  for (const Words& record : {Words{"schema", "5"}, Words{"schema", "none"}, Words{"schema", "3"},
                              Words{"schema", "3", "partitions", "16", "secret", "x"}}) {
    ASSERT_EQ(server().ask({"FLUSHALL"}), "+OK\r\n");
    Words put = {"HSET", "tarry:{0}:store"};
    put.insert(put.end(), record.begin(), record.end());
    ASSERT_TRUE(server().ask(put).starts_with(':'));
    (void)refusal(testing::options_for(server()));
    EXPECT_EQ(server().ask({"DBSIZE"}), ":1\r\n") << record.back();
  }
}

TEST_F(RedisEngineTest, KeysOfAnotherTypeAreNamedAndLeftAlone) {
  ASSERT_EQ(server().ask({"SET", "tarry:{0}:store", "mine"}), "+OK\r\n");
  const Error store = refusal(testing::options_for(server()));
  EXPECT_EQ(store.code, ErrorCode::damaged);
  EXPECT_NE(store.message.find("tarry:{0}:store"), std::string::npos) << store.message;
  EXPECT_EQ(server().ask({"GET", "tarry:{0}:store"}), "$4\r\nmine\r\n");

  for (const std::string key : {"tarry:{1}:q/0:due", "tarry:{1}:q/0:meta", "tarry:{1}:q/0:msgs"}) {
    (void)server().ask({"FLUSHALL"});
    const auto engine = open();
    ASSERT_EQ(server().ask({"SET", key, "mine"}), "+OK\r\n");
    const auto reply = ask(*engine, push_of("k")).get();
    ASSERT_TRUE(reply);
    const auto& error = std::get<core::PushReply>(*reply).items.at(0).error;
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::damaged);
    EXPECT_NE(error->message.find(key + " is a string"), std::string::npos) << error->message;
    EXPECT_EQ(server().ask({"GET", key}), "$4\r\nmine\r\n");
  }
}

TEST_F(RedisEngineTest, ABodyThatDoesNotCheckGoesToTheDead) {
  const auto engine = open();
  ASSERT_EQ(pushed(*engine, push_of("good")), Outcome::pushed);
  ASSERT_EQ(pushed(*engine, push_of("bad")), Outcome::pushed);
  ASSERT_EQ(server().ask({"HSET", "tarry:{1}:q/0:msgs", "bad", std::string(20, '\1')}), ":0\r\n");
  EXPECT_EQ(keys_in(ask(*engine, claim_of()).get()), std::vector<std::string>{"good"});
  core::StatsRequest stats;
  stats.queue = "q";
  const auto reply = ask(*engine, stats).get();
  ASSERT_TRUE(reply);
  const QueueStats& queue = std::get<StoreStats>(*reply).queues.at(0);
  EXPECT_EQ(queue.dead, 1u);
  EXPECT_EQ(queue.leased, 1u);
  EXPECT_EQ(queue.counters.damaged, 1u);
}

TEST_F(RedisEngineTest, AListShowsWhatIsKnownOfAMessageWhoseBodyIsDamaged) {
  const auto engine = open();
  for (const std::string key : {"empty", "good", "headers", "short"}) {
    ASSERT_EQ(pushed(*engine, push_of(key)), Outcome::pushed);
  }
  const std::string msgs = "tarry:{1}:q/0:msgs";
  ASSERT_EQ(server().ask({"HSET", msgs, "empty", ""}), ":0\r\n");
  ASSERT_EQ(server().ask({"HSET", msgs, "short", std::string("\1\0", 2)}), ":0\r\n");
  ASSERT_EQ(server().ask({"HSET", msgs, "headers", std::string("\x0Fmuch too short", 15)}),
            ":0\r\n");
  core::ListRequest list;
  list.queue = "q";
  list.limit = 10;
  const auto reply = ask(*engine, list).get();
  ASSERT_TRUE(reply) << reply.error().message;
  std::map<std::string, std::string> reasons;
  for (const MessageInfo& info : std::get<core::ListReply>(*reply).messages) {
    EXPECT_EQ(info.state, State::ready) << info.key;
    reasons[info.key] = info.reason;
  }
  EXPECT_EQ(reasons, (std::map<std::string, std::string>{{"empty", "its body is damaged"},
                                                         {"good", ""},
                                                         {"headers", "its body is damaged"},
                                                         {"short", "its body is damaged"}}));
  for (const bool with_payload : {false, true}) {
    core::GetRequest get;
    get.queue = "q";
    get.with_payload = with_payload;
    get.keys = {core::append(get.bytes, "short"), core::append(get.bytes, "good")};
    const auto got = ask(*engine, get).get();
    ASSERT_TRUE(got) << got.error().message;
    const auto& items = std::get<core::GetReply>(*got).items;
    ASSERT_FALSE(items.at(0));
    EXPECT_EQ(items.at(0).error().code, ErrorCode::damaged);
    EXPECT_TRUE(items.at(1));
  }
}

TEST_F(RedisEngineTest, ARememberedKeyWhoseBodyIsDamagedIsForgotten) {
  const auto engine = open();
  core::ConfigureRequest configure;
  configure.queue = "q";
  configure.patch.remember = Millis(60'000);
  ASSERT_TRUE(ask(*engine, configure).get());
  ASSERT_EQ(pushed(*engine, push_of("k")), Outcome::pushed);
  const auto claimed = ask(*engine, claim_of()).get();
  ASSERT_TRUE(claimed);
  const auto& delivery = std::get<core::ClaimReply>(*claimed);
  core::SettleRequest ack;
  ack.items.emplace_back();
  ack.items[0].receipt =
      core::append(ack.bytes, core::view(delivery.bytes, delivery.items.at(0).receipt));
  ASSERT_TRUE(ask(*engine, ack).get());
  ASSERT_EQ(server().ask({"HSET", "tarry:{1}:q/0:msgs", "k", "\x80"}), ":0\r\n");
  EXPECT_EQ(pushed(*engine, push_of("k")), Outcome::pushed);
  EXPECT_EQ(server().ask({"ZSCORE", "tarry:{1}:q/0:done", "k"}), "$-1\r\n");
  EXPECT_EQ(keys_in(ask(*engine, claim_of()).get()), std::vector<std::string>{"k"});
}

TEST_F(RedisEngineTest, NobodyThereIsOneClearLine) {
  RedisEngineOptions options;
  options.server.unix_path = server().directory() + "/none.sock";
  const Error error = refusal(options);
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_NE(error.message.find("none.sock"), std::string::npos) << error.message;
}

TEST(RedisEngineAlone, AFullServerTakesNoPushesAndEverythingElse) {
  RedisServer full;
  RedisEngineOptions options = testing::options_for(full);
  auto opened = open_redis(options);
  ASSERT_TRUE(opened);
  core::Engine& engine = **opened;
  for (const std::string key : {"a", "b", "c", "d"}) {
    ASSERT_EQ(pushed(engine, push_of(key, key == "d" ? 3'600'000 : 0)), Outcome::pushed);
  }
  ASSERT_EQ(full.ask({"CONFIG", "SET", "maxmemory", "1"}), "+OK\r\n");
  const auto refused = ask(engine, push_of("e")).get();
  ASSERT_TRUE(refused);
  const auto& error = std::get<core::PushReply>(*refused).items.at(0).error;
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::no_space) << error->message;

  const auto claimed = ask(engine, claim_of()).get();
  ASSERT_EQ(keys_in(claimed).size(), 3u);
  core::SettleRequest settle = ack_of(std::get<core::ClaimReply>(*claimed));
  settle.items[1].action = core::SettleAction::release;
  settle.items[2].action = core::SettleAction::bury;
  const auto settled = ask(engine, settle).get();
  ASSERT_TRUE(settled);
  for (const core::ItemResult& item : std::get<core::ItemsReply>(*settled).items) {
    EXPECT_FALSE(item.error) << item.error->message;
    EXPECT_EQ(item.outcome, Outcome::done);
  }
  core::CancelRequest cancel;
  cancel.queue = "q";
  cancel.keys.push_back(core::append(cancel.bytes, "d"));
  const auto cancelled = ask(engine, cancel).get();
  ASSERT_TRUE(cancelled);
  EXPECT_EQ(std::get<core::ItemsReply>(*cancelled).items.at(0).outcome, Outcome::cancelled);

  ASSERT_EQ(full.ask({"CONFIG", "SET", "maxmemory", "0"}), "+OK\r\n");
  EXPECT_EQ(pushed(engine, push_of("e")), Outcome::pushed);
}

// The server has lost everything. The first engine's ids, secret and queues are void.
TEST(RedisEngineAlone, AStoreThatWasLostIsOneStoreAgain) {
  RedisServer server;
  auto opened = open_redis(testing::options_for(server));
  ASSERT_TRUE(opened);
  core::Engine& first = **opened;
  ASSERT_EQ(pushed(first, push_of("")), Outcome::pushed);
  server.kill9();
  server.start();
  while (true) {  // the first push may find the old connection gone
    const auto reply = ask(first, push_of("")).get();
    if (reply && !std::get<core::PushReply>(*reply).items.at(0).error) break;
  }
  auto again = open_redis(testing::options_for(server));
  ASSERT_TRUE(again);
  core::Engine& second = **again;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(pushed(second, push_of("")), Outcome::pushed);
    ASSERT_EQ(pushed(first, push_of("")), Outcome::pushed);
  }
  const auto claimed = ask(second, claim_of()).get();
  ASSERT_EQ(keys_in(claimed).size(), 7u);
  core::SettleRequest settle = ack_of(std::get<core::ClaimReply>(*claimed));
  const auto settled = ask(first, settle).get();
  ASSERT_TRUE(settled);
  for (const core::ItemResult& item : std::get<core::ItemsReply>(*settled).items) {
    EXPECT_EQ(item.outcome, Outcome::done);
  }
}

// In Redis 7 a new user may use no channels by default.
TEST(RedisEngineAlone, AUserWithoutChannelsIsServedAllTheSame) {
  RedisServer server;
  ASSERT_EQ(server.ask({"ACL", "SETUSER", "mute", "on", ">pw", "~*", "+@all", "resetchannels"}),
            "+OK\r\n");
  RedisEngineOptions options = testing::options_for(server);
  options.server.user = "mute";
  options.server.password = "pw";
  auto opened = open_redis(options);
  ASSERT_TRUE(opened);
  EXPECT_EQ(pushed(**opened, push_of("k")), Outcome::pushed);
  EXPECT_EQ(keys_in(ask(**opened, claim_of()).get()), std::vector<std::string>{"k"});
}

TEST(RedisEngineAlone, EvictionIsRefusedAtTheStart) {
  RedisServer evicting({"--maxmemory-policy", "allkeys-lru"});
  auto engine = open_redis(testing::options_for(evicting));
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::invalid_argument);
  RedisEngineOptions options = testing::options_for(evicting);
  options.allow_eviction = true;
  EXPECT_TRUE(open_redis(options));
}

}  // namespace
}  // namespace tarry::redis
