// A thread that waits for its answer runs the shards meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engines/embedded/embedded_engine.h"
#include "support/embedded/requests.h"
#include "support/temp_directory.h"

namespace tarry::embedded {
namespace {

using core::ClaimReply;
using core::ItemsReply;
using core::PushReply;

Result<core::Reply> ask_waiting(core::Engine& engine, core::Request request) {
  std::promise<Result<core::Reply>> promise;
  auto future = promise.get_future();
  engine.submit_waiting(std::move(request), [&promise](Result<core::Reply> reply) {
    promise.set_value(std::move(reply));
  });
  return future.get();
}

class Lend : public testing::TestWithParam<std::uint32_t> {
 protected:
  std::unique_ptr<core::Engine> open(SyncPolicy sync) {
    EmbeddedOptions options;
    options.path = directory_.path() + "/store";
    options.sync = sync;
    options.shards = GetParam();
    options.segment_bytes = 64 << 10;  // new segments, cleaning: jobs that are not quick
    auto engine = open_embedded(options);
    EXPECT_TRUE(engine) << (engine ? "" : engine.error().message);
    return engine ? std::move(*engine) : nullptr;
  }

  storage::TempDirectory directory_;
};

// Each client pushes, claims and settles until all that was pushed has been settled. Claims wait,
// so that some are served by another client's push.
void live(core::Engine& engine, std::size_t pushes, std::size_t all,
          std::atomic<std::size_t>& settled) {
  for (std::size_t pushed = 0; settled.load() < all;) {
    if (pushed < pushes) {
      ++pushed;
      auto reply = ask_waiting(engine, test::push("q", "", Due::after(Millis(pushed % 3))));
      ASSERT_TRUE(reply);
      ASSERT_FALSE(std::get<PushReply>(*reply).items.at(0).error);
    }
    core::ClaimRequest claim = test::claim("q", 2);
    claim.wait = Millis(pushed < pushes ? 0 : 5);
    auto reply = ask_waiting(engine, std::move(claim));
    ASSERT_TRUE(reply);
    const auto& claimed = std::get<ClaimReply>(*reply);
    std::vector<std::string> receipts;
    for (const auto& item : claimed.items) {
      receipts.emplace_back(core::view(claimed.bytes, item.receipt));
    }
    if (receipts.empty()) continue;
    auto acked = ask_waiting(engine, test::settle(receipts));
    ASSERT_TRUE(acked);
    for (const auto& item : std::get<ItemsReply>(*acked).items) {
      ASSERT_EQ(item.outcome, Outcome::done);
    }
    settled.fetch_add(receipts.size());
  }
}

TEST_P(Lend, EachMessageIsSettledOnce) {
  for (const SyncPolicy sync : {SyncPolicy::os, SyncPolicy::every_100ms}) {
    constexpr std::size_t kClients = 4;
    constexpr std::size_t kPushes = 500;
    const auto engine = open(sync);
    std::atomic<std::size_t> settled{0};
    std::vector<std::thread> clients;
    for (std::size_t i = 0; i < kClients; ++i) {
      clients.emplace_back([&] { live(*engine, kPushes, kClients * kPushes, settled); });
    }
    for (std::thread& client : clients) client.join();
    auto reply = ask_waiting(*engine, core::StatsRequest{"q"});
    ASSERT_TRUE(reply);
    const QueueStats& stats = std::get<StoreStats>(*reply).queues.at(0);
    EXPECT_EQ(stats.scheduled + stats.ready + stats.leased, 0u);
    EXPECT_EQ(settled.load(), kClients * kPushes);
    engine->close();
  }
}

// The waiting thread reads and describes the claimed messages.
TEST_P(Lend, AClaimIsCompletedByItsWaiter) {
  for (const SyncPolicy sync : {SyncPolicy::always, SyncPolicy::os}) {
    const auto engine = open(sync);
    std::thread::id told_on;
    const auto watch = engine->claim_watches().add(
        [&](const ClaimReply&) { told_on = std::this_thread::get_id(); });
    std::vector<std::string> keys;
    for (int i = 0; i < 20; ++i) keys.push_back("k" + std::to_string(i));
    ASSERT_TRUE(ask_waiting(*engine, test::push("q", keys, Due(), "what it says")));
    std::set<std::string> claimed_keys;
    while (claimed_keys.size() < keys.size()) {  // a claim takes at most 7, from one or more shards
      auto reply = ask_waiting(*engine, test::claim("q", 7));
      ASSERT_TRUE(reply);
      const auto& claimed = std::get<ClaimReply>(*reply);
      ASSERT_FALSE(claimed.items.empty());
      EXPECT_EQ(told_on, std::this_thread::get_id());
      for (const auto& item : claimed.items) {
        EXPECT_EQ(core::view(claimed.bytes, item.payload), "what it says");
        EXPECT_TRUE(claimed_keys.emplace(core::view(claimed.bytes, item.key)).second);
      }
    }
    engine->claim_watches().remove(watch);
    engine->close();
    std::filesystem::remove_all(directory_.path() + "/store");
  }
}

// A waiting thread may hold a lock that another caller's callback needs.
TEST_P(Lend, CallbacksOfOthersDoNotRunOnIt) {
  const auto engine = open(SyncPolicy::os);
  std::atomic<bool> over{false};
  std::mutex mutex;
  std::set<std::thread::id> lenders;
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&] {
      {
        const std::scoped_lock lock(mutex);
        lenders.insert(std::this_thread::get_id());
      }
      while (!over) ASSERT_TRUE(ask_waiting(*engine, test::push("q", "")));
    });
  }
  constexpr int kAsked = 2000;
  std::atomic<int> ran{0};
  std::promise<void> all;
  std::set<std::thread::id> ran_on;
  for (int i = 0; i < kAsked; ++i) {
    engine->submit(test::push("q", ""), [&](const Result<core::Reply>& reply) {
      EXPECT_TRUE(reply);
      EXPECT_TRUE(core::on_engine_thread());
      {
        const std::scoped_lock lock(mutex);
        ran_on.insert(std::this_thread::get_id());
      }
      if (ran.fetch_add(1) + 1 == kAsked) all.set_value();
    });
  }
  all.get_future().wait();
  over = true;
  for (std::thread& client : clients) client.join();
  for (const std::thread::id id : lenders) EXPECT_FALSE(ran_on.contains(id));
  engine->close();
}

