// A claim of many messages makes no entries in LEASED until a request asks for one message alone
// (scripts/bulk.lua). No user of the store may notice that.
#include <algorithm>
#include <functional>
#include <future>
#include <set>

#include <gtest/gtest.h>

#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

constexpr std::int64_t kLeaseMs = 30'000;
constexpr std::uint32_t kMany = 40;

class BulkClaimTest : public ::testing::Test, public testing::OneRedisEngine {
 protected:
  core::PushReply push(std::uint32_t from, std::uint32_t to) {
    core::PushRequest request;
    request.queue = "q";
    for (std::uint32_t i = from; i < to; ++i) {
      core::PushItem item;
      item.key = core::append(request.bytes, "k" + std::to_string(i));
      item.payload = core::append(request.bytes, "p" + std::to_string(i));
      request.items.push_back(item);
    }
    return asked<core::PushReply>(std::move(request));
  }
  core::ClaimReply claim(std::uint32_t max) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.max = max;
    request.lease = Millis(kLeaseMs);
    auto reply = asked<core::ClaimReply>(std::move(request));
    EXPECT_EQ(reply.items.size(), max);
    return reply;
  }
  core::ItemsReply settle(const core::ClaimReply& claimed, std::size_t from, std::size_t to,
                          core::SettleAction action = core::SettleAction::ack) {
    core::SettleRequest request;
    for (std::size_t i = from; i < to; ++i) {
      core::SettleItem item;
      item.receipt = core::append(request.bytes, view(claimed, claimed.items[i].receipt));
      item.action = action;
      if (action == core::SettleAction::retry) item.delay = Millis(1'000);
      request.items.push_back(item);
    }
    return asked<core::ItemsReply>(std::move(request));
  }
  static std::string_view view(const core::ClaimReply& claimed, core::Slice slice) {
    return core::view(claimed.bytes, slice);
  }
  static std::size_t count(const core::ItemsReply& reply, Outcome outcome) {
    return static_cast<std::size_t>(std::ranges::count(reply.items, outcome, [](const auto& item) {
      return item.error ? Outcome::unknown : item.outcome;
    }));
  }
  MessageInfo get(std::string_view key) {
    core::GetRequest request;
    request.queue = "q";
    request.keys.push_back(core::append(request.bytes, key));
    auto items = asked<core::GetReply>(std::move(request)).items;
    EXPECT_TRUE(items.at(0)) << items.at(0).error().message;
    return *items.at(0);
  }
  QueueStats stats() {
    core::StatsRequest request;
    request.queue = "q";
    return asked<StoreStats>(request).queues.at(0);
  }
  std::string ask_redis(std::vector<std::string> command) { return server_.ask(command); }
  static std::string key(std::string_view part) { return "tarry:{1}:q/0:" + std::string(part); }
  // Entries in LEASED, without its placeholder.
  int entries() { return std::stoi(ask_redis({"HLEN", key("leased")}).substr(1)) - 1; }
  bool nothing_is_left_of_claims() {
    return entries() == 0 && ask_redis({"HLEN", key("claims")}) == ":1\r\n" &&
           ask_redis({"ZCARD", key("leases")}) == ":1\r\n" &&
           ask_redis({"HGET", key("meta"), "bulk"}) == "$1\r\n0\r\n";
  }
};

TEST_F(BulkClaimTest, LeavesNoEntryForEachAndIsAckedAsOne) {
  push(0, 2 * kMany + 10);
  const auto first = claim(kMany);
  const auto second = claim(kMany);
  EXPECT_EQ(entries(), 0);
  EXPECT_EQ(stats().leased, 2u * kMany);
  EXPECT_EQ(count(settle(first, 0, kMany), Outcome::done), kMany);
  EXPECT_EQ(stats().leased, kMany);
  EXPECT_EQ(count(settle(first, 0, kMany), Outcome::stale), kMany);
  EXPECT_EQ(count(settle(second, 0, kMany), Outcome::done), kMany);
  EXPECT_TRUE(nothing_is_left_of_claims());
  const QueueStats after = stats();
  EXPECT_EQ(after.leased, 0u);
  EXPECT_EQ(after.ready, 10u);
  EXPECT_EQ(after.counters.acked, 2u * kMany);
}

