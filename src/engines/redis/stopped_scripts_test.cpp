// Every script that writes is stopped at each of its calls, as when a cluster moves the slot away.
// Then the call is repeated, as any caller does. No message is lost, no ended message is delivered
// again, and the counters balance.
//
// The test finds the scripts itself. If a script writes, and no verb of the life below runs it, the
// test fails.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "engines/redis/node/scripts.h"
#include "support/redis_engines.h"
#include "support/script_stopper.h"

namespace tarry::redis {
namespace {

using StringSet = std::set<std::string>;

class StoppedLife;
testing::RedisServer& stopping_server() { return testing::server_of<StoppedLife>(); }

std::string ask_server(const std::vector<std::string>& words) {
  return stopping_server().ask(words);
}

bool writes(Script script) {
  static const StringSet kWrites = {"hset",  "hdel", "hincrby", "zadd",   "zrem", "zremrangebyrank",
                                    "del",   "set",  "unlink",  "xadd",   "xdel", "rename",
                                    "rpush", "lpop", "lrem",    "pexpire"};
  const std::string text = text_of(script, net::RedisChannels::plain);
  for (std::size_t at = text.find("call('"); at != std::string::npos;
       at = text.find("call('", at + 1)) {
    std::string name = text.substr(at + 6, text.find('\'', at + 6) - at - 6);
    for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
    if (kWrites.contains(name)) return true;
  }
  return false;
}

constexpr std::uint32_t kMostLeased = 3;

// A life of a store, with every native verb in it.
class StoppedLife : protected test::EngineCalls {
 public:
  StoppedLife(const std::string& script, int at) {
    (void)ask_server({"FLUSHALL"});
    engine_ = open();
    if (!script.empty()) {
      (void)ask_server({"HSET", "stop", "script", script, "at", std::to_string(at)});
    }
  }

  // Returns how often the script called Redis.
  int run() {
    inbox();
    use("q", Millis(0));
    use("r", Millis(36'000'000));
    purge();
    use_limited("l");
    (void)ask_server({"HSET", "tarry:{0}:q/0:msgs", "nobody's", "a body in no set"});
    reshard_amid_verbs("q", 3);
    reshard_amid_verbs("q", 1);
    remove_and_make_anew();
    const std::string calls = ask_server({"HGET", "stop", "calls"});
    (void)ask_server({"DEL", "stop"});
    engine_.reset();
    engine_ = open();
    settle_all();
    const std::size_t line = calls.find('\n');
    return line == std::string::npos ? 0 : std::atoi(calls.c_str() + line + 1);
  }

 private:
  using Claimed = std::map<std::string, std::string>;  // key -> receipt

  std::unique_ptr<core::Engine> open(std::int64_t calls = -1) {
    auto options = testing::options_for(stopping_server(), clock_);
    options.partitions = 1;
    options.reshard_calls = calls;
    options.before_scripts = tarry::testing::kScriptStopper;
    auto engine = open_redis(options);
    if (!engine) engine = open_redis(options);  // the first try was stopped
    EXPECT_TRUE(engine) << (engine ? "" : engine.error().message);
    return std::move(*engine);
  }

  // Asks, and asks once more if that failed.
  template <typename T>
  T sure(const core::Request& request) {
    auto reply = ask(*engine_, request);
    if (!error_in(reply).empty()) reply = ask(*engine_, request);
    EXPECT_EQ(error_in(reply), "");
    return reply ? std::get<T>(std::move(*reply)) : T();
  }

