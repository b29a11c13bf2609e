// Every script of the layouts is stopped at each of its calls, as when a cluster moves the slot
// away. Then the call is repeated, as any caller does. No message is lost, no ended message is
// delivered again, and nothing is left behind.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engines/redis/node/scripts.h"
#include "support/engine_calls.h"
#include "support/layout_rig.h"
#include "support/script_stopper.h"

namespace tarry::redis {
namespace {

using core::SettleAction;

struct StoppedLayout {
  std::string_view name;
  LayoutSpec spec;
};

std::vector<StoppedLayout> stopped_layouts() {
  LayoutSpec plain;
  LayoutSpec sets;
  sets.zset = "{queue}:{0..1}";
  LayoutSpec hash;
  hash.layout = Layout::hash;
  hash.hash = "{queue}:bodies";
  LayoutSpec hashes = hash;
  hashes.zset = "{queue}:{0..1}";
  LayoutSpec own_hashes = hashes;
  own_hashes.hash = "{queue}:bodies:{0..1}";
  LayoutSpec redisson;
  redisson.layout = Layout::redisson;
  redisson.decode = Decode::string;
  LayoutSpec list = redisson;
  list.through_list = true;
  return {{"plain", plain},           {"sets", sets},         {"hash", hash}, {"hashes", hashes},
          {"own_hashes", own_hashes}, {"redisson", redisson}, {"list", list}};
}

// A queue's life, with every verb of the layouts in it. Messages are recognised by their payloads.
class StoppedLayoutLife : protected test::EngineCalls {
 public:
  using Redis = std::function<std::string(const std::vector<std::string>&)>;

  StoppedLayoutLife(const LayoutEngineOptions& options, Redis redis, std::string_view script,
                    int at)
      : redis_(std::move(redis)),
        is_redisson_(options.layout.layout == Layout::redisson),
        is_through_list_(options.layout.through_list) {
    (void)redis_({"FLUSHALL"});
    LayoutEngineOptions stopped = options;
    stopped.before_scripts = tarry::testing::kScriptStopper;
    stopped.clock = clock_;
    auto engine = open_layout(std::move(stopped));
    EXPECT_TRUE(engine) << (engine ? "" : engine.error().message);
    engine_ = *std::move(engine);
    if (!script.empty()) {
      (void)redis_({"HSET", "stop", "script", std::string(script), "at", std::to_string(at)});
    }
  }