TEST_F(BulkClaimTest, FewHaveEntriesAndSoHaveThoseWhoseEndIsRemembered) {
  push(0, 200);
  const auto few = claim(31);
  EXPECT_EQ(entries(), 31);
  core::ConfigureRequest remember;
  remember.queue = "q";
  remember.patch.remember = Millis(60'000);
  (void)asked<core::ConfigureReply>(remember);
  const auto many = claim(kMany);
  EXPECT_EQ(entries(), 71);
  EXPECT_EQ(count(settle(many, 0, kMany), Outcome::done), kMany);
  EXPECT_EQ(count(settle(few, 0, 31), Outcome::done), 31u);
  EXPECT_EQ(stats().remembered, 71u);
  EXPECT_EQ(entries(), 0);
}

// The number of messages that one call may have to spread is bounded.
TEST_F(BulkClaimTest, TogetherTheyAreNotMoreThanACallMaySpread) {
  for (std::uint32_t i = 0; i < 10; ++i) push(500 * i, 500 * (i + 1));
  std::vector<core::ClaimReply> claims;
  for (int i = 0; i < 10; ++i) claims.push_back(claim(500));
  EXPECT_EQ(entries(), 1'000);
  EXPECT_EQ(stats().leased, 5'000u);
  EXPECT_EQ(get(view(claims[0], claims[0].items[0].key)).state, State::leased);
  EXPECT_EQ(entries(), 5'000);
  for (const auto& claimed : claims) {
    EXPECT_EQ(count(settle(claimed, 0, 500), Outcome::done), 500u);
  }
  EXPECT_TRUE(nothing_is_left_of_claims());
}

TEST_F(BulkClaimTest, ItsMessagesComeBackWhenItsLeaseRunsOut) {
  push(0, kMany);
  const auto first = claim(kMany);
  clock_->advance(kLeaseMs);
  EXPECT_EQ(stats().ready, kMany);
  EXPECT_TRUE(nothing_is_left_of_claims());
  const auto second = claim(kMany);
  std::set<std::string> keys;
  for (const core::ClaimedItem& item : second.items) {
    EXPECT_EQ(item.attempt, 2u);
    keys.emplace(view(second, item.key));
  }
  EXPECT_EQ(keys.size(), kMany);
  EXPECT_EQ(count(settle(first, 0, kMany), Outcome::stale), kMany);
  EXPECT_EQ(count(settle(second, 0, kMany), Outcome::done), kMany);
  EXPECT_EQ(stats().counters.run_outs, kMany);
}

// Each function returns how many of the claim's messages it has ended or released.
TEST_F(BulkClaimTest, WhateverIsAskedOfOneFindsItLeasedAndTheOthersStayClaimed) {
  const std::vector<std::function<std::size_t(const core::ClaimReply&)>> disturbances = {
      [&](const core::ClaimReply& claimed) {
        const MessageInfo info = get(view(claimed, claimed.items[0].key));
        EXPECT_EQ(info.state, State::leased);
        EXPECT_EQ(info.attempt, 1u);
        return 0;
      },
      [&](const core::ClaimReply& claimed) {
        core::CancelRequest request;
        request.queue = "q";
        request.keys.push_back(core::append(request.bytes, view(claimed, claimed.items[0].key)));
        EXPECT_EQ(asked<core::ItemsReply>(std::move(request)).items.at(0).outcome,
                  Outcome::stopping);
        return 0;
      },
      [&](const core::ClaimReply& claimed) {
        core::RescheduleRequest request;
        request.queue = "q";
        core::RescheduleItem item;
        item.key = core::append(request.bytes, view(claimed, claimed.items[0].key));
        request.items.push_back(item);
        EXPECT_EQ(asked<core::ItemsReply>(std::move(request)).items.at(0).outcome,
                  Outcome::in_flight);
        return 0;
      },
      [&](const core::ClaimReply& claimed) {
        core::PushRequest request;
        request.queue = "q";
        core::PushItem item;
        item.key = core::append(request.bytes, view(claimed, claimed.items[0].key));
        item.if_exists = IfExists::replace;
        request.items.push_back(item);
        EXPECT_EQ(asked<core::PushReply>(std::move(request)).items.at(0).outcome,
                  Outcome::in_flight);
        return 0;
      },
      [&](const core::ClaimReply& claimed) {
        core::ListRequest request;
        request.queue = "q";
        request.state = State::leased;
        request.limit = 1'000;
        EXPECT_EQ(asked<core::ListReply>(std::move(request)).messages.size(), claimed.items.size());
        return 0;
      },
      [&](const core::ClaimReply& claimed) {
        core::ExtendRequest request;
        request.items.push_back(
            {core::append(request.bytes, view(claimed, claimed.items[0].receipt)),
             Millis(2 * kLeaseMs)});
        EXPECT_EQ(asked<core::ItemsReply>(std::move(request)).items.at(0).outcome, Outcome::done);
        return 0;
      },
      [&](const core::ClaimReply& claimed) {
        core::PurgeRequest request;
        request.queue = "q";
        (void)asked<core::CountReply>(request);
        EXPECT_EQ(stats().leased, claimed.items.size());
        return 0;
      },
      [&](const core::ClaimReply&) {
        core::RemoveRequest request;
        request.queue = "q";
        const auto refused = ask(request);
        EXPECT_EQ(refused ? ErrorCode::misuse : refused.error().code, ErrorCode::conflict);
        return 0;
      },
      [&](const core::ClaimReply& claimed) {
        for (const auto action : {core::SettleAction::retry, core::SettleAction::release}) {
          EXPECT_EQ(count(settle(claimed, 0, 1, action), Outcome::done),
                    action == core::SettleAction::retry ? 1u : 0u);
        }
        return 1;
      },
      [&](const core::ClaimReply& claimed) {
        EXPECT_EQ(count(settle(claimed, 0, 2, core::SettleAction::bury), Outcome::done), 2u);
        return 2;
      },
      [&](const core::ClaimReply& claimed) {
        EXPECT_EQ(count(settle(claimed, 0, 2), Outcome::done), 2u);
        return 2;
      },
  };
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < disturbances.size(); ++i) {
    SCOPED_TRACE(i);
    push(next, next + kMany);
    next += kMany;
    const auto claimed = claim(kMany);
    const std::size_t ended = disturbances[i](claimed);
    EXPECT_EQ(stats().leased, kMany - ended);
    const auto settled = settle(claimed, 0, kMany);
    EXPECT_EQ(count(settled, Outcome::done), kMany - ended);
    EXPECT_EQ(count(settled, Outcome::stale), ended);
    EXPECT_EQ(stats().leased, 0u);
    EXPECT_EQ(entries(), 0);
    EXPECT_EQ(ask_redis({"ZCARD", key("leases")}), ":1\r\n");
    // Removes the messages whose claim has ended, so that the next claim does not find them.
    core::PurgeRequest purge;
    purge.queue = "q";
    (void)asked<core::CountReply>(purge);
  }
}

TEST_F(BulkClaimTest, AReshardWaitsForItAndItCanBeAckedMeanwhile) {
  push(0, 2 * kMany);
  const auto claimed = claim(kMany);
  core::ReshardRequest request;
  request.queue = "q";
  request.shards = 3;
  ReshardStep step;
  for (int i = 0; i < 20; ++i) {
    request.turn = step.turn;
    step = asked<ReshardStep>(request);
    ASSERT_FALSE(step.done);
  }
  EXPECT_EQ(step.leased, kMany);
  EXPECT_EQ(count(settle(claimed, 0, kMany), Outcome::done), kMany);
  for (int i = 0; i < 20 && !step.done; ++i) {
    request.turn = step.turn;
    step = asked<ReshardStep>(request);
  }
  EXPECT_TRUE(step.done);
  EXPECT_EQ(stats().ready, kMany);
}

// While a key has another type, calls fail. A failed call must not change the claim.
TEST_F(BulkClaimTest, WhatFailsAmidSpreadingLosesNothing) {
  for (const char* foreign : {"leased", "claims"}) {
    SCOPED_TRACE(foreign);
    push(0, kMany);
    const auto claimed = claim(kMany);
    const std::string name = key(foreign);
    ASSERT_EQ(ask_redis({"RENAME", name, name + ".away"}), "+OK\r\n");
    ASSERT_EQ(ask_redis({"SET", name, "mine"}), "+OK\r\n");
    core::SettleRequest request;
    request.items.emplace_back();
    request.items[0].receipt = core::append(request.bytes, view(claimed, claimed.items[0].receipt));
    request.items[0].action = core::SettleAction::retry;
    const auto refused = asked<core::ItemsReply>(std::move(request));
    ASSERT_TRUE(refused.items.at(0).error);
    EXPECT_EQ(refused.items.at(0).error->code, ErrorCode::damaged);
    ASSERT_EQ(ask_redis({"RENAME", name + ".away", name}), "+OK\r\n");
    clock_->advance(kLeaseMs);
    EXPECT_EQ(stats().ready, kMany);
    EXPECT_EQ(count(settle(claim(kMany), 0, kMany), Outcome::done), kMany);
    EXPECT_TRUE(nothing_is_left_of_claims());
  }
}

// Programs that do not know bulk claims may use such a store.
TEST_F(BulkClaimTest, AStoreOfAnOlderSchemaHasNone) {
  push(0, 2 * kMany);
  ASSERT_EQ(ask_redis({"HSET", "tarry:{0}:store", "schema", "1"}), ":0\r\n");
  engine_ = testing::must_open(testing::options_for(server_, clock_));
  const auto claimed = claim(kMany);
  EXPECT_EQ(entries(), static_cast<int>(kMany));
  EXPECT_EQ(count(settle(claimed, 0, kMany), Outcome::done), kMany);
}

// Another program has overwritten the claim's entry. The claim's messages are then those that are
// in no other place.
TEST_F(BulkClaimTest, OneThatDoesNotUnpackEndsAsOthersDo) {
  push(0, 3 * kMany);
  const auto damaged = claim(kMany);
  const auto sound = claim(kMany);
  EXPECT_EQ(
      ask_redis({"EVAL",
                 "local group = string.match(redis.call('HGET', KEYS[1], 'bulk'), ' ([%d-]+):') "
                 "redis.call('HSET', KEYS[2], group, 'nonsense') return 1",
                 "2", key("meta"), key("claims")}),
      ":1\r\n");
  EXPECT_EQ(stats().leased, 2u * kMany);
  EXPECT_EQ(get(view(damaged, damaged.items[0].key)).state, State::leased);
  EXPECT_EQ(count(settle(sound, 0, kMany), Outcome::done), kMany);
  clock_->advance(kLeaseMs);
  EXPECT_EQ(stats().ready, 2u * kMany);
  EXPECT_EQ(stats().leased, 0u);
}

}  // namespace
}  // namespace tarry::redis
