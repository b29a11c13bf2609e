// Claims that name shards, as relays make them when they share a queue.
#include <future>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

using Shards = std::vector<std::uint32_t>;

class ShardClaimsTest : public ::testing::Test, public test::EngineCalls {
 protected:
  static constexpr std::uint32_t kShards = 4;

  ShardClaimsTest() {
    auto options = testing::options_for(server_);
    options.shards = kShards;
    engine_ = testing::must_open(std::move(options));
  }

  template <typename Reply>
  Reply asked(core::Request request) {
    return take<Reply>(*engine_, std::move(request));
  }

  void push(std::string_view queue, int from, int to, std::int64_t delay_ms = 0) {
    core::PushRequest request;
    request.queue = queue;
    for (int i = from; i < to; ++i) {
      core::PushItem item;
      item.key = core::append(request.bytes, "k" + std::to_string(i));
      item.due = Due::after(Millis(delay_ms));
      request.items.push_back(item);
    }
    (void)asked<core::PushReply>(std::move(request));
  }
  static core::ClaimRequest claim_of(std::vector<std::string> queues, std::vector<Shards> shards,
                                     Millis wait = Millis(0)) {
    core::ClaimRequest request;
    request.queues = std::move(queues);
    request.shards = std::move(shards);
    request.max = 1'000;
    request.wait = wait;
    return request;
  }
  static std::set<std::string> keys_in(const core::ClaimReply& reply) {
    std::set<std::string> keys;
    for (const core::ClaimedItem& item : reply.items) {
      keys.emplace(core::view(reply.bytes, item.key));
    }
    EXPECT_EQ(keys.size(), reply.items.size());
    return keys;
  }
  std::set<std::string> claim(Shards shards) {
    return keys_in(asked<core::ClaimReply>(claim_of({"q"}, {std::move(shards)})));
  }
  QueueStats stats(bool names_only) {
    core::StatsRequest request;
    if (!names_only) request.queue = "q";
    request.names_only = names_only;
    return asked<StoreStats>(request).queues.at(0);
  }
  // Begins a claim, and returns when it has found nothing and waits.
  std::future<Result<core::Reply>> parked(core::ClaimRequest request, std::uint64_t others = 0) {
    auto waiting = begin(*engine_, std::move(request));
    while (stats(false).waiting_claims <= others) {
    }
    return waiting;
  }

  testing::RedisServer server_;
  std::unique_ptr<core::Engine> engine_;
};

TEST_F(ShardClaimsTest, AQueueTellsItsShards) {
  push("q", 0, 1);
  EXPECT_EQ(stats(true).shards, kShards);
  EXPECT_EQ(stats(false).shards, kShards);
}

TEST_F(ShardClaimsTest, EachTakesWhatIsItsOwnAndTogetherTheyTakeAll) {
  push("q", 0, 200);
  std::set<std::string> all;
  for (std::uint32_t shard = 0; shard < kShards; ++shard) {
    auto own = claim({shard});
    EXPECT_GT(own.size(), 20u);
    EXPECT_LT(own.size(), 100u);
    EXPECT_TRUE(claim({shard}).empty());
    all.merge(own);
    EXPECT_TRUE(own.empty());  // no message was claimed from two shards
  }
  EXPECT_EQ(all.size(), 200u);
  push("q", 200, 300);
  EXPECT_EQ(claim({1, 3}).size() + claim({0, 2}).size(), 100u);
}

TEST_F(ShardClaimsTest, AShardThatIsNotThereGivesNothingAndNoListGivesAll) {
  push("q", 0, 50);
  EXPECT_TRUE(claim({kShards, 250}).empty());
  EXPECT_EQ(claim({}).size(), 50u);
}

TEST_F(ShardClaimsTest, ThoseThatWaitAreEachGivenTheirOwn) {
  push("q", 0, 1);
  EXPECT_EQ(claim({}).size(), 1u);
  auto even = parked(claim_of({"q"}, {{0, 2}}, Millis(60'000)));
  auto odd = parked(claim_of({"q"}, {{1, 3}}, Millis(60'000)), 1);
  push("q", 1, 100, 30);
  std::set<std::string> all;
  for (auto* waiting : {&even, &odd}) {
    const auto reply = waiting->get();
    ASSERT_TRUE(reply) << reply.error().message;
    auto keys = keys_in(std::get<core::ClaimReply>(*reply));
    EXPECT_FALSE(keys.empty());
    all.merge(keys);
  }
  // Each shard reads the clock when its part of the push comes, so the last may fall due now.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (all.size() < 99 && std::chrono::steady_clock::now() < deadline) all.merge(claim({}));
  EXPECT_EQ(all.size(), 99u);
}

// A claim that was woken and finds nothing must not wake the others once more.
TEST_F(ShardClaimsTest, ThoseThatWaitComeToRest) {
  push("q", 0, 1);
  EXPECT_EQ(claim({}).size(), 1u);
  std::vector<std::future<Result<core::Reply>>> waiting;
  for (std::uint32_t i = 0; i < 4; ++i) {
    waiting.push_back(parked(claim_of({"q"}, {{i}}, Millis(600'000)), i));
  }
  for (int i = 0; i < 20; ++i) push("q", 100 * i, 100 * i + 100, 600'000 - i * 1'000);
  // The stats request itself takes the same number of calls each time.
  const auto calls = [this] {
    core::StatsRequest request;
    request.queue = "q";
    return asked<StoreStats>(request).round_trips;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (int calm = 0; calm < 30;) {
    const std::uint64_t before = calls();
    calm = calls() - before == kShards ? calm + 1 : 0;
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "they ask without an end";
  }
  EXPECT_EQ(stats(false).waiting_claims, 4u);
}

TEST_F(ShardClaimsTest, WaitsAtAllItsQueuesForWhatFallsDue) {
  for (const char* queue : {"a", "q"}) push(queue, 0, 40, 50);
  std::size_t got = 0;
  for (int i = 0; got < 80 && i < 80; ++i) {
    const auto reply =
        asked<core::ClaimReply>(claim_of({"a", "q"}, {{0, 1, 2, 3}, {0, 1, 2, 3}}, Millis(60'000)));
    EXPECT_FALSE(reply.items.empty());
    got += reply.items.size();
  }
  EXPECT_EQ(got, 80u);
}

TEST_F(ShardClaimsTest, WhatIsStillInShardsThatAreLeftFallsToThoseWhoHaveTheNewOnes) {
  push("q", 0, 400);
  push("q", 400, 10'000, 3'600'000);
  core::ReshardRequest reshard;
  reshard.queue = "q";
  reshard.shards = 3;
  const auto step = asked<ReshardStep>(reshard);
  ASSERT_FALSE(step.done);  // both sets exist now
  EXPECT_EQ(stats(true).shards, 3u);
  std::set<std::string> all;
  for (std::uint32_t shard = 0; shard < 3; ++shard) all.merge(claim({shard}));
  EXPECT_EQ(all.size(), 400u);
}

TEST_F(ShardClaimsTest, ShardsOfOtherQueuesThanAreAskedAreRefused) {
  const auto refused = [this](core::ClaimRequest request) {
    const auto reply = ask(*engine_, std::move(request));
    return !reply && reply.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(refused(claim_of({"a", "b"}, {{0}})));
  core::ClaimRequest by_key = claim_of({"a"}, {{0}});
  by_key.keys = {"k"};
  EXPECT_TRUE(refused(std::move(by_key)));
}

}  // namespace
}  // namespace tarry::redis
