// A disk without room: nothing more is accepted, but accepted messages can still be claimed,
// released and settled, and still expire.
#include <gtest/gtest.h>

#include "storage/memory_storage.h"
#include "support/disks/virtual_disk.h"
#include "support/embedded/one_shard.h"
#include "support/embedded/requests.h"
#include "support/embedded/sample.h"

namespace tarry::embedded {
namespace {

using test::OneShard;

class FullDisk : public testing::Test {
 protected:
  static constexpr std::uint64_t kDisk = 2 << 20;
  static constexpr std::uint64_t kSmallDisk = kDisk / test::kPart;

  void open() {
    shard.reset();
    shard = std::make_unique<OneShard>(disk.root(), clock,
                                       OneShard::Options{64 << 10, SyncPolicy::always, false});
    ASSERT_FALSE(shard->error()) << shard->error()->message;
  }
  // Pushes until nothing more is accepted, even after cleaning. Returns the number of messages.
  std::size_t fill(std::size_t payload) {
    const std::string text(payload, 'x');
    for (std::size_t count = 0;; ++count) {
      auto reply = push(text, count);
      if (!reply) shard->settle();
      if (!reply && !push(text, count)) return count;
    }
  }
  bool push(const std::string& payload, std::size_t number) {
    const auto reply =
        shard->ask(test::push("q", ("k" + std::to_string(number)).c_str(), Due(), payload));
    const auto& item = std::get<core::PushReply>(*reply).items.front();
    EXPECT_TRUE(!item.error || item.error->code == ErrorCode::no_space) << item.error->message;
    return !item.error;
  }
  // Claims one message and returns its receipt. If there was no room, tries once more after
  // cleaning.
  std::string claim() {
    auto reply = shard->ask(test::claim("q"));
    if (!reply) {
      EXPECT_EQ(reply.error().code, ErrorCode::no_space) << reply.error().message;
      shard->settle();
      ++second_tries;
      reply = shard->ask(test::claim("q"));
    }
    if (!reply) {
      ADD_FAILURE() << reply.error().message;
      return "";
    }
    const auto receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
    return receipts.empty() ? "" : receipts.front();
  }
  // Claims `count` messages, `at_once` with each request, and returns their receipts. If there was
  // no room, tries once more after cleaning.
  std::vector<std::string> claim_all(std::size_t count, std::size_t at_once) {
    std::vector<std::string> held;
    const auto request = test::claim("q", static_cast<std::uint32_t>(at_once));
    while (held.size() < count) {
      auto reply = shard->ask(request);
      if (!reply) {
        shard->settle();
        reply = shard->ask(request);
      }
      if (!reply) return held;
      const auto receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
      if (receipts.empty()) return held;
      held.insert(held.end(), receipts.begin(), receipts.end());
    }
    return held;
  }
  Result<Outcome> settle_once(const std::string& receipt, core::SettleAction action,
                              std::string_view reason = "") {
    const auto reply = shard->ask(test::settle({receipt}, action, reason));
    const auto& item = std::get<core::ItemsReply>(*reply).items.front();
    if (item.error) return *item.error;
    return item.outcome;
  }
  // Hardly any claim or release may need a second try.
  void claim_and_release(std::size_t rounds) {
    std::size_t again = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
      const std::string receipt = claim();
      ASSERT_FALSE(receipt.empty()) << "after " << i << " rounds";
      auto outcome = settle_once(receipt, core::SettleAction::release);
      if (!outcome) {
        ++again;
        shard->settle();
        outcome = settle_once(receipt, core::SettleAction::release);
      }
      ASSERT_TRUE(outcome) << outcome.error().message << " after " << i << " rounds";
    }
    EXPECT_LT(again + second_tries, rounds / 100);
  }
  void expect_ack(const std::string& receipt) {
    const auto outcome = settle_once(receipt, core::SettleAction::ack);
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_EQ(*outcome, Outcome::done);
  }

