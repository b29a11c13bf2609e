// Verbs that go to several shards, in a cluster in which one master has failed. An error says
// "nothing was done" only if that is true.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/redis/protocol/redis_slot.h"
#include "support/engine_calls.h"
#include "support/inbox_rig.h"
#include "support/redis_cluster_servers.h"

namespace tarry::redis {
namespace {

using PartlyRig = tarry::testing::InboxRig;
using tarry::testing::RedisClusterServers;

constexpr std::size_t kMasters = 3;
constexpr std::uint32_t kShards = 8;  // of each queue; each master has some of them
constexpr std::uint64_t kMessages = 80;
constexpr int kPartitions = 16;

class PartlyDoneInCluster : public ::testing::TestWithParam<std::size_t>,
                            protected test::EngineCalls {
 protected:
  PartlyDoneInCluster()
      : servers_(kMasters, 0,
                 {"--appendonly", "yes", "--appendfsync", "always",
                  "--cluster-require-full-coverage", "no"}) {
    for (std::size_t i = 0; i < kMasters; ++i) {
      options_.cluster.push_back({"127.0.0.1", servers_.server(i).port()});
    }
    options_.shards = kShards;
    engine_ = PartlyRig::open(options_);
  }

  void push(const std::string& queue, Millis delay) {
    core::PushRequest request;
    request.queue = queue;
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      core::PushItem item;
      item.key = core::append(request.bytes, "k" + std::to_string(i));
      item.due = Due::after(delay);
      request.items.push_back(item);
    }
    for (const auto& item : take<core::PushReply>(*engine_, std::move(request)).items) {
      ASSERT_FALSE(item.error) << item.error->message;
    }
  }
  void bury_all(const std::string& queue) {
    push(queue, Millis(0));
    core::ClaimRequest claim;
    claim.queues = {queue};
    claim.max = kMessages;
    const auto claimed = take<core::ClaimReply>(*engine_, claim);
    ASSERT_EQ(claimed.items.size(), kMessages);
    core::SettleRequest settle;
    for (const auto& item : claimed.items) {
      core::SettleItem bury;
      bury.receipt = core::append(settle.bytes, core::view(claimed.bytes, item.receipt));
      bury.action = core::SettleAction::bury;
      settle.items.push_back(bury);
    }
    (void)take<core::ItemsReply>(*engine_, std::move(settle));
    ASSERT_EQ(stats(queue).dead, kMessages);
  }
  QueueStats stats(const std::string& queue) {
    core::StatsRequest request;
    request.queue = queue;
    return take<StoreStats>(*engine_, request).queues.at(0);
  }
  template <typename Request>
  static void add_keys(Request& request) {
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      request.keys.push_back(core::append(request.bytes, "k" + std::to_string(i)));
    }
  }

  void lose() { servers_.server(GetParam()).kill9(); }
  void find_again() {
    servers_.server(GetParam()).start();
    for (std::size_t i = 0; i < kMasters; ++i) {
      servers_.until([&] {
        return servers_.ask(i, {"CLUSTER", "INFO"}).find("cluster_slots_ok:16384") !=
                   std::string::npos &&
               servers_.ask(i, {"CLUSTER", "NODES"}).find("fail") == std::string::npos;
      });
    }
    // Waits until the engine is connected again.
    servers_.until([&] { return ask(*engine_, core::StatsRequest{}).has_value(); });
  }
  Error error_of(core::Request request) {
    const auto reply = ask(*engine_, std::move(request));
    EXPECT_FALSE(reply) << "a master is away";
    return reply ? Error() : reply.error();
  }
  // If the lost master has the queues' records, the client cannot read them, and uses the queues
  // that it knows. Otherwise it looks at all shards of a queue first, and nothing is done.
  [[nodiscard]] bool is_record_away() const {
    return GetParam() == servers_.first_owner(net::redis_slot(PartlyRig::key(0, "store")));
  }
  /// `done`: messages that the verb has changed.
  void expect_truth(const Error& error, const std::string& verb, const std::string& queue,
                    std::uint64_t done) const {
    if (is_record_away()) {
      EXPECT_GT(done, 0u);
    }
    EXPECT_LT(done, kMessages);
    if (done == 0) {
      EXPECT_EQ(error.code, ErrorCode::unavailable) << error.message;
    } else {
      expect_partly(error, verb + " of queue " + queue + " is done in part (" +
                               std::to_string(done) + " messages)");
    }
  }
  static void expect_partly(const Error& error, const std::string& text) {
    EXPECT_EQ(error.code, ErrorCode::unknown_outcome) << error.message;
    EXPECT_NE(error.message.find(text), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("Redis at 127.0.0.1:"), std::string::npos) << error.message;
  }