// A message that falls due after all lenders have gone wakes the shard's own thread, even if a
// lender pushed it.
TEST_P(Lend, WhatIsDueLaterIsDeliveredToWhoWaits) {
  const auto engine = open(SyncPolicy::os);
  for (int i = 0; i < 20; ++i) {
    std::promise<Result<core::Reply>> promise;
    core::ClaimRequest claim = test::claim("q");
    claim.wait = std::chrono::minutes(1);
    engine->submit(std::move(claim),
                   [&](Result<core::Reply> reply) { promise.set_value(std::move(reply)); });
    ASSERT_TRUE(ask_waiting(*engine, test::push("q", "", Due::after(Millis(i % 4)))));
    auto reply = promise.get_future().get();
    ASSERT_TRUE(reply);
    ASSERT_EQ(std::get<ClaimReply>(*reply).items.size(), 1u);
  }
  engine->close();
}

TEST_P(Lend, ClosingAnswersAllWhoWait) {
  const auto engine = open(SyncPolicy::os);
  ASSERT_TRUE(ask_waiting(*engine, test::push("q", "k", Due::after(std::chrono::hours(1)))));
  std::atomic<int> begun{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&] {
      while (true) {
        core::ClaimRequest claim = test::claim("q");
        claim.wait = Millis(begun.fetch_add(1) % 2);
        auto reply = ask_waiting(*engine, std::move(claim));
        if (!reply) {
          EXPECT_EQ(reply.error().code, ErrorCode::closed);
          return;
        }
      }
    });
  }
  while (begun.load() < 300) std::this_thread::yield();
  engine->close();
  for (std::thread& client : clients) client.join();
}

