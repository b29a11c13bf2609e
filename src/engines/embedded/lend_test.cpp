// A thread that waits for its answer runs the shards meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <mutex>
#include <set>
#include <thread>
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

INSTANTIATE_TEST_SUITE_P(Shards, Lend, testing::Values(1u, 4u));

}  // namespace
}  // namespace tarry::embedded