  static std::string name_of(core::SettleAction action) {
    return std::string(core::to_string(action));
  }
  // Counts the items that were done. Each other item must have the error that its node is
  // unreachable.
  static std::uint64_t count_done(const core::ItemsReply& reply, Outcome outcome) {
    std::uint64_t done = 0;
    for (const auto& item : reply.items) {
      if (!item.error) {
        EXPECT_EQ(item.outcome, outcome);
        ++done;
      } else {
        EXPECT_EQ(item.error->code, ErrorCode::unavailable) << item.error->message;
      }
    }
    return done;
  }
  // How many shards of queue q on that master have this max_attempts.
  std::uint64_t shards_with_attempts(std::size_t master, std::uint32_t attempts) {
    const std::string told = servers_.ask(
        master, {"EVAL",
                 "local n = 0 for _, key in ipairs(redis.call('KEYS', 'tarry:*:q/*:meta')) do "
                 "local is = redis.call('HGET', key, 'settings') or '' "
                 "if string.match(is, '^%w+ (%w+) ') == ARGV[1] then n = n + 1 end end return n",
                 "0", std::to_string(attempts)});
    EXPECT_TRUE(told.starts_with(':')) << told;
    return told.starts_with(':') ? std::stoull(told.substr(1)) : 0;
  }

  RedisClusterServers servers_;
  RedisEngineOptions options_;
  std::unique_ptr<core::Engine> engine_;
};
INSTANTIATE_TEST_SUITE_P(Away, PartlyDoneInCluster, ::testing::Range<std::size_t>(0, kMasters));

TEST_P(PartlyDoneInCluster, ASweepTellsHowFarItCame) {
  const Millis later(3'600'000);
  push("purged", later);
  bury_all("revived");
  bury_all("by-key");
  lose();
  const Error purge = error_of(core::PurgeRequest{"purged"});
  core::ReviveRequest all;
  all.queue = "revived";
  all.all = true;
  const Error revive = error_of(all);
  core::ReviveRequest some;
  some.queue = "by-key";
  add_keys(some);
  const Error by_key = error_of(some);
  find_again();

  const std::uint64_t purged = stats("purged").counters.purged;
  expect_truth(purge, "purge", "purged", purged);
  const std::uint64_t revived = kMessages - stats("revived").dead;
  expect_truth(revive, "revive", "revived", revived);
  expect_truth(by_key, "revive", "by-key", kMessages - stats("by-key").dead);
  // The same request, sent again, does the rest.
  EXPECT_EQ(take<core::CountReply>(*engine_, core::PurgeRequest{"purged"}).count,
            kMessages - purged);
  EXPECT_EQ(take<core::CountReply>(*engine_, all).count, kMessages - revived);
}

TEST_P(PartlyDoneInCluster, ANothingThatIsSureIsToldAsNothing) {
  push("leased", Millis(0));
  push("kept", Millis(3'600'000));
  core::ClaimRequest claim;
  claim.queues = {"leased"};
  claim.max = kMessages;
  ASSERT_EQ(take<core::ClaimReply>(*engine_, claim).items.size(), kMessages);
  lose();
  EXPECT_EQ(error_of(core::PurgeRequest{"leased"}).code, ErrorCode::unavailable);
  core::ReviveRequest revive;
  revive.queue = "kept";
  revive.all = true;
  EXPECT_EQ(error_of(revive).code, ErrorCode::unavailable);
  // Configure looks at all shards before it changes one.
  core::ConfigureRequest configure;
  configure.queue = "kept";
  configure.patch.max_attempts = 3;
  EXPECT_EQ(error_of(configure).code, ErrorCode::unavailable);
  EXPECT_EQ(error_of(core::RemoveRequest{"kept", false}).code, ErrorCode::unavailable);
  core::StatsRequest look;
  look.queue = "kept";
  EXPECT_EQ(error_of(look).code, ErrorCode::unavailable);
  core::ListRequest list;
  list.queue = "kept";
  list.limit = kMessages;
  EXPECT_EQ(error_of(list).code, ErrorCode::unavailable);
  find_again();
  const QueueStats kept = stats("kept");
  EXPECT_EQ(kept.scheduled, kMessages);
  EXPECT_EQ(kept.settings.max_attempts, QueueSettings().max_attempts);
}