// A thread such as a server's, which lends itself for the requests of many callers.
class Serves {
 public:
  explicit Serves(core::Engine& engine) : engine_(engine) {}

  core::Ticket submit(core::Request request) {
    ++outstanding_;
    return engine_.submit_lending(
        std::move(request),
        [this](Result<core::Reply> reply) {
          const std::scoped_lock lock(mutex_);
          replies_.push_back(std::move(reply));
          ran_on_.insert(std::this_thread::get_id());
          changed_.notify_all();
        },
        lent_);
  }
  void lend() { engine_.lend(lent_); }
  /// All replies since the last call, when none is outstanding; and the threads that gave them.
  std::vector<Result<core::Reply>> take(std::set<std::thread::id>* ran_on = nullptr) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(1),
                                  [&] { return replies_.size() == outstanding_; }));
    outstanding_ = 0;
    if (ran_on != nullptr) *ran_on = std::exchange(ran_on_, {});
    return std::exchange(replies_, {});
  }

 private:
  core::Engine& engine_;
  core::Lent lent_;
  std::size_t outstanding_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Result<core::Reply>> replies_;
  std::set<std::thread::id> ran_on_;
};

// A shard's own thread may come first, because it was woken for something else; but not always.
TEST_P(Lend, AServersThreadAnswersWhatNeedsNoDisk) {
  const std::set here{std::this_thread::get_id()};
  for (const SyncPolicy sync : {SyncPolicy::every_100ms, SyncPolicy::os}) {
    const auto engine = open(sync);
    Serves serves(*engine);
    bool alone = false;
    for (int round = 0; round < 10'000 && !alone; ++round) {
      std::set<std::thread::id> pushed_on;
      std::set<std::thread::id> claimed_on;
      for (int i = 0; i < 5; ++i) serves.submit(test::push("q", ""));
      serves.lend();
      for (const auto& reply : serves.take(&pushed_on)) {
        ASSERT_TRUE(reply);
        EXPECT_FALSE(std::get<PushReply>(*reply).items.at(0).error);
      }
      std::vector<std::string> receipts;
      for (int i = 0; i < 5; ++i) serves.submit(test::claim("q"));
      serves.lend();
      for (const auto& reply : serves.take(&claimed_on)) {
        ASSERT_TRUE(reply);
        const auto& claimed = std::get<ClaimReply>(*reply);
        ASSERT_EQ(claimed.items.size(), 1u);
        EXPECT_EQ(core::view(claimed.bytes, claimed.items[0].payload), "payload");
        receipts.emplace_back(core::view(claimed.bytes, claimed.items[0].receipt));
      }
      serves.submit(test::settle(receipts));
      serves.lend();
      ASSERT_EQ(serves.take().size(), 1u);
      alone = pushed_on == here && claimed_on == here;
    }
    EXPECT_TRUE(alone);
    engine->close();
    std::filesystem::remove_all(directory_.path() + "/store");
  }
}

TEST_P(Lend, AServersThreadWaitsForNoSync) {
  const auto engine = open(SyncPolicy::always);
  Serves serves(*engine);
  for (int i = 0; i < 20; ++i) serves.submit(test::push("q", ""));
  serves.lend();
  std::set<std::thread::id> ran_on;
  EXPECT_EQ(serves.take(&ran_on).size(), 20u);
  EXPECT_FALSE(ran_on.contains(std::this_thread::get_id()));
  engine->close();
}

