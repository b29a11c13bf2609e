// The ACL rules against a real server: with them every verb works and nothing is refused; without
// any one of them something is, by what the server's ACL LOG says.
#include "engines/redis/acl.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "engines/redis/redis_engine.h"
#include "support/redis_server.h"

namespace tarry::redis {
namespace {

using tarry::testing::RedisServer;

using AclRules = std::vector<std::string>;

class RedisAcl : public ::testing::Test {
 protected:
  static RedisServer& server() {
    static RedisServer server;
    return server;
  }

  // A user who may do that and no more, on an empty server.
  static void allow(const AclRules& rules) {
    ASSERT_EQ(server().ask({"FLUSHALL"}), "+OK\r\n");
    ASSERT_EQ(server().ask({"SCRIPT", "FLUSH"}), "+OK\r\n");
    ASSERT_EQ(server().ask({"ACL", "LOG", "RESET"}), "+OK\r\n");
    std::vector<std::string> words = {"ACL", "SETUSER", "tarry", "reset", "on", ">pw"};
    words.insert(words.end(), rules.begin(), rules.end());
    ASSERT_EQ(server().ask(words), "+OK\r\n");
  }

  static Result<std::unique_ptr<core::Engine>> open() {
    RedisEngineOptions options;
    options.server.unix_path = server().socket_path();
    options.server.user = "tarry";
    options.server.password = "pw";
    options.server.database = 1;
    return open_redis(std::move(options));
  }

  static Result<core::Reply> ask(core::Engine& engine, core::Request request) {
    std::promise<Result<core::Reply>> promise;
    engine.submit(std::move(request),
                  [&](Result<core::Reply> reply) { promise.set_value(std::move(reply)); });
    return promise.get_future().get();
  }