  storage::MemoryDisk disk{kSmallDisk};
  timing::ManualClock clock;
  std::unique_ptr<OneShard> shard;
  std::size_t second_tries = 0;
};

TEST_F(FullDisk, ClaimsAndReleasesGoOnForEver) {
  open();
  const std::size_t count = fill(10);
  ASSERT_GT(count, 5000u / test::kPart);
  // Each round writes more than 100 bytes.
  ASSERT_NO_FATAL_FAILURE(claim_and_release(kSmallDisk / 100));
  EXPECT_EQ(shard->state().pending(), count);
}

// Histories grow with each claim and release, and give way when there is no room for them.
TEST_F(FullDisk, HistoriesGiveWay) {
  open();
  ASSERT_TRUE(shard->ask(
      core::ConfigureRequest{"q", {.remember = Millis(3'600'000), .history = core::kMaxHistory}}));
  const std::size_t count = fill(10);
  ASSERT_GT(count, 2000u / test::kPart);
  ASSERT_NO_FATAL_FAILURE(claim_and_release(kSmallDisk / 100));
  std::vector<std::string> receipts;
  for (std::size_t i = 0; i < count; ++i) {
    receipts.push_back(claim());
    ASSERT_FALSE(receipts.back().empty()) << i << " of " << count;
  }
  for (const std::string& receipt : receipts) ASSERT_NO_FATAL_FAILURE(expect_ack(receipt));
  const std::uint64_t pending = shard->state().pending();
  EXPECT_EQ(pending, 0u);
  const std::string before = test::describe(shard->state());
  open();
  EXPECT_EQ(test::describe(shard->state()), before);
}

TEST_F(FullDisk, EverythingCanBeClaimedHeldAndAcked) {
  for (const std::size_t payload : {10u, 3000u}) {
    SCOPED_TRACE(payload);
    open();
    const std::size_t count = fill(payload);
    ASSERT_GT(count, 360u / test::kPart);
    std::vector<std::string> receipts;
    for (std::size_t i = 0; i < count; ++i) {
      receipts.push_back(claim());
      ASSERT_FALSE(receipts.back().empty()) << "the claim of message " << i << " of " << count;
    }
    for (const std::string& receipt : receipts) expect_ack(receipt);
    EXPECT_EQ(shard->state().pending(), 0u);
    shard->settle();
    EXPECT_TRUE(push("x", 0)) << "room comes back";
    const auto cancelled = shard->ask(test::cancel("q", "k0"));
    EXPECT_EQ(std::get<core::ItemsReply>(*cancelled).items.front().outcome, Outcome::cancelled);
  }
}

// The reserve is computed as if the batch were accepted already.
TEST_F(FullDisk, ABatchThatFillsItLeavesRoomToEndIt) {
  for (std::size_t count = 1; count < 40; ++count) {
    SCOPED_TRACE(count);
    storage::MemoryDisk fresh{kDisk};
    OneShard one(fresh.root(), clock, OneShard::Options{256 << 10, SyncPolicy::always, false});
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < count; ++i) keys.push_back("k" + std::to_string(i));
    const auto pushed = one.ask(test::push("q", keys, Due(), std::string(50'000, 'x')));
    if (std::get<core::PushReply>(*pushed).items.front().error) continue;
    const auto claimed = one.ask(test::claim("q", 3));
    ASSERT_TRUE(claimed) << claimed.error().message;
    for (std::size_t i = 3; i < count; ++i) {
      const auto reply = one.ask(test::cancel("q", keys[i]));
      const auto& item = std::get<core::ItemsReply>(*reply).items.front();
      ASSERT_FALSE(item.error) << item.error->message;
    }
  }
}

TEST_F(FullDisk, ClaimsOfThousandsAreServed) {
  open();
  const std::size_t count = fill(10);
  std::size_t claimed = 0;
  for (int i = 0; i < 1000 && claimed < count; ++i) {
    const auto reply = shard->ask(test::claim("q", 10'000));
    ASSERT_TRUE(reply) << reply.error().message << " after " << claimed << " of " << count;
    claimed += std::get<core::ClaimReply>(*reply).items.size();
  }
  EXPECT_EQ(claimed, count);
}

TEST_F(FullDisk, EverythingCanBeCancelled) {
  open();
  const std::size_t count = fill(10);
  for (std::size_t i = 0; i < count; ++i) {
    const auto reply = shard->ask(test::cancel("q", "k" + std::to_string(i)));
    const auto& item = std::get<core::ItemsReply>(*reply).items.front();
    ASSERT_FALSE(item.error) << item.error->message << " at " << i << " of " << count;
    ASSERT_EQ(item.outcome, Outcome::cancelled);
  }
}

TEST_F(FullDisk, LeasesRunOutAndComeBack) {
  open();
  const std::size_t count = fill(10);
  for (int round = 0; round < 5; ++round) {
    std::size_t claimed = 0;
    while (true) {
      auto reply = shard->ask(test::claim("q", 500));
      if (!reply) {  // asks once more after cleaning
        shard->settle();
        reply = shard->ask(test::claim("q", 500));
      }
      ASSERT_TRUE(reply) << reply.error().message << " after " << claimed << " of " << count;
      const std::size_t got = std::get<core::ClaimReply>(*reply).items.size();
      claimed += got;
      if (got == 0) break;
    }
    ASSERT_EQ(claimed, count) << "round " << round;
    clock.advance(3'600'000);
    shard->settle();
    for (int i = 0; i < 20; ++i) {  // an operation without room is tried again after a second
      clock.advance(1000);
      shard->settle();
    }
  }
}

// A copy of a dead message also holds the reason, so it is up to 255 bytes longer.
TEST_F(FullDisk, LongReasonsLeaveRoomForWhatEndsMessages) {
  const std::string reason(core::kMaxReason, 'r');
  for (const std::size_t payload : {10u, 100u, 160u}) {
    for (const std::size_t at_once : {1u, 100u}) {
      SCOPED_TRACE(std::to_string(payload) + " bytes, claimed by " + std::to_string(at_once));
      storage::MemoryDisk fresh{kSmallDisk};
      shard = std::make_unique<OneShard>(fresh.root(), clock,
                                         OneShard::Options{64 << 10, SyncPolicy::always, false});
      const std::size_t count = fill(payload);
      ASSERT_GT(count, 3000u / test::kPart);
      const std::vector<std::string> held = claim_all(count, at_once);
      ASSERT_EQ(held.size(), count);
      std::size_t buried = 0;
      for (const std::string& receipt : held) {
        if (settle_once(receipt, core::SettleAction::bury, reason)) {
          ++buried;
          continue;
        }
        ASSERT_NO_FATAL_FAILURE(expect_ack(receipt)) << "after " << buried << " of " << count;
      }
      EXPECT_GT(buried, count - count / 100) << "a reason is left out, a bury goes on";
      std::size_t with_reason = 0;
      for (Handle handle = 0; handle < shard->state().slab.end(); ++handle) {
        if (!shard->state().slab.is_live(handle)) continue;
        if (shard->state().carried(handle).reason == reason) ++with_reason;
      }
      EXPECT_GT(with_reason, 100u / test::kPart);
      for (std::size_t i = 0; i < count; ++i) {
        const auto reply = shard->ask(test::cancel("q", "k" + std::to_string(i)));
        const auto& item = std::get<core::ItemsReply>(*reply).items.front();
        ASSERT_FALSE(item.error) << item.error->message << " at " << i << " of " << count;
      }
      shard.reset();
    }
  }
}

// The store's own text for a lease that ran out is a reason like any other.
TEST_F(FullDisk, WhatDiesByItsLeaseLeavesRoomForWhatEndsMessages) {
  open();
  core::ConfigureRequest once;
  once.queue = "q";
  once.patch.max_attempts = 1;
  once.patch.lease = Millis(1000);
  ASSERT_TRUE(shard->ask(once));
  const std::size_t count = fill(10);
  ASSERT_EQ(claim_all(count, 100).size(), count);
  for (int i = 0; i < 20; ++i) {
    clock.advance(1000);
    shard->settle();
  }
  EXPECT_EQ(shard->state().queue(0).in(Stage::dead), count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto reply = shard->ask(test::cancel("q", "k" + std::to_string(i)));
    const auto& item = std::get<core::ItemsReply>(*reply).items.front();
    ASSERT_FALSE(item.error) << item.error->message << " at " << i << " of " << count;
  }
}

// Another program takes the rest of the disk while everything lies in one open segment.
TEST_F(FullDisk, ClaimsAndReleasesGoOnInTheOpenSegment) {
  for (const std::size_t payload : {10u, 1000u}) {
    SCOPED_TRACE(payload);
    storage::MemoryDisk fresh{kDisk};
    shard = std::make_unique<OneShard>(fresh.root(), clock,
                                       OneShard::Options{1 << 20, SyncPolicy::always, false});
    const std::size_t count = 300;
    const std::string text(payload, 'x');
    for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(push(text, i));
    fresh.set_capacity(fresh.used_bytes());
    second_tries = 0;
    // Writes at least a segment.
    ASSERT_NO_FATAL_FAILURE(claim_and_release((5 << 20) / 100 / test::kPart));
    EXPECT_EQ(shard->state().pending(), count);
    shard.reset();
  }
}

// A long segment is cleaned in slices, and requests come in between.
TEST_F(FullDisk, EndsGoOnWhileLongSegmentsAreCleaned) {
  for (const bool taken_by_others : {false, true}) {
    SCOPED_TRACE(taken_by_others);
    storage::MemoryDisk large{4 * kSmallDisk};
    shard = std::make_unique<OneShard>(large.root(), clock,
                                       OneShard::Options{kSmallDisk, SyncPolicy::always, false});
    const std::string text(3000, 'x');
    std::size_t count = 0;
    while (count < (taken_by_others ? 300 : 50'000) && push(text, count)) ++count;
    if (taken_by_others) large.set_capacity(large.used_bytes());
    ASSERT_GT(count, 200u);
    std::size_t acked = 0;
    for (std::size_t i = 0; i < 200'000 && acked < count; ++i) {
      const auto reply = shard->ask(test::claim("q", 20));
      if (!reply) {
        ASSERT_EQ(reply.error().code, ErrorCode::no_space) << reply.error().message;
        continue;
      }
      bool ack = i % 10 == 0;  // acks one of ten claims, and all that cannot be released
      for (const std::string& receipt : test::receipts_of(std::get<core::ClaimReply>(*reply))) {
        if (!ack && settle_once(receipt, core::SettleAction::release)) continue;
        ASSERT_NO_FATAL_FAILURE(expect_ack(receipt)) << acked << " of " << count << " are acked";
        ++acked;
        ack = false;
      }
    }
    EXPECT_EQ(acked, count);
    shard.reset();
  }
}

// Some pushes are refused, and others take the room that cleaning frees, so one segment after the
// other is cleaned. The copies take room until their segment is cleaned.
TEST_F(FullDisk, CleaningForPushesRefusesNoClaimAndNothingThatEndsOne) {
  OneShard::Options options{256 << 10, SyncPolicy::always, false};
  options.slices.cleaning = 4096;
  for (const std::size_t payload : {100u, 1000u}) {
    SCOPED_TRACE(payload);
    storage::MemoryDisk fresh{kDisk};
    shard = std::make_unique<OneShard>(fresh.root(), clock, options);
    std::size_t number = fill(payload);
    ASSERT_GT(number, 500u);
    const std::string text(payload, 'x');
    const core::SettleAction actions[] = {core::SettleAction::ack, core::SettleAction::retry,
                                          core::SettleAction::release, core::SettleAction::bury};
    std::size_t pushed = 0;
    for (std::size_t i = 0; i < 4000 / test::kPart; ++i) {
      clock.advance(1000);  // for the retries
      while (push(text, number++)) ++pushed;
      const auto reply = shard->ask(test::claim("q"));
      ASSERT_TRUE(reply) << reply.error().message << " in round " << i;
      const auto receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
      ASSERT_EQ(receipts.size(), 1u);
      const auto outcome = settle_once(receipts.front(), actions[i % 4]);
      ASSERT_TRUE(outcome) << outcome.error().message << " in round " << i;
    }
    EXPECT_GT(pushed, 500u / test::kPart);
    shard.reset();
  }
}

// The room of cleaned segments is freed only by the next sync. Meanwhile cleaning uses its own
// reserve, and not the room that claims need.
TEST_F(FullDisk, CleaningBeforeASyncRefusesNoClaim) {
  const OneShard::Options options{256 << 10, SyncPolicy::always, false};
  for (const std::size_t payload : {100u, 1000u}) {
    SCOPED_TRACE(payload);
    storage::MemoryDisk fresh{2 * kDisk};
    shard = std::make_unique<OneShard>(fresh.root(), clock, options);
    ASSERT_GT(fill(payload), 500u);
    const std::string text(payload, 'x');
    std::vector<std::string> held;
    std::size_t number = 0;
    std::size_t pushed = 0;
    std::size_t refused = 0;
    std::string why;
    for (std::uint64_t syncs = 0; syncs < 300 / test::kPart; ++syncs) {
      for (std::size_t i = 0; i < held.size(); ++i) {
        shard->submit(test::settle(
            {held[i]}, i % 3 == 0 ? core::SettleAction::ack : core::SettleAction::release));
      }
      held.clear();
      for (int turns = 0; turns < 40; ++turns) {
        const std::string key = "n" + std::to_string(number++);
        shard->submit(test::push("q", key.c_str(), Due(), text), [&](const auto& reply) {
          pushed += std::get<core::PushReply>(*reply).items.front().error ? 0 : 1;
        });
        shard->submit(test::claim("q"), [&](const auto& reply) {
          if (!reply) {
            ++refused;
            why = reply.error().message;
            return;
          }
          const auto receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
          held.insert(held.end(), receipts.begin(), receipts.end());
        });
        shard->turn();
      }
      while (shard->commit()) {
      }
    }
    EXPECT_EQ(refused, 0u) << why;
    EXPECT_GT(pushed, 500u / test::kPart);
    shard.reset();
  }
}

// A new queue would lengthen every segment's opening, at the cost of the reserve for acks.
TEST_F(FullDisk, APauseMakesNoQueue) {
  shard = std::make_unique<OneShard>(disk.root(), clock,
                                     OneShard::Options{2 << 10, SyncPolicy::always, false});
  ASSERT_GT(fill(10), 0u);
  const std::string receipt = claim();
  std::size_t made = 0;
  while (shard->ask(core::PauseRequest{"other" + std::to_string(made), std::nullopt})) ++made;
  EXPECT_LT(made, 10u);
  expect_ack(receipt);
}

// Each pause writes the queue's record again. The opening of the next segment still has it only
// once.
TEST_F(FullDisk, PausesTakeNothingFromWhatEndsMessages) {
  shard = std::make_unique<OneShard>(disk.root(), clock,
                                     OneShard::Options{2 << 10, SyncPolicy::always, false});
  ASSERT_GT(fill(10), 0u);
  const std::string receipt = claim();
  for (int i = 0; i < 50; ++i) {
    (void)shard->ask(core::PauseRequest{"q", std::nullopt});
    (void)shard->ask(core::ResumeRequest{"q"});
  }
  expect_ack(receipt);
}

TEST_F(FullDisk, SurvivesARestart) {
  open();
  const std::size_t count = fill(10);
  for (int i = 0; i < 3; ++i) {
    open();
    EXPECT_EQ(shard->state().pending(), count);
    const std::string receipt = claim();
    ASSERT_FALSE(receipt.empty());
    ASSERT_TRUE(settle_once(receipt, core::SettleAction::release));
  }
}

// All messages in the last run's segment have ended. Its room must be freed for pushes, like that
// of any other segment.
TEST_F(FullDisk, TheGarbageOfTheRunBeforeIsCleanedForPushes) {
  const auto open_with_long_segments = [this] {
    shard.reset();
    shard = std::make_unique<OneShard>(disk.root(), clock,
                                       OneShard::Options{16 << 20, SyncPolicy::always, false});
    ASSERT_FALSE(shard->error()) << shard->error()->message;
  };
  disk.set_capacity(64 << 20);
  open_with_long_segments();
  const std::string text(3000, 'x');
  for (std::size_t i = 0; i < 300; ++i) ASSERT_TRUE(push(text, i));
  for (std::string receipt = claim(); !receipt.empty(); receipt = claim()) expect_ack(receipt);
  shard->close();
  shard.reset();
  disk.set_capacity(disk.used_bytes() + (200 << 10));
  open_with_long_segments();
  EXPECT_GT(fill(3000), 100u);
}

TEST_F(FullDisk, AFailedSyncStopsTheShardWhateverItWasFor) {
  const std::string text(300, 'x');
  std::size_t of_directories = 0;
  for (std::uint64_t call = 1;; call += test::kPart) {
    const auto faults = std::make_shared<storage::Faults>();
    storage::VirtualDisk small(faults);
    small.set_capacity(48 << 10);
    faults->arm({.fail_at = call, .syncs_only = true});
    OneShard::Options options{4096, SyncPolicy::always, false};
    options.work_base = 2048;
    OneShard one(small.root(), clock, options);
    if (one.error()) continue;
    for (std::size_t i = 0; i < 60; ++i) {
      (void)one.ask(test::push("q", std::to_string(i).c_str(), Due(), text));
    }
    for (std::size_t i = 0; i < 60; ++i) {
      const auto reply = one.ask(test::claim("q"));
      if (!reply) continue;
      const auto action = i % 4 == 0 ? core::SettleAction::ack : core::SettleAction::release;
      (void)one.ask(test::settle(test::receipts_of(std::get<core::ClaimReply>(*reply)), action));
      one.settle();
    }
    if (faults->failed() == 0) break;
    if (faults->first_failed().starts_with("sync ")) ++of_directories;
    one.turn();  // learns the committer's last error
    ASSERT_TRUE(one.shard().failure()) << "call " << call << ": " << faults->first_failed();
  }
  EXPECT_GT(of_directories, 20u / test::kPart);
}

}  // namespace
}  // namespace tarry::embedded