TEST_P(PartlyDoneInCluster, PauseAndResumeTellOnHowManyShards) {
  push("q", Millis(3'600'000));
  lose();
  const Error paused = error_of(core::PauseRequest{"q", std::nullopt});
  const Error resumed = error_of(core::ResumeRequest{"q"});
  find_again();
  // At some moment the client notices that a connection is gone. If it can read the records, it may
  // drop the known queues then, perhaps between the two verbs.
  const auto expect_partly_or_nothing = [this](const Error& error, const std::string& verb) {
    if (error.code == ErrorCode::unavailable) {
      EXPECT_FALSE(is_record_away()) << error.message;
    } else {
      expect_partly(error, verb + " of queue q is done in part (on ");
      EXPECT_NE(error.message.find(" of its 8 shards)"), std::string::npos) << error.message;
    }
  };
  expect_partly_or_nothing(paused, "pause");
  expect_partly_or_nothing(resumed, "resume");
  if (paused.code == ErrorCode::unavailable) {
    EXPECT_FALSE(stats("q").paused);
    EXPECT_EQ(resumed.code, ErrorCode::unavailable) << resumed.message;
  }
  (void)take<core::CountReply>(*engine_, core::PauseRequest{"q", std::nullopt});
  EXPECT_TRUE(stats("q").paused);
}

// A batch tells of each item whether it was done.
TEST_P(PartlyDoneInCluster, ABatchTellsOfEachItem) {
  push("q", Millis(3'600'000));
  lose();
  core::CancelRequest cancel;
  cancel.queue = "q";
  add_keys(cancel);
  std::uint64_t cancelled = 0;
  for (const auto& item : take<core::ItemsReply>(*engine_, cancel).items) {
    if (!item.error) {
      EXPECT_EQ(item.outcome, Outcome::cancelled);
      ++cancelled;
    } else {
      EXPECT_EQ(item.error->code, ErrorCode::unavailable) << item.error->message;
    }
  }
  find_again();
  if (is_record_away()) {
    EXPECT_GT(cancelled, 0u);
  }
  EXPECT_EQ(stats("q").scheduled, kMessages - cancelled);
}

// The same for verbs by receipt, and for reschedules.
TEST_P(PartlyDoneInCluster, SettlesAndReschedulesTellOfEachItem) {
  const std::vector<core::SettleAction> actions = {
      core::SettleAction::ack, core::SettleAction::retry, core::SettleAction::release,
      core::SettleAction::bury};
  std::vector<core::SettleRequest> settles;
  for (const core::SettleAction action : actions) {
    const std::string queue = name_of(action);
    push(queue, Millis(0));
    core::ClaimRequest claim;
    claim.queues = {queue};
    claim.max = kMessages;
    claim.lease = Millis(3'600'000);
    const auto claimed = take<core::ClaimReply>(*engine_, claim);
    ASSERT_EQ(claimed.items.size(), kMessages);
    core::SettleRequest& settle = settles.emplace_back();
    for (const auto& item : claimed.items) {
      core::SettleItem one;
      one.receipt = core::append(settle.bytes, core::view(claimed.bytes, item.receipt));
      one.action = action;
      if (action == core::SettleAction::retry) one.delay = Millis(3'600'000);
      settle.items.push_back(one);
    }
  }
  push("moved", Millis(3'600'000));
  core::RescheduleRequest reschedule;
  reschedule.queue = "moved";
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    core::RescheduleItem& item = reschedule.items.emplace_back();
    item.key = core::append(reschedule.bytes, "k" + std::to_string(i));
  }
  lose();
  std::vector<std::uint64_t> done;
  for (const core::SettleRequest& settle : settles) {
    done.push_back(count_done(take<core::ItemsReply>(*engine_, settle), Outcome::done));
  }
  const std::uint64_t moved =
      count_done(take<core::ItemsReply>(*engine_, reschedule), Outcome::rescheduled);
  find_again();
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const QueueStats now = stats(name_of(actions[i]));
    EXPECT_EQ(now.leased, kMessages - done[i]) << name_of(actions[i]);
    EXPECT_EQ(now.counters.acked + now.scheduled + now.ready + now.dead, done[i])
        << name_of(actions[i]);
    if (is_record_away()) {
      EXPECT_GT(done[i], 0u);
    }
    EXPECT_LT(done[i], kMessages);
    // The same request, sent again, does the rest. Items that were done are stale by now.
    const auto again = take<core::ItemsReply>(*engine_, settles[i]);
    EXPECT_EQ(std::ranges::count(again.items, Outcome::done, &core::ItemResult::outcome),
              static_cast<std::ptrdiff_t>(kMessages - done[i]));
    EXPECT_EQ(stats(name_of(actions[i])).leased, 0u);
  }
  EXPECT_EQ(stats("moved").ready, moved);
}

