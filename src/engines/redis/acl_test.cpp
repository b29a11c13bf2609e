// The ACL rules against a real server. With them every verb works and nothing is refused. If any
// rule is missing, a command is refused, as the server's ACL LOG shows. The scripts' rights are
// checked before anything is written, and removing a right later loses no message.
#include "engines/redis/node/acl.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "engines/redis/node/rights.h"
#include "engines/redis/node/scripts.h"
#include "engines/redis/node/server.h"
#include "engines/redis/redis_engine.h"
#include "net/redis/redis_client.h"
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

  // Empties the server, and gives the user these rights and no others.
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
  // Waits, because the engine subscribes and sweeps in the background.
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

// Asks for every verb. Refusals are answers too.
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
  // The sweep will take the first of these entries, and set the second one aside.
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
  core::PushRequest plain;  // by plain commands and a script after them, in a MULTI
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
  by_key.lease = Millis(1);  // for the lease to run out
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
  // This body belongs to no message; the reshard has to clean it away.
  (void)server.ask({"EVAL",
                    "redis.call('SELECT', 1) "
                    "redis.call('HSET', 'tarry:{2}:r/0:msgs', 'nobody', '.')",
                    "0"});
  (void)ask(core::ReshardRequest{"r", 2, 0});
  (void)ask(core::ReshardRequest{"r", 1, 0});  // a new shard gets a number that was in use before
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

// Without one of these rules a script would stop in the middle.
AclRules rules_of_scripts() {
  AclRules rules;
  for (const std::string& command : commands_of_scripts(ScriptSet::native)) {
    const bool is_done_without = command == "info" || command == "pexpire" || command == "unlink" ||
                                 command.starts_with("x");  // commands on an inbox
    if (!is_done_without) rules.push_back("+" + command);
  }
  rules.insert(rules.end(), {"+multi", "+exec"});
  return rules;
}

TEST_F(RedisAcl, NoneOfThemCanBeLeftOut) {
  const AclRules all = acl_rules({});
  const AclRules of_scripts = rules_of_scripts();
  for (const std::string& left_out : all) {
    if (left_out == "resetchannels") continue;  // this rule gives no right, but takes rights away
    AclRules rules = all;
    std::erase(rules, left_out);
    allow(rules);
    if (HasFatalFailure()) return;
    auto engine = open();
    if (std::ranges::count(of_scripts, left_out) == 1) {
      ASSERT_FALSE(engine) << left_out;
      EXPECT_EQ(engine.error().code, ErrorCode::permission_denied) << engine.error().message;
      EXPECT_NE(engine.error().message.find("lacks " + left_out + " ("), std::string::npos)
          << engine.error().message;
      EXPECT_EQ(server().ask({"INFO", "keyspace"}).find("db1"), std::string::npos) << left_out;
      continue;
    }
    if (engine) {
      every_verb([&](core::Request request) { return ask(**engine, std::move(request)); },
                 server());
      core::ClaimRequest waiting;  // the sweep looks for waiting claims
      waiting.queues = {"q"};
      waiting.wait = std::chrono::minutes(1);
      if (!refused_anything()) (*engine)->submit(waiting, [](const Result<core::Reply>&) {});
    }
    EXPECT_TRUE(refuses_something()) << "nothing needs " << left_out;
  }
}

TEST_F(RedisAcl, KeysThatMayNotBeUsedAreNamed) {
  AclRules rules = acl_rules({});
  std::ranges::replace(rules, "~tarry:*", "~shop:*");
  allow(rules);
  const auto engine = open();
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::permission_denied);
  EXPECT_NE(engine.error().message.find("lacks keys such as tarry:{0}:"), std::string::npos)
      << engine.error().message;
}