  static bool refused_anything() { return server().ask({"ACL", "LOG"}) != "*0\r\n"; }
  // Waits for what the engine does beside its verbs: subscribing, and its sweep.
  static bool refuses_something() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!refused_anything()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
};

core::Slice put(std::string& bytes, std::string_view text) { return core::append(bytes, text); }

core::PushItem message(core::PushRequest& request, std::string_view key, Due due,
                       std::uint32_t priority = kDefaultPriority) {
  core::PushItem item;
  item.key = put(request.bytes, key);
  item.payload = put(request.bytes, "payload");
  item.due = due;
  item.priority = priority;
  return item;
}

// Calls `told` with the answer to each; refusals are part of what is looked for.
template <typename Ask>
void every_verb(const Ask& ask, RedisServer& server) {
  const auto push = [&](std::string_view key, Due due, std::uint32_t priority = kDefaultPriority,
                        std::optional<IfExists> rule = {}) {
    core::PushRequest request;
    request.queue = "q";
    request.items.push_back(message(request, key, due, priority));
    request.items.back().if_exists = rule;
    (void)ask(request);
  };
  const auto claim = [&](std::int64_t lease_ms) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.lease = Millis(lease_ms);
    std::string receipt;
    if (const auto reply = ask(request)) {
      const auto& claimed = std::get<core::ClaimReply>(*reply);
      if (!claimed.items.empty()) receipt = core::view(claimed.bytes, claimed.items[0].receipt);
    }
    return receipt;
  };
  const auto settle = [&](core::SettleAction action) {
    core::SettleRequest request;
    core::SettleItem item;
    item.receipt = put(request.bytes, claim(60'000));
    if (item.receipt.size == 0) return;
    item.action = action;
    request.items.push_back(item);
    (void)ask(request);
  };
  // For the sweep: an entry to take, and one to set aside.
  for (const char* field : {"payload", "nonsense"}) {
    EXPECT_TRUE(server
                    .ask({"EVAL",
                          "redis.call('SELECT', 1) "
                          "return redis.call('XADD', KEYS[1], '*', 'queue', 'q', ARGV[1], 'x')",
                          "1", "tarry:{0}:in", field})
                    .starts_with('$'));
  }
  const Due later = Due::after(std::chrono::hours(1));
  (void)ask(core::StatsRequest{});
  core::PushRequest plain;  // by plain commands, and a script behind them, in a MULTI
  plain.queue = "q";
  plain.items.resize(8);
  for (core::PushItem& item : plain.items) item.due = Due::at(Time(Millis(2'000'000'000'000)));
  (void)ask(plain);
  push("k", later);
  push("k", later, kDefaultPriority, IfExists::replace);
  push("odd", {}, 3);
  settle(core::SettleAction::release);
  settle(core::SettleAction::retry);
  push("b", {});
  settle(core::SettleAction::bury);
  push("c", {});
  settle(core::SettleAction::ack);
  push("d", {});
  settle(core::SettleAction::move_away);
  push("e", {});
  core::ExtendRequest extend;
  extend.items.push_back({put(extend.bytes, claim(60'000)), Millis(60'000)});
  if (extend.items[0].receipt.size > 0) (void)ask(extend);
  core::GetRequest get;
  get.queue = "q";
  get.keys.push_back(put(get.bytes, "k"));
  (void)ask(get);
  core::RescheduleRequest reschedule;
  reschedule.queue = "q";
  reschedule.items.push_back({put(reschedule.bytes, "k"), later, {}});
  (void)ask(reschedule);
  core::MoveRequest move;
  move.queue = "q";
  core::MoveItem moved;
  moved.push.key = put(move.bytes, "m");
  moved.push.due = later;
  moved.attempt = 1;
  move.items.push_back(moved);
  (void)ask(move);
  core::ClaimRequest by_key;
  by_key.queues = {"q"};
  by_key.keys = {"m"};
  by_key.any_state = true;
  by_key.lease = Millis(1);  // it runs out
  (void)ask(by_key);
  core::ListRequest list;
  list.queue = "q";
  (void)ask(list);
  core::ReviveRequest revive;
  revive.queue = "q";
  revive.all = true;
  (void)ask(revive);
  core::CancelRequest cancel;
  cancel.queue = "q";
  cancel.keys.push_back(put(cancel.bytes, "k"));
  (void)ask(cancel);
  (void)server.ask({"SCRIPT", "FLUSH"});  // EVAL
  (void)ask(core::ConfigureRequest{"q", {.remember = Millis(1)}});
  push("f", {});
  settle(core::SettleAction::ack);
  (void)ask(core::PauseRequest{"q", std::nullopt});
  (void)ask(core::ResumeRequest{"q"});
  (void)ask(core::StatsRequest{"q"});
  (void)ask(core::PurgeRequest{"q"});
  core::PushRequest to_move;
  to_move.queue = "r";
  to_move.items.push_back(message(to_move, "k", later));
  (void)ask(to_move);
  // A body that is nobody's, to be cleaned away.
  (void)server.ask({"EVAL",
                    "redis.call('SELECT', 1) "
                    "redis.call('HSET', 'tarry:{2}:r/0:msgs', 'nobody', '.')",
                    "0"});
  (void)ask(core::ReshardRequest{"r", 2, 0});
  core::PushRequest to_remove;
  to_remove.queue = "s";
  to_remove.items.push_back(message(to_remove, "k", later));
  (void)ask(to_remove);
  (void)ask(core::RemoveRequest{"s", false});
}

TEST_F(RedisAcl, EveryVerbWorksWithThem) {
  allow(acl_rules({}));
  auto engine = open();
  ASSERT_TRUE(engine) << engine.error().message;
  every_verb(
      [&](core::Request request) {
        auto reply = ask(**engine, std::move(request));
        EXPECT_TRUE(reply) << reply.error().message;
        if (reply) {
          if (const auto* items = std::get_if<core::ItemsReply>(&*reply)) {
            for (const auto& item : items->items) EXPECT_FALSE(item.error) << item.error->message;
          } else if (const auto* pushes = std::get_if<core::PushReply>(&*reply)) {
            for (const auto& item : pushes->items) EXPECT_FALSE(item.error) << item.error->message;
          }
        }
        return reply;
      },
      server());
  (*engine)->close();
  EXPECT_FALSE(refused_anything());
}

TEST_F(RedisAcl, NoneOfThemCanBeLeftOut) {
  const AclRules all = acl_rules({});
  for (const std::string& left_out : all) {
    if (left_out == "resetchannels") continue;  // it takes away
    AclRules rules = all;
    std::erase(rules, left_out);
    allow(rules);
    if (HasFatalFailure()) return;
    auto engine = open();
    if (engine) {
      every_verb([&](core::Request request) { return ask(**engine, std::move(request)); },
                 server());
      core::ClaimRequest waiting;  // the sweep looks for who waits
      waiting.queues = {"q"};
      waiting.wait = std::chrono::minutes(1);
      if (!refused_anything()) (*engine)->submit(waiting, [](const Result<core::Reply>&) {});
    }
    EXPECT_TRUE(refuses_something()) << "nothing needs " << left_out;
  }
}

TEST_F(RedisAcl, OnlyWhatTheUrlNeeds) {
  const auto has = [](const AclRules& rules, std::string_view rule) {
    return std::ranges::count(rules, rule) == 1;
  };
  const AclRules single = acl_rules({});
  EXPECT_TRUE(has(single, "+subscribe") && has(single, "+select") && has(single, "+hset"));
  for (const char* rule :
       {"+cluster|slots", "+asking", "+role", "+ssubscribe", "+spublish", "+wait"}) {
    EXPECT_FALSE(has(single, rule)) << rule;
  }
  const AclRules cluster = acl_rules({.cluster = true});
  for (const char* rule : {"+cluster|slots", "+asking", "+ssubscribe", "+spublish", "+wait"}) {
    EXPECT_TRUE(has(cluster, rule)) << rule;
  }
  EXPECT_FALSE(has(cluster, "+publish") || has(cluster, "+select"));
  EXPECT_TRUE(has(acl_rules({.cluster = true, .sharded = false}), "+publish"));
  EXPECT_TRUE(has(acl_rules({.sentinel = true}), "+role"));
  EXPECT_TRUE(has(acl_rules({.wait = true}), "+wait"));
}

}  // namespace
}  // namespace tarry::redis