  void push(const std::string& queue, const std::vector<std::string>& keys, std::int64_t in_ms,
            std::optional<IfExists> rule = {}, std::uint32_t priority = kDefaultPriority) {
    core::PushRequest request;
    request.queue = queue;
    for (const std::string& key : keys) {
      core::PushItem item;
      item.key = core::append(request.bytes, key);
      item.payload = core::append(request.bytes, "payload of " + key);
      item.due = Due::after(Millis(in_ms));
      item.if_exists = rule;
      item.priority = priority;
      request.items.push_back(item);
      if (!ended_.contains(queue + "/" + key)) there_.insert(queue + "/" + key);
    }
    (void)sure<core::PushReply>(std::move(request));
  }
  void push_plain(const std::string& queue, std::uint32_t messages) {
    core::PushRequest request;
    request.queue = queue;
    for (std::uint32_t i = 0; i < messages; ++i) {
      core::PushItem item;
      item.payload = core::append(request.bytes, "plain");
      item.due = Due::at(Time(Millis(1)));
      request.items.push_back(item);
    }
    const auto reply = sure<core::PushReply>(std::move(request));
    for (const auto& item : reply.items) {
      there_.insert(queue + "/" + std::string(core::view(reply.bytes, item.key)));
    }
  }
  void move(const std::string& queue) {
    core::MoveRequest request;
    request.queue = queue;
    for (const bool dead : {true, false}) {
      core::MoveItem item;
      const std::string key = dead ? "moved dead" : "moved";
      item.push.key = core::append(request.bytes, key);
      item.push.payload = core::append(request.bytes, "payload of " + key);
      item.push.due = Due::after(Millis(0));
      item.attempt = 2;
      item.dead = dead;
      if (dead) item.reason = core::append(request.bytes, "why");
      request.items.push_back(item);
      there_.insert(queue + "/" + key);
    }
    (void)sure<core::PushReply>(std::move(request));
  }
  Claimed claim(const std::string& queue, std::uint32_t max,
                const std::vector<std::string>& keys = {}) {
    core::ClaimRequest request;
    request.queues = {queue};
    request.max = max;
    request.keys = keys;
    const auto reply = sure<core::ClaimReply>(std::move(request));
    Claimed claimed;
    for (const auto& item : reply.items) {
      claimed.emplace(core::view(reply.bytes, item.key), core::view(reply.bytes, item.receipt));
      const std::string key(core::view(reply.bytes, item.key));
      const auto payload = core::view(reply.bytes, item.payload);
      EXPECT_TRUE(payload == "plain" || payload == "payload of " + key) << key;
    }
    return claimed;
  }
  void settle(const std::string& queue, const Claimed& claimed, core::SettleAction action) {
    core::SettleRequest request;
    for (const auto& [key, receipt] : claimed) {
      core::SettleItem item;
      item.receipt = core::append(request.bytes, receipt);
      item.action = action;
      if (action == core::SettleAction::retry) item.delay = Millis(0);
      request.items.push_back(item);
    }
    const auto reply = sure<core::ItemsReply>(std::move(request));
    if (action != core::SettleAction::ack) return;
    std::size_t at = 0;
    for (const auto& [key, receipt] : claimed) {
      end(queue, key, reply.items.at(at++).outcome == Outcome::done);
    }
  }
  // A message whose end was requested may be delivered again; if its end was confirmed, it must not
  // be.
  void end(const std::string& queue, const std::string& key, bool told) {
    there_.erase(queue + "/" + key);
    if (told) ended_.insert(queue + "/" + key);
  }
  void cancel(const std::string& queue, const std::string& key) {
    core::CancelRequest request;
    request.queue = queue;
    request.keys.push_back(core::append(request.bytes, key));
    const auto reply = sure<core::ItemsReply>(std::move(request));
    const Outcome outcome = reply.items.at(0).outcome;
    end(queue, key, outcome == Outcome::cancelled || outcome == Outcome::stopping);
  }
  void reschedule(const std::string& queue, const std::string& key, std::int64_t in_ms,
                  std::optional<std::uint32_t> priority) {
    core::RescheduleRequest request;
    request.queue = queue;
    core::RescheduleItem item;
    item.key = core::append(request.bytes, key);
    item.due = Due::after(Millis(in_ms));
    item.priority = priority;
    request.items.push_back(item);
    (void)sure<core::ItemsReply>(std::move(request));
  }
  void extend(const Claimed& claimed) {
    core::ExtendRequest request;
    for (const auto& [key, receipt] : claimed) {
      core::ExtendItem item;
      item.receipt = core::append(request.bytes, receipt);
      request.items.push_back(item);
    }
    (void)sure<core::ItemsReply>(std::move(request));
  }
  void read(const std::string& queue, const std::string& key) {
    core::GetRequest get;
    get.queue = queue;
    get.keys.push_back(core::append(get.bytes, key));
    (void)sure<core::GetReply>(std::move(get));
    for (const bool whole : {false, true}) {
      core::ListRequest list;
      list.queue = queue;
      list.whole = whole;
      (void)sure<core::ListReply>(std::move(list));
    }
    (void)sure<StoreStats>(core::StatsRequest{queue});
    (void)sure<core::ForecastReply>(core::ForecastRequest{queue, Millis(60'000), 10});
  }

  void use(const std::string& queue, Millis remember) {
    core::ConfigureRequest configure;
    configure.queue = queue;
    configure.patch.remember = remember;
    (void)sure<core::ConfigureReply>(std::move(configure));
    push(queue, {"now 0", "now 1", "now 2", "now 3", "now 4"}, 0);
    push(queue, {"later 0", "later 1", "later 2", "later 3"}, 3'600'000);
    push(queue, {"odd now"}, 0, {}, 7);
    push(queue, {"odd later"}, 3'600'000, {}, 9);
    push(queue, {"later 0"}, 1'800'000, IfExists::replace, 5);
    push(queue, {"odd later"}, 1'000, IfExists::earlier);
    push(queue, {"later 1"}, 0, IfExists::reject);
    push_plain(queue, 8);
    move(queue);
    cancel(queue, "later 2");
    reschedule(queue, "later 3", 7'200'000, 3);
    reschedule(queue, "moved dead", 10, {});
    read(queue, "later 3");
    settle(queue, claim(queue, 2, {"now 0", "odd now"}), core::SettleAction::ack);
    settle(queue, claim(queue, 2), core::SettleAction::release);
    settle(queue, claim(queue, 2), core::SettleAction::retry);
    settle(queue, claim(queue, 2), core::SettleAction::bury);
    core::ReviveRequest revive;
    revive.queue = queue;
    revive.all = true;
    (void)sure<core::CountReply>(std::move(revive));
    const Claimed stopping = claim(queue, 1, {"now 4"});
    cancel(queue, "now 4");
    extend(stopping);
    settle(queue, stopping, core::SettleAction::ack);
    claim_many(queue);
    expire(queue);
    run_out(queue);
  }
  // Messages that expire: as the queue says, fixed, leased meanwhile, moved, cancelled.
  void expire(const std::string& queue) {
    core::PushRequest request;
    request.queue = queue;
    for (const char* name : {"e 0", "e 1", "e 2", "e 3", "e 4", "e 5", "e odd"}) {
      core::PushItem item;
      item.key = core::append(request.bytes, name);
      item.payload = core::append(request.bytes, "payload of " + std::string(name));
      item.due = Due::after(Millis(0));
      item.expire = Millis(1'000);
      if (std::string(name) == "e odd") item.priority = 5;
      request.items.push_back(item);
    }
    (void)sure<core::PushReply>(request);
    cancel(queue, "e 0");
    reschedule(queue, "e 1", 500, {});
    settle(queue, claim(queue, 1, {"e 2"}), core::SettleAction::release);
    settle(queue, claim(queue, 1, {"e 3"}), core::SettleAction::ack);
    (void)claim(queue, 1, {"e 4"});
    clock_->advance(2'000);
    (void)sure<StoreStats>(core::StatsRequest{queue});
    for (const char* name : {"e 1", "e 2", "e 4", "e 5", "e odd"}) end(queue, name, true);
    core::ConfigureRequest configure;
    configure.queue = queue;
    configure.patch.on_expiry = OnExpiry::dead;
    (void)sure<core::ConfigureReply>(configure);
    for (auto& item : request.items) item.expire = Millis(1);
    request.items.resize(2);
    request.items[0].if_exists = request.items[1].if_exists = IfExists::replace;
    for (const char* name : {"e 0", "e 1"}) ended_.erase(queue + "/" + name);
    (void)sure<core::PushReply>(request);
    clock_->advance(1);
    read(queue, "e 0");
    for (const char* name : {"e 0", "e 1"}) there_.insert(queue + "/" + name);
    configure.patch.on_expiry = OnExpiry::end;
    (void)sure<core::ConfigureReply>(configure);
  }
  // Claims enough messages for a bulk claim.
  void claim_many(const std::string& queue) {
    push_plain(queue, 34);
    Claimed all = claim(queue, 34);
    Claimed some;
    for (int i = 0; i < 3 && !all.empty(); ++i) some.insert(all.extract(all.begin()));
    settle(queue, some, core::SettleAction::release);
    settle(queue, all, core::SettleAction::ack);
    push_plain(queue, 34);
    settle(queue, claim(queue, 34), core::SettleAction::ack);
  }
  void run_out(const std::string& queue) {
    (void)claim(queue, 3);
    clock_->advance(40'000);
    if (queue == "q") wait_until([] { return ask_server({"HEXISTS", "ran", "tick"}) == ":1\r\n"; });
    (void)sure<StoreStats>(core::StatsRequest{queue});
  }
  void purge() {
    push("p", {"a", "b", "c"}, 0);
    push("p", {"d", "e"}, 0, {}, 3);
    settle("p", claim("p", 1), core::SettleAction::bury);
    (void)sure<core::CountReply>(core::PurgeRequest{"p"});
    for (const char* key : {"a", "b", "c", "d", "e"}) end("p", key, false);
  }

  // A queue with limits, whose claims end in all ways, and one that waits for room.
  void use_limited(const std::string& queue) {
    core::ConfigureRequest configure;
    configure.queue = queue;
    configure.patch.max_leased = kMostLeased;
    configure.patch.rate = DeliveryRate{1, Millis(10), 5};
    (void)sure<core::ConfigureReply>(configure);
    push(queue, {"l 0", "l 1", "l 2", "l 3", "l 4", "l 5"}, 0);
    push(queue, {"l odd"}, 0, {}, 3);
    Claimed first = claim(queue, 10);
    EXPECT_LE(first.size(), std::size_t{kMostLeased});
    core::ClaimRequest request;
    request.queues = {queue};
    request.wait = Millis(10'000);
    auto waiting = begin(*engine_, request);
    settle(queue, first, core::SettleAction::ack);
    clock_->advance(40'000);
    (void)waiting.get();
    clock_->advance(40'000);
    first = claim(queue, 2, {"l 4", "l 5", "l odd"});
    EXPECT_LE(first.size() + claim(queue, 10).size(), std::size_t{kMostLeased});
    settle(queue, first, core::SettleAction::release);
    clock_->advance(40'000);
    configure.patch.rate = DeliveryRate();
    (void)sure<core::ConfigureReply>(configure);
  }

  static void wait_until(const std::function<bool()>& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!is_so()) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  }
  void inbox() {
    const std::string in = "tarry:{0}:in";
    (void)ask_server({"XADD", in, "*", "queue", "q", "payload", "payload of in 0", "key", "in 0"});
    (void)ask_server({"XADD", in, "*", "queue", "q", "payload", "payload of in 1", "key", "in 1",
                      "delay", "1h"});
    (void)ask_server({"XADD", in, "*", "queue", "q", "verb", "reschedule", "key", "in 1"});
    (void)ask_server({"XADD", in, "*", "queue", "q", "colour", "none"});
    drain_inbox();
    there_.insert({"q/in 0", "q/in 1"});
    EXPECT_NE(ask_server({"XLEN", in + ":bad"}), ":0\r\n");
  }

  void drain_inbox() {
    wait_until([&] {
      (void)ask_server({"PUBLISH", "tarry:{0}:wake", "in"});
      return ask_server({"XLEN", "tarry:{0}:in"}) == ":0\r\n";
    });
  }

  void step(core::Engine& engine, const std::string& queue, std::uint32_t shards) {
    std::uint64_t turn = 0;
    for (int i = 0; i < 100; ++i) {
      const auto reply = ask(engine, core::ReshardRequest{queue, shards, turn});
      turn = 0;
      if (!reply) {
        if (reply.error().code == ErrorCode::unavailable) return;  // no calls are left
        continue;
      }
      const auto& now = std::get<ReshardStep>(*reply);
      if (now.done) return;
      turn = now.turn;
    }
    ADD_FAILURE() << "the reshard does not end";
  }
  void reshard_amid_verbs(const std::string& queue, std::uint32_t shards) {
    const std::string name = std::to_string(shards);
    (void)ask_server({"XADD", "tarry:{0}:in", "*", "queue", queue, "payload",
                      "payload of amid " + name, "key", "amid " + name});
    there_.insert(queue + "/amid " + name);
    for (const std::int64_t calls : {13, 20}) {
      const auto stopped = open(calls);
      step(*stopped, queue, shards);
      read(queue, "later 3");
      push(queue, {"later 1", "new " + name + std::to_string(calls)}, 5'000, IfExists::keep);
      cancel(queue, "new " + name + std::to_string(calls));
      reschedule(queue, "later 0", 100, {});
    }
    step(*engine_, queue, shards);
    drain_inbox();
    read(queue, "later 0");
  }
  void remove_and_make_anew() {
    push("x", {"gone 0", "gone 1"}, 0);
    const auto removed = ask(*engine_, core::RemoveRequest{"x", false});
    if (!removed) {
      const auto again = ask(*engine_, core::RemoveRequest{"x", false});
      // The removal may be complete already: any process that uses the queue completes it.
      EXPECT_TRUE(again || again.error().code == ErrorCode::not_found) << again.error().message;
    }
    for (const char* key : {"gone 0", "gone 1"}) end("x", key, true);
    push("x", {"anew"}, 0);
  }

  // Lets all leases run out and all messages fall due, and then settles everything.
  void settle_all() {
    clock_->advance(100'000'000);
    std::map<std::string, int> came;
    for (const std::string queue : {"q", "r", "p", "x", "l"}) {
      core::ReviveRequest revive;
      revive.queue = queue;
      revive.all = true;
      (void)sure<core::CountReply>(std::move(revive));
      for (;;) {
        const Claimed claimed = claim(queue, 500);
        if (claimed.empty()) break;
        for (const auto& [key, receipt] : claimed) ++came[queue + "/" + key];
        core::SettleRequest request;
        for (const auto& [key, receipt] : claimed) {
          core::SettleItem item;
          item.receipt = core::append(request.bytes, receipt);
          request.items.push_back(item);
        }
        (void)take<core::ItemsReply>(*engine_, std::move(request));
      }
      expect_balanced(queue);
    }
    for (const std::string& key : there_) EXPECT_EQ(came[key], 1) << key << " is lost, or twice";
    for (const auto& [key, times] : came) {
      EXPECT_LE(times, 1) << key;
      EXPECT_FALSE(ended_.contains(key)) << key << " had ended";
    }
  }
  void expect_balanced(const std::string& queue) {
    const QueueStats now = take<StoreStats>(*engine_, core::StatsRequest{queue}).queues.at(0);
    const QueueCounters& c = now.counters;
    EXPECT_EQ(now.scheduled + now.ready + now.leased + now.dead, 0u) << queue;
    EXPECT_EQ(c.accepted, c.acked + c.cancelled + c.replaced + c.expired + c.purged + c.moved_away)
        << queue;
  }

  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
  std::unique_ptr<core::Engine> engine_;
  StringSet there_;
  StringSet ended_;
};

// How many stops are tried at most for each script, spread over its calls. The first stop is the
// one that TARRY_SEED picks, or call 1. With TARRY_ALL_STOPS in the environment, every call is
// tried.
constexpr int kStops = 12;

class StoppedScriptsTest : public ::testing::TestWithParam<Script> {};

TEST(StoppedScripts, NoneComesBackToAKeyThatItRemoved) {
  EXPECT_EQ(StoppedLife("", 0).run(), 0);
  // reshard_close may: it first checks that the slot is not moving.
  (void)ask_server({"HDEL", "removed", "reshard_close"});
  EXPECT_EQ(ask_server({"EVAL", "return table.concat(redis.call('HGETALL', 'removed'), ' ')", "0"}),
            "$0\r\n\r\n");
}

TEST_P(StoppedScriptsTest, AtEachCallAndAskedAgainLosesNothing) {
  const std::string script(name_of(GetParam()));
  const int calls = StoppedLife(script, 0).run();
  ASSERT_GT(calls, 0) << "no verb of this test's life runs it";
  const bool all = std::getenv("TARRY_ALL_STOPS") != nullptr;
  const int step = all ? 1 : (calls + kStops - 1) / kStops;
  const char* seed = std::getenv("TARRY_SEED");
  const int first = (seed == nullptr ? 0 : std::atoi(seed) % step) + 1;
  for (int at = first; at <= calls && !HasFailure(); at += step) {
    SCOPED_TRACE(script + " stopped at call " + std::to_string(at) + " of " +
                 std::to_string(calls));
    (void)StoppedLife(script, at).run();
  }
}

std::vector<Script> scripts_that_write() {
  std::vector<Script> found;
  for (std::size_t i = 0; i < static_cast<std::size_t>(kFirstLayoutScript); ++i) {
    const auto script = static_cast<Script>(i);
    if (writes(script)) found.push_back(script);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(All, StoppedScriptsTest, ::testing::ValuesIn(scripts_that_write()),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

}  // namespace
}  // namespace tarry::redis