// Redis 6.2 cannot check rights beforehand, so the commands are tried.
TEST_F(RedisAcl, WhatIsMissingIsFoundByTryingToo) {
  const auto tried = [](const AclRules& rules) {
    allow(rules);
    boost::asio::io_context io;
    net::RedisOptions options;
    options.unix_path = server().socket_path();
    options.user = "tarry";
    options.password = "pw";
    net::RedisClient client(io, options);
    Server asked(client, nullptr);
    std::string said = "nothing";
    RightsWish wish = native_rights();
    for (std::string& command : commands_of_scripts(ScriptSet::layouts)) {
      if (std::ranges::count(wish.commands, command) == 0) {
        wish.commands.push_back(std::move(command));
      }
    }
    wish.tries = true;
    check_rights(asked, wish, [&](const Result<void>& allowed) {
      said = allowed ? "allowed" : allowed.error().message;
      client.close();
    });
    io.run();
    EXPECT_EQ(server().ask({"DBSIZE"}), ":0\r\n") << "something was written";
    return said;
  };
  AclRules all = acl_rules({});
  for (const std::string& command : commands_of_scripts(ScriptSet::layouts)) {
    all.push_back("+" + command);
  }
  EXPECT_EQ(tried(all), "allowed");
  for (const char* left_out :
       {"hset", "hincrby", "zadd", "zrem", "rename", "time", "rpush", "hscan", "zremrangebyrank"}) {
    AclRules rules = all;
    rules.push_back("-" + std::string(left_out));
    const std::string said = tried(rules);
    EXPECT_NE(said.find("lacks +" + std::string(left_out) + " ("), std::string::npos) << said;
  }
}

// Claims all messages until it has seen `keys`.
void drain(core::Engine& engine, const std::string& queue, std::set<std::string> keys,
           const std::string& without) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!keys.empty() && std::chrono::steady_clock::now() < deadline) {
    std::promise<Result<core::Reply>> promise;
    core::ClaimRequest claim;
    claim.queues = {queue};
    claim.max = 100;
    claim.lease = std::chrono::minutes(1);
    claim.wait = std::chrono::seconds(1);
    engine.submit(claim, [&](Result<core::Reply> reply) { promise.set_value(std::move(reply)); });
    const auto reply = promise.get_future().get();
    ASSERT_TRUE(reply) << without << ": " << reply.error().message;
    const auto& claimed = std::get<core::ClaimReply>(*reply);
    for (const auto& item : claimed.items) {
      keys.erase(std::string(core::view(claimed.bytes, item.key)));
    }
  }
  EXPECT_TRUE(keys.empty()) << "without " << without << " " << keys.size()
                            << " messages were lost, one of them " << *keys.begin();
}

void expect_balance(core::Engine& engine, const std::string& queue, const std::string& without) {
  std::promise<Result<core::Reply>> promise;
  engine.submit(core::StatsRequest{queue},
                [&](Result<core::Reply> reply) { promise.set_value(std::move(reply)); });
  const auto reply = promise.get_future().get();
  ASSERT_TRUE(reply) << reply.error().message;
  const QueueStats& stats = std::get<StoreStats>(*reply).queues.at(0);
  const QueueCounters& count = stats.counters;
  EXPECT_EQ(count.accepted, stats.scheduled + stats.ready + stats.leased + stats.dead +
                                count.acked + count.cancelled + count.replaced)
      << without << " in " << queue;
}