// A push on the server's thread serves a claim that waits, and one that was withdrawn ends.
TEST_P(Lend, ClaimsThatWaitAreServedAndWithdrawn) {
  for (const SyncPolicy sync : {SyncPolicy::always, SyncPolicy::every_100ms, SyncPolicy::os}) {
    const auto engine = open(sync);
    Serves serves(*engine);
    for (int i = 0; i < 50; ++i) {
      core::ClaimRequest claim = test::claim("q");
      claim.wait = std::chrono::hours(1);
      const core::Ticket withdrawn = serves.submit(claim);
      if (i % 2 == 0) serves.lend();
      engine->withdraw(withdrawn);
      serves.lend();
      auto replies = serves.take();
      ASSERT_EQ(replies.size(), 1u);
      ASSERT_TRUE(replies[0]);
      EXPECT_TRUE(std::get<ClaimReply>(*replies[0]).items.empty());

      serves.submit(std::move(claim));
      if (i % 2 == 0) serves.lend();
      serves.submit(test::push("q", "", Due::after(Millis(i % 3))));
      serves.lend();
      std::size_t claimed = 0;
      for (const auto& reply : serves.take()) {
        ASSERT_TRUE(reply);
        if (const auto* one = std::get_if<ClaimReply>(&*reply)) claimed += one->items.size();
      }
      EXPECT_EQ(claimed, 1u);
    }
    engine->close();
    std::filesystem::remove_all(directory_.path() + "/store");
  }
}

TEST_P(Lend, ClosingAnswersWhatAServersThreadHasNotDone) {
  const auto engine = open(SyncPolicy::os);
  Serves serves(*engine);
  for (int i = 0; i < 10; ++i) serves.submit(test::push("q", ""));
  engine->close();
  serves.lend();
  EXPECT_EQ(serves.take().size(), 10u);
  serves.submit(test::push("q", ""));
  serves.lend();
  const auto replies = serves.take();
  ASSERT_EQ(replies.size(), 1u);
  ASSERT_FALSE(replies[0]);
  EXPECT_EQ(replies[0].error().code, ErrorCode::closed);
}

// Two servers' threads and two that wait for their own answers, on one store.
TEST_P(Lend, LendersOfBothKindsShareAStore) {
  for (const SyncPolicy sync : {SyncPolicy::always, SyncPolicy::every_100ms, SyncPolicy::os}) {
    constexpr std::size_t kPushes = 150;
    constexpr std::size_t kAll = 4 * kPushes;
    const auto engine = open(sync);
    std::atomic<std::size_t> settled{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 2; ++i) {
      clients.emplace_back([&] { live(*engine, kPushes, kAll, settled); });
      clients.emplace_back([&] {
        Serves serves(*engine);
        for (std::size_t pushed = 0; settled.load() < kAll;) {
          for (int more = 0; more < 3 && pushed < kPushes; ++more, ++pushed) {
            serves.submit(test::push("q", "", Due::after(Millis(pushed % 3))));
          }
          core::ClaimRequest claim = test::claim("q", 4);
          claim.wait = Millis(pushed < kPushes ? 0 : 5);
          serves.submit(std::move(claim));
          serves.lend();
          std::vector<std::string> receipts;
          for (const auto& reply : serves.take()) {
            ASSERT_TRUE(reply);
            const auto* claimed = std::get_if<ClaimReply>(&*reply);
            if (claimed == nullptr) continue;
            for (const auto& item : claimed->items) {
              receipts.emplace_back(core::view(claimed->bytes, item.receipt));
            }
          }
          if (receipts.empty()) continue;
          serves.submit(test::settle(receipts));
          serves.lend();
          for (const auto& reply : serves.take()) {
            ASSERT_TRUE(reply);
            for (const auto& item : std::get<ItemsReply>(*reply).items) {
              ASSERT_EQ(item.outcome, Outcome::done);
            }
          }
          settled.fetch_add(receipts.size());
        }
      });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(settled.load(), kAll);
    engine->close();
    std::filesystem::remove_all(directory_.path() + "/store");
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, Lend, testing::Values(1u, 4u));

}  // namespace
}  // namespace tarry::embedded