// Configure has looked at all shards. One of these shards disappears while the settings are
// written.
TEST_P(PartlyDoneInCluster, ConfigureTellsOnHowManyShards) {
  push("q", Millis(3'600'000));
  std::uint64_t elsewhere = 0;
  for (std::size_t i = 0; i < kMasters; ++i) {
    if (i != GetParam()) elsewhere += shards_with_attempts(i, QueueSettings().max_attempts);
  }
  ASSERT_GT(elsewhere, 0u);
  for (int p = 0; p < kPartitions; ++p) {
    const std::string key = PartlyRig::key(p, "holds");
    if (servers_.first_owner(net::redis_slot(key)) != GetParam()) continue;
    ASSERT_EQ(servers_.ask(GetParam(), {"SET", key, "1"}), "+OK\r\n");
  }
  RedisEngineOptions options = options_;
  options.before_scripts = R"lua(
if SCRIPT == 'configure' then
  local holds = string.match(KEYS[1], '^tarry:{%d+}:') .. 'holds'
  while redis.call('EXISTS', holds) == 1 do end
end
)lua";
  const auto held = PartlyRig::open(options);
  core::ConfigureRequest configure;
  configure.queue = "q";
  configure.patch.max_attempts = 77;
  auto answer = begin(*held, configure);
  servers_.until([&] {
    std::uint64_t written = 0;
    for (std::size_t i = 0; i < kMasters; ++i) {
      if (i != GetParam()) written += shards_with_attempts(i, 77);
    }
    return written == elsewhere;
  });
  lose();
  const auto reply = answer.get();
  ASSERT_FALSE(reply);
  expect_partly(reply.error(), "configure of queue q is done in part (on " +
                                   std::to_string(elsewhere) + " of its 8 shards)");
  find_again();
  EXPECT_EQ(take<core::ConfigureReply>(*engine_, configure).settings.max_attempts, 77u);
  std::uint64_t written = 0;
  for (std::size_t i = 0; i < kMasters; ++i) written += shards_with_attempts(i, 77);
  EXPECT_EQ(written, kShards);
}

// Messages from one shard are handed over, though another cannot be asked.
TEST_P(PartlyDoneInCluster, AClaimThatFailsHasClaimedNothing) {
  push("q", Millis(0));
  lose();
  core::ClaimRequest claim;
  claim.queues = {"q"};
  claim.max = kMessages;
  std::uint64_t handed_over = 0;
  for (std::uint32_t i = 0; i < kShards; ++i) {
    const auto reply = ask(*engine_, claim);
    if (reply) {
      handed_over += std::get<core::ClaimReply>(*reply).items.size();
    } else {
      EXPECT_EQ(reply.error().code, ErrorCode::unavailable) << reply.error().message;
    }
  }
  find_again();
  if (is_record_away()) {
    EXPECT_GT(handed_over, 0u);
  }
  EXPECT_EQ(stats("q").leased, handed_over);
}

}  // namespace
}  // namespace tarry::redis