  // Returns how often the script called Redis.
  int run() {
    push({"now 0", "now 1", "now 2", "now 3", "now 4", "now 5"}, 0);
    push({"later 0", "later 1", "later 2", "later 3"}, 3'600'000);
    if (!is_redisson_) change_by_push();
    read();
    settle(claim(1, {key_of("now 0")}), SettleAction::ack);
    settle(claim(2), SettleAction::release);
    settle(claim(2), SettleAction::retry);
    settle(claim(2), SettleAction::ack);
    cancel("later 2");
    reschedule("later 3", 1'000);
    stop_while_leased();
    (void)claim(2);  // these are never settled
    clock_->advance(60'000);
    settle(claim(1), SettleAction::ack);
    move_away("later 1");
    purge();
    const std::string calls = redis_({"HGET", "stop", "calls"});
    (void)redis_({"DEL", "stop"});
    settle_all();
    expect_nothing_left();
    return calls.empty() ? 0 : std::atoi(calls.c_str());
  }

 private:
  struct Held {
    std::string payload;
    std::string receipt;
  };

  // Asks, and asks once more if that failed.
  template <typename T>
  T sure(const core::Request& request) {
    auto reply = ask(*engine_, request);
    was_stopped_ = !error_in(reply).empty();
    if (was_stopped_) reply = ask(*engine_, request);
    EXPECT_EQ(error_in(reply), "");
    return reply ? std::get<T>(std::move(*reply)) : T();
  }

  std::string key_of(const std::string& payload) { return keys_[payload]; }

  void push(const std::vector<std::string>& payloads, std::int64_t in_ms,
            std::optional<IfExists> rule = {}) {
    core::PushRequest request;
    request.queue = "q";
    for (const std::string& payload : payloads) {
      core::PushItem& item = request.items.emplace_back();
      if (!is_redisson_) item.key = core::append(request.bytes, payload);
      item.payload = core::append(request.bytes, payload);
      item.due = Due::after(Millis(in_ms));
      item.if_exists = rule;
      there_.insert(payload);
    }
    const auto reply = sure<core::PushReply>(request);
    // Redisson's entries have no keys, so a repeated push is not noticed.
    for (std::size_t i = 0; i < payloads.size() && i < reply.items.size(); ++i) {
      if (was_stopped_ && is_redisson_) repeated_.insert(payloads[i]);
      keys_[payloads[i]] = core::view(reply.bytes, reply.items[i].key);
    }
  }
  void change_by_push() {
    push({"later 0"}, 1'800'000, IfExists::replace);
    push({"later 0"}, 900'000, IfExists::earlier);
    push({"later 1"}, 5'400'000, IfExists::later);
    push({"later 1"}, 0, IfExists::keep);
  }
  std::vector<Held> claim(std::uint32_t max, const std::vector<std::string>& keys = {}) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.max = max;
    request.keys = keys;
    const auto reply = sure<core::ClaimReply>(request);
    // If a claim is stopped while a value moves into the list or out of it, the value may exist
    // twice.
    if (was_stopped_ && is_through_list_) repeated_.insert(there_.begin(), there_.end());
    std::vector<Held> held;
    for (const auto& item : reply.items) {
      held.push_back({std::string(core::view(reply.bytes, item.payload)),
                      std::string(core::view(reply.bytes, item.receipt))});
    }
    return held;
  }
  core::ItemsReply settle(const std::vector<Held>& held, SettleAction action) {
    core::SettleRequest request;
    for (const Held& one : held) {
      core::SettleItem& item = request.items.emplace_back();
      item.receipt = core::append(request.bytes, one.receipt);
      item.action = action;
      if (action == SettleAction::retry) item.delay = Millis(0);
    }
    if (held.empty()) return {};
    auto reply = sure<core::ItemsReply>(request);
    for (std::size_t i = 0; i < held.size() && action == SettleAction::ack; ++i) {
      end(held[i].payload, reply.items.at(i).outcome == Outcome::done);
    }
    return reply;
  }
  // A message whose end was requested may be delivered again; if its end was confirmed, it must not
  // be.
  void end(const std::string& payload, bool told) {
    there_.erase(payload);
    if (told) ended_.insert(payload);
  }
  void cancel(const std::string& payload) {
    core::CancelRequest request;
    request.queue = "q";
    request.keys.push_back(core::append(request.bytes, key_of(payload)));
    const auto reply = sure<core::ItemsReply>(request);
    const Outcome outcome = reply.items.at(0).outcome;
    end(payload, outcome == Outcome::cancelled || outcome == Outcome::stopping);
  }
  void reschedule(const std::string& payload, std::int64_t in_ms) {
    core::RescheduleRequest request;
    request.queue = "q";
    core::RescheduleItem& item = request.items.emplace_back();
    item.key = core::append(request.bytes, key_of(payload));
    item.due = Due::after(Millis(in_ms));
    (void)sure<core::ItemsReply>(request);
  }
  void stop_while_leased() {
    const std::vector<Held> held = claim(1);
    if (held.empty()) return;
    core::ExtendRequest extend;
    core::ExtendItem& item = extend.items.emplace_back();
    item.receipt = core::append(extend.bytes, held[0].receipt);
    (void)sure<core::ItemsReply>(extend);
    cancel(held[0].payload);
    settle(held, SettleAction::ack);
  }
  void move_away(const std::string& payload) {
    core::ListRequest list;
    list.queue = "q";
    core::CancelRequest request;
    request.queue = "q";
    for (const MessageInfo& info : sure<core::ListReply>(list).messages) {
      if (info.key != key_of(payload)) continue;
      request.keys.push_back(core::append(request.bytes, info.key));
      core::Seen& seen = request.seen.emplace_back();
      seen.due_ms = info.due.time_since_epoch().count();
      seen.payload = core::append(request.bytes, payload);
    }
    if (request.keys.empty()) return;
    const auto reply = sure<core::ItemsReply>(request);
    end(payload, reply.items.at(0).outcome == Outcome::done);
  }
  void read() {
    core::GetRequest get;
    get.queue = "q";
    get.keys.push_back(core::append(get.bytes, key_of("later 3")));
    (void)sure<core::GetReply>(get);
    core::ListRequest list;
    list.queue = "q";
    (void)sure<core::ListReply>(list);
    core::StatsRequest stats;
    stats.queue = "q";
    (void)sure<StoreStats>(stats);
    (void)sure<core::ForecastReply>(core::ForecastRequest{"q", Millis(60'000), 10});
  }
  // The purge has a queue of its own. Messages that it leaves are claimed at the end with the rest.
  void purge() {
    core::PushRequest request;
    request.queue = "purged";
    for (const std::string payload : {"purged 0", "purged 1", "purged 2"}) {
      core::PushItem& item = request.items.emplace_back();
      if (!is_redisson_) item.key = core::append(request.bytes, payload);
      item.payload = core::append(request.bytes, payload);
    }
    (void)sure<core::PushReply>(request);
    (void)sure<core::CountReply>(core::PurgeRequest{"purged"});
  }

  // Lets all leases run out and all messages fall due, and then settles everything.
  void settle_all() {
    clock_->advance(100'000'000);
    std::map<std::string, int> came;
    for (;;) {
      const std::vector<Held> held = claim(100);
      if (held.empty()) break;
      for (const Held& one : held) ++came[one.payload];
      core::SettleRequest request;
      for (const Held& one : held) {
        request.items.emplace_back().receipt = core::append(request.bytes, one.receipt);
      }
      (void)take<core::ItemsReply>(*engine_, std::move(request));
    }
    for (const auto& [payload, times] : came) {
      if (repeated_.contains(payload)) continue;
      EXPECT_EQ(times, 1) << payload << " came twice";
      EXPECT_FALSE(ended_.contains(payload)) << payload << " had ended";
    }
    for (const std::string& payload : there_) EXPECT_TRUE(came.contains(payload)) << payload;
  }
  void expect_nothing_left() {
    const std::string left = redis_(
        {"EVAL",
         "local left = '' for _, key in ipairs(redis.call('KEYS', '*')) do "
         "if key ~= 'ran' and key ~= 'removed' and not string.find(key, '^tarry:lease:') then "
         "left = left .. key .. ' ' end end return left",
         "0"});
    EXPECT_EQ(left, "");
  }

  Redis redis_;
  bool is_redisson_;
  bool is_through_list_;
  bool was_stopped_ = false;
  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
  std::unique_ptr<core::Engine> engine_;
  std::map<std::string, std::string> keys_;  // payload -> key
  std::set<std::string> there_;
  std::set<std::string> ended_;
  std::set<std::string> repeated_;
};

// How many stops are tried for each script, spread over its calls. With TARRY_ALL_STOPS in the
// environment, every call is tried.
constexpr int kLayoutStops = 12;

class StoppedLayouts : public LayoutTest, public ::testing::WithParamInterface<std::size_t> {
 protected:
  static int live(const StoppedLayout& layout, std::string_view script, int at) {
    return StoppedLayoutLife(options_of(layout.spec), redis, script, at).run();
  }
};

TEST_P(StoppedLayouts, AtEachCallAndAskedAgainLosesNothing) {
  const StoppedLayout layout = stopped_layouts().at(GetParam());
  const bool all = std::getenv("TARRY_ALL_STOPS") != nullptr;
  for (auto i = static_cast<std::size_t>(kFirstLayoutScript); i < kScripts; ++i) {
    const auto script = static_cast<Script>(i);
    const int calls = live(layout, name_of(script), 0);
    const bool is_of_redisson = script == Script::layout_seen;
    EXPECT_TRUE(calls > 0 || is_of_redisson) << name_of(script) << ": no verb of this life runs it";
    const int step = all ? 1 : std::max(1, calls / kLayoutStops);
    for (int at = 1; at <= calls && !HasFailure(); at += step) {
      SCOPED_TRACE(std::string(layout.name) + ": " + std::string(name_of(script)) +
                   " stopped at call " + std::to_string(at) + " of " + std::to_string(calls));
      (void)live(layout, name_of(script), at);
    }
  }
}

// A repeated call on layout `hash` must give the right answer. The script is stopped when it first
// calls `command`.
class StoppedHashLayout : public LayoutTest {
 protected:
  static LayoutEngineOptions stopped_at(Script script, const std::string& command) {
    LayoutEngineOptions options = options_of(stopped_layouts().at(2).spec);
    options.before_scripts = "local theirs, redis, at = redis, redis, '" + command +
                             "' if SCRIPT ~= '" + std::string(name_of(script)) +
                             R"lua(' then at = ''
end
redis = setmetatable({
  call = function(name, ...)
    if name == at and theirs.call('SET', 'stopped', 1, 'NX') then
      error({ err = 'ERR Script attempted to access a non local key in a cluster node' }, 0)
    end
    return theirs.call(name, ...)
  end,
}, { __index = theirs })
)lua";
    return options;
  }
  static std::string scores() { return redis({"ZCARD", "q"}); }
  static std::string bodies() { return redis({"HLEN", "q:bodies"}); }
};

TEST_F(StoppedHashLayout, ARepeatedPushGoesOnWhereItsBodyIsThere) {
  LayoutStore store(stopped_at(Script::layout_push, "ZADD"));
  EXPECT_TRUE(store.push("q", "body", "k").error);
  EXPECT_EQ(scores() + bodies(), "01");
  EXPECT_EQ(store.push("q", "another", "k").outcome, Outcome::exists);
  EXPECT_EQ(store.push("q", "body", "k").outcome, Outcome::pushed);
  EXPECT_EQ(store.claim("q").at(0).payload, "body");
}

TEST_F(StoppedHashLayout, ARepeatedAckIsDoneAndTakesTheBody) {
  LayoutStore store(stopped_at(Script::layout_settle, "HDEL"));
  (void)store.push("q", "body", "k");
  const auto taken = store.claim("q");
  EXPECT_TRUE(store.settle(taken.at(0).receipt).error);
  EXPECT_EQ(scores() + bodies(), "01");
  EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::done);
  EXPECT_EQ(scores() + bodies(), "00");
}

TEST_F(StoppedHashLayout, ARepeatedCancelStillStopsItsHolder) {
  for (const bool again : {true, false}) {
    for (const std::string command : {"ZREM", "HDEL", "SET"}) {
      SCOPED_TRACE(command + (again ? ", repeated" : ""));
      (void)redis({"FLUSHALL"});
      LayoutStore store(stopped_at(Script::layout_cancel, command));
      (void)store.push("q", "body", "k");
      const auto taken = store.claim("q");
      EXPECT_TRUE(store.cancel("q", "k").error);
      if (again) {
        EXPECT_EQ(store.cancel("q", "k").outcome, Outcome::stopping);
      }
      EXPECT_EQ(store.settle(taken.at(0).receipt).outcome, Outcome::done);
      // The ack does not remove a body without a score, because another client's push may have
      // begun.
      EXPECT_EQ(scores() + bodies(), !again && command == "HDEL" ? "01" : "00");
    }
  }
}

TEST_F(StoppedHashLayout, ALeaseOutlivesAnExtensionThatWasStopped) {
  for (const std::string command : {"SET", "ZADD"}) {
    SCOPED_TRACE(command);
    (void)redis({"FLUSHALL"});
    LayoutStore store(stopped_at(Script::layout_extend, command));
    (void)store.push("q", "body", "k");
    const auto taken = store.claim("q");
    EXPECT_TRUE(store.extend(taken.at(0).receipt, 60'000).error);
    EXPECT_EQ(store.extend(taken[0].receipt, 60'000).outcome, Outcome::done);
    EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::done);
    EXPECT_EQ(scores() + bodies(), "00");
  }
}

// Neither body is delivered before it is due.
TEST_F(StoppedHashLayout, AReplacementThatWasStoppedComesLateRatherThanEarly) {
  LayoutStore store(stopped_at(Script::layout_push, "HSET"));
  ASSERT_EQ(redis({"ZADD", "q", "1", "k"}), "1");
  ASSERT_EQ(redis({"HSET", "q:bodies", "k", "old"}), "1");
  const auto later =
      LayoutStore::push_of("q", "new", "k", Due::after(Millis(3'600'000)), IfExists::replace);
  EXPECT_TRUE(store.push(later).error);
  EXPECT_TRUE(store.claim("q").empty());
  EXPECT_EQ(store.push(later).outcome, Outcome::replaced);
  EXPECT_EQ(redis({"HGET", "q:bodies", "k"}), "new");
}

INSTANTIATE_TEST_SUITE_P(All, StoppedLayouts, ::testing::Range<std::size_t>(0, 7),
                         [](const auto& tested) {
                           return std::string(stopped_layouts().at(tested.param).name);
                         });

}  // namespace
}  // namespace tarry::redis