// A right is removed while the store is in use. The scripts that need it do nothing, nor do the
// next verbs; every message is still there, and the books balance.
TEST_F(RedisAcl, WhatIsTakenAwayLaterLosesNothing) {
  const AclRules all = acl_rules({});
  for (const std::string& right : rules_of_scripts()) {
    const std::string without = "-" + right.substr(1);
    const auto change = [&](const std::string& rule) {
      ASSERT_EQ(server().ask({"ACL", "SETUSER", "tarry", rule}), "+OK\r\n");
    };
    allow(all);
    auto engine = open();
    ASSERT_TRUE(engine) << engine.error().message;
    for (const std::string verb :
         {"claim", "claim-many", "claim-odd", "claim-by-key", "replace", "reschedule", "cancel",
          "extend", "retry", "release", "bury", "ack"}) {
      std::set<std::string> keys;
      core::PushRequest push;
      push.queue = verb;
      const std::uint32_t priority = verb == "claim-odd" ? 3 : kDefaultPriority;
      for (int i = 0; i < (verb == "claim-many" ? 40 : 3); ++i) {
        push.items.push_back(
            message(push, *keys.insert("k" + std::to_string(i)).first, {}, priority));
      }
      ASSERT_TRUE(ask(**engine, push));
      core::ClaimRequest claim;
      claim.queues = {verb};
      claim.max = 100;
      claim.lease = Millis(1);
      if (verb == "claim-by-key") claim.keys = {"k0", "k1", "k2"};
      Result<core::Reply> result = core::Reply();
      if (verb.starts_with("claim")) {
        change(without);
        result = ask(**engine, claim);
      } else if (verb == "replace") {
        push.items[0].if_exists = IfExists::replace;
        push.items[0].priority = 7;
        push.items[1].if_exists = IfExists::replace;
        push.items[2].if_exists = IfExists::later;
        push.items[2].due = Due::after(Millis(1));
        change(without);
        result = ask(**engine, push);
      } else if (verb == "reschedule") {
        core::RescheduleRequest reschedule;
        reschedule.queue = verb;
        reschedule.items.push_back({put(reschedule.bytes, "k0"), Due::after(Millis(1)), 9});
        reschedule.items.push_back({put(reschedule.bytes, "k1"), Due::after(Millis(1)), {}});
        change(without);
        result = ask(**engine, reschedule);
      } else if (verb == "cancel") {
        core::CancelRequest cancel;
        cancel.queue = verb;
        for (const std::string& key : keys) cancel.keys.push_back(put(cancel.bytes, key));
        change(without);
        result = ask(**engine, cancel);
      } else {
        claim.lease = Millis(100);
        auto reply = ask(**engine, claim);
        ASSERT_TRUE(reply);
        const auto& claimed = std::get<core::ClaimReply>(*reply);
        core::SettleRequest settle;
        core::ExtendRequest extend;
        for (const auto& item : claimed.items) {
          const std::string_view receipt = core::view(claimed.bytes, item.receipt);
          extend.items.push_back({put(extend.bytes, receipt), Millis(100)});
          core::SettleItem ended;
          ended.receipt = put(settle.bytes, receipt);
          ended.action = verb == "retry"  ? core::SettleAction::retry
                         : verb == "bury" ? core::SettleAction::bury
                         : verb == "ack"  ? core::SettleAction::ack
                                          : core::SettleAction::release;
          if (verb == "retry") ended.delay = Millis(1);
          settle.items.push_back(ended);
        }
        change(without);
        result = verb == "extend" ? ask(**engine, extend) : ask(**engine, settle);
      }
      // A right that was denied in the middle of a script is named in errors from then on.
      bool denied = !result && result.error().code == ErrorCode::permission_denied;
      if (result) {
        if (const auto* pushes = std::get_if<core::PushReply>(&*result)) {
          for (const auto& item : pushes->items) denied = denied || item.error;
        } else if (const auto* items = std::get_if<core::ItemsReply>(&*result)) {
          for (const auto& item : items->items) denied = denied || item.error;
        }
      }
      if (denied) {
        const auto next = ask(**engine, core::StatsRequest{});
        ASSERT_FALSE(next) << without << " in " << verb;
        EXPECT_NE(next.error().message.find("lacks " + right), std::string::npos)
            << next.error().message;
      }
      change(right);
      const bool ended = verb == "cancel" || verb == "bury" || verb == "ack";
      if (ended && !denied) keys.clear();
      drain(**engine, verb, std::move(keys), without + " in " + verb);
      expect_balance(**engine, verb, without);
      if (HasFatalFailure()) return;
    }
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
