// After a restart, a store that outlives its process still has everything that it has answered.
#include <algorithm>
#include <map>

#include "contract.h"

namespace tarry::contract {
namespace {

class Reopen : public Contract {
 protected:
  struct Picture {
    std::map<std::string, MessageInfo> messages;  // with payloads
    QueueStats stats;
  };

  Picture picture(const Queue& q) {
    Picture picture;
    for (const MessageInfo& info : list_all(q)) {
      picture.messages[info.key] = find(q, info.key).value();
    }
    picture.stats = must(q.stats());
    return picture;
  }

  void expect_same_picture(const Picture& before, const Picture& after) {
    for (const auto& [key, info] : before.messages) {
      SCOPED_TRACE(key);
      const auto found = after.messages.find(key);
      ASSERT_TRUE(found != after.messages.end());
      expect_same(info, found->second);
    }
    EXPECT_EQ(before.messages.size(), after.messages.size());
    EXPECT_EQ(before.stats.settings, after.stats.settings);
    EXPECT_EQ(before.stats.scheduled, after.stats.scheduled);
    EXPECT_EQ(before.stats.ready, after.stats.ready);
    EXPECT_EQ(before.stats.leased, after.stats.leased);
    EXPECT_EQ(before.stats.dead, after.stats.dead);
    EXPECT_EQ(before.stats.remembered, after.stats.remembered);
    EXPECT_EQ(before.stats.paused, after.stats.paused);
    EXPECT_EQ(before.stats.paused_until, after.stats.paused_until);
    EXPECT_EQ(before.stats.oldest_ready, after.stats.oldest_ready);
    EXPECT_EQ(before.stats.counters, after.stats.counters);
  }

  void reopen_and_compare() {
    const Picture before = picture(queue());
    rig().reopen();
    expect_same_picture(before, picture(queue()));
    rig().reopen();  // a second recovery gives the same result
    expect_same_picture(before, picture(queue()));
  }
};
TARRY_ON_DURABLE_ENGINES(Reopen);

TEST_P(Reopen, AQueueThatWasRemovedStaysAway) {
  const Queue gone = queue("gone");
  for (int i = 0; i < 50; ++i) (void)must(gone.push({.payload = "x"}));
  (void)must(queue().push({.key = "k", .payload = "x"}));
  (void)must(gone.configure({.remember = 1h}));
  EXPECT_EQ(must(gone.remove()), 50u);
  rig().reopen();
  EXPECT_EQ(queue("gone").stats().error().code, ErrorCode::not_found);
  // This queue takes the number of the removed one.
  (void)must(queue("late").push({.key = "k", .payload = "late"}));
  EXPECT_EQ(must(queue("late").stats()).counters.accepted, 1u);
  reopen_and_compare();
  EXPECT_EQ(find(queue("late"), "k")->payload, "late");
  EXPECT_EQ(queue("gone").stats().error().code, ErrorCode::not_found);
}

TEST_P(Reopen, KeepsMessagesInEveryPlace) {
  std::map<Place, Placed> placed;
  for (const Place place : kPlaces) {
    const Queue q = queue(std::string("q-") + std::string(to_string(place)));
    placed[place] = put(q, clock(), "k", place);
  }
  std::map<Place, Picture> before;
  for (const Place place : kPlaces) {
    before[place] = picture(queue(std::string("q-") + std::string(to_string(place))));
  }
  rig().reopen();
  for (const Place place : kPlaces) {
    SCOPED_TRACE(to_string(place));
    const Queue q = queue(std::string("q-") + std::string(to_string(place)));
    expect_same_picture(before[place], picture(q));
    for (const std::string& receipt : placed[place].old_receipts) {
      EXPECT_EQ(must(q.ack(receipt)), Outcome::stale);
    }
    for (const std::string& receipt : {placed[place].live, placed[place].acked_by}) {
      if (receipt.empty()) continue;
      EXPECT_EQ(must(q.ack(receipt)), Outcome::done);
    }
  }
}

TEST_P(Reopen, AnEmptyStoreIsEmpty) {
  rig().reopen();
  EXPECT_TRUE(must(store().stats()).queues.empty());
}

TEST_P(Reopen, KeepsDueTimesPrioritiesAndAttempts) {
  const Queue q = queue();
  for (int i = 0; i < 200; ++i) {
    (void)must(q.push({.key = "k" + std::to_string(i),
                       .payload = "payload " + std::to_string(i),
                       .due = in(Millis(i * 977)),
                       .headers = {{"n", std::to_string(i)}},
                       .priority = static_cast<std::uint32_t>(i % 7)}));
  }
  clock().advance(10s);
  for (const Delivery& delivery : claim(q, 5)) (void)must(q.retry(delivery.receipt(), 1h));
  for (const Delivery& delivery : claim(q, 3)) (void)must(q.release(delivery.receipt()));
  (void)claim(q, 2, 1s);
  clock().advance(1s);  // two leases have run out now
  for (const Delivery& delivery : claim(q, 2)) (void)must(q.bury(delivery.receipt(), "why"));
  EXPECT_EQ(must(q.revive()), 2u);
  reopen_and_compare();
}

TEST_P(Reopen, KeepsLeasesAndTheirReceipts) {
  const Queue q = queue();
  for (const char* key : {"acked", "extended", "released", "cut"}) {
    (void)must(q.push({.key = key, .payload = "x"}));
  }
  std::map<std::string, std::string> receipts;
  for (const Delivery& delivery : claim(q, 4, 1min)) {
    receipts[std::string(delivery.key())] = delivery.receipt();
  }
  ASSERT_EQ(receipts.size(), 4u);
  clock().advance(20s);
  EXPECT_EQ(must(q.extend(receipts["extended"], 2min)), Outcome::done);
  reopen_and_compare();
  const Queue again = queue();
  EXPECT_TRUE(nothing_due(again));
  EXPECT_EQ(must(again.ack(receipts["acked"])), Outcome::done);
  EXPECT_EQ(must(again.release(receipts["released"])), Outcome::done);
  EXPECT_EQ(find(again, "extended")->lease_left, Millis(2min));
  clock().advance(40s);
  EXPECT_EQ(must(again.ack(receipts["cut"])), Outcome::stale);
  EXPECT_EQ(find(again, "cut")->tallies.run_outs, 1u);
  EXPECT_EQ(must(again.ack(receipts["extended"])), Outcome::done);
  EXPECT_EQ(key_set(claim_all(again)), (std::multiset<std::string>{"cut", "released"}));
}

TEST_P(Reopen, LeasesRunOutWhileTheStoreIsClosed) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  const std::string receipt(claim_one(queue(), 1min).receipt());
  rig().close();
  clock().advance(1min);
  rig().open();
  EXPECT_EQ(must(queue().ack(receipt)), Outcome::stale);
  EXPECT_EQ(claim_one(queue()).attempt(), 2u);
}

TEST_P(Reopen, WhatFellDueMeanwhileIsReadyAndWhatDidNotIsNot) {
  (void)must(queue().push({.key = "soon", .payload = "x", .due = in(30min)}));
  (void)must(queue().push({.key = "late", .payload = "x", .due = in(2h)}));
  rig().close();
  clock().advance(1h);
  rig().open();
  EXPECT_EQ(claim_one(queue()).key(), "soon");
  clock().advance(1h - 1ms);
  EXPECT_TRUE(nothing_due(queue()));
  clock().advance(1ms);
  EXPECT_EQ(claim_one(queue()).key(), "late");
}

TEST_P(Reopen, ADelayIsNotShortenedByAStepWhileTheStoreIsClosed) {
  if (!has_two_clocks()) GTEST_SKIP() << "delays and leases go by the one clock that steps";
  (void)must(queue().push({.key = "k", .payload = "x", .due = in(30min)}));
  rig().close();
  clock().step(1h);
  rig().open();
  EXPECT_TRUE(nothing_due(queue()));
  clock().advance(30min - 1ms);
  EXPECT_TRUE(nothing_due(queue()));
  clock().advance(1ms);
  EXPECT_EQ(claim_one(queue()).key(), "k");
}

TEST_P(Reopen, KeepsTheOrder) {
  if (!keeps_push_order()) GTEST_SKIP() << "ties go by member here";
  const Queue q = queue();
  std::vector<std::string> want;
  for (int i = 0; i < 50; ++i) {
    const std::string key = "{o}" + std::to_string((i * 7919) % 1000);
    want.push_back(key);
    (void)must(q.push({.key = key, .payload = "x", .due = in(1s)}));
  }
  rig().reopen();
  clock().advance(1s);
  EXPECT_EQ(keys_of(claim(queue(), 100)), want);
}

TEST_P(Reopen, KeepsSettingsAndPauses) {
  const SettingsPatch patch{.lease = 1min,
                            .max_attempts = 3,
                            .backoff_min = 2s,
                            .backoff_max = 4s,
                            .remember = 1h,
                            .dead_keep = 24h,
                            .if_exists = IfExists::keep};
  for (const char* name : {"plain", "paused", "until"}) (void)must(queue(name).configure(patch));
  must(queue("paused").pause());
  const Time until = clock().now() + 1h;
  must(queue("until").pause(until));
  const QueueSettings want = must(queue("plain").stats()).settings;
  rig().reopen();
  for (const char* name : {"plain", "paused", "until"}) {
    EXPECT_EQ(must(queue(name).stats()).settings, want);
  }
  EXPECT_FALSE(must(queue("plain").stats()).paused);
  EXPECT_TRUE(must(queue("paused").stats()).paused);
  EXPECT_FALSE(must(queue("paused").stats()).paused_until);
  EXPECT_EQ(must(queue("until").stats()).paused_until, until);
  (void)must(queue("until").push({.key = "k", .payload = "x"}));
  EXPECT_TRUE(nothing_due(queue("until")));
  clock().advance(1h);
  EXPECT_EQ(claim_one(queue("until")).key(), "k");
}

TEST_P(Reopen, NothingAckedCancelledOrPurgedComesBack) {
  const Queue q = queue();
  for (int i = 0; i < 30; ++i) {
    (void)must(q.push({.key = "ack" + std::to_string(i), .payload = "x"}));
  }
  for (const Delivery& delivery : claim_all(q)) (void)must(q.ack(delivery.receipt()));
  for (int i = 0; i < 30; ++i) {
    const std::string key = "cancel" + std::to_string(i);
    (void)must(q.push({.key = key, .payload = "x", .due = in(1s)}));
    EXPECT_EQ(must(q.cancel(key)), Outcome::cancelled);
  }
  for (int i = 0; i < 30; ++i) (void)must(q.push({.payload = "x", .due = in(1s)}));
  EXPECT_EQ(must(q.purge()), 30u);
  reopen_and_compare();
  clock().advance(1h);
  EXPECT_TRUE(nothing_due(queue()));
  EXPECT_TRUE(list_all(queue()).empty());
}

TEST_P(Reopen, KeepsACancelOfARunningDelivery) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  const std::string receipt(claim_one(queue(), 1min).receipt());
  EXPECT_EQ(must(queue().cancel("k")), Outcome::stopping);
  rig().reopen();
  EXPECT_TRUE(find(queue(), "k")->stopping);
  EXPECT_EQ(must(queue().retry(receipt)), Outcome::done);
  EXPECT_EQ(must(queue().stats()).counters.cancelled, 1u);
  clock().advance(10h);
  EXPECT_TRUE(nothing_due(queue()));
}

TEST_P(Reopen, KeepsTheRememberedForTheRestOfTheirTime) {
  const Queue q = queue();
  (void)must(q.configure({.remember = 1h}));
  for (const char* key : {"acked", "cancelled"}) {
    (void)must(q.push({.key = key, .payload = "x"}));
  }
  EXPECT_EQ(must(q.cancel("cancelled")), Outcome::cancelled);
  const std::string receipt(claim_one(q).receipt());
  EXPECT_EQ(must(q.ack(receipt)), Outcome::done);
  const Time settled = clock().now();
  clock().advance(30min);
  rig().reopen();
  EXPECT_EQ(must(queue().ack(receipt)), Outcome::done);
  EXPECT_EQ(must(queue().retry(receipt)), Outcome::stale);
  for (const auto& [key, how] :
       {std::pair("acked", Ending::acked), {"cancelled", Ending::cancelled}}) {
    EXPECT_EQ(must(queue().push({.key = key, .payload = "late"})).outcome, Outcome::settled);
    const Answer answer = must(queue().cancel(key));
    EXPECT_EQ(answer, Outcome::settled);
    EXPECT_EQ(answer.settlement, (Settlement{how, settled}));
  }
  rig().close();
  clock().advance(30min);
  rig().open();
  EXPECT_EQ(must(queue().ack(receipt)), Outcome::stale);
  EXPECT_EQ(must(queue().cancel("acked")), Outcome::unknown);
  EXPECT_EQ(must(queue().cancel("cancelled")), Outcome::unknown);
}

TEST_P(Reopen, KeepsTheDeadForTheRestOfTheirTime) {
  const Queue q = queue();
  (void)must(q.configure({.dead_keep = 1h}));
  (void)must(q.push({.key = "k", .payload = "x"}));
  (void)must(q.bury(claim_one(q).receipt(), "a reason \xe2\x82\xac"));
  rig().close();
  clock().advance(59min);
  rig().open();
  EXPECT_EQ(find(queue(), "k")->reason, "a reason \xe2\x82\xac");
  rig().close();
  clock().advance(1min);
  rig().open();
  EXPECT_FALSE(find(queue(), "k"));
  EXPECT_EQ(must(queue().stats()).counters.expired, 1u);
}

TEST_P(Reopen, KeepsPayloadsHeadersAndKeysByteForByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  const std::string large(1u << 20, '\xa5');
  (void)must(queue().push({.key = bytes, .payload = bytes, .headers = {{"h", bytes}}}));
  (void)must(queue().push({.key = "large", .payload = large}));
  (void)must(queue().push({.key = "empty", .payload = ""}));
  reopen_and_compare();
  for (const Delivery& delivery : claim_all(queue())) {
    if (delivery.key() == "large") {
      EXPECT_TRUE(delivery.payload() == large);
    } else if (delivery.key() == "empty") {
      EXPECT_EQ(delivery.payload(), "");
    } else {
      EXPECT_EQ(delivery.payload(), bytes);
      EXPECT_EQ(delivery.header("h"), bytes);
    }
  }
}

TEST_P(Reopen, MadeKeysAreStillKnownAndIdsStillNew) {
  std::set<std::string> keys;
  std::set<std::uint64_t> ids;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 10; ++i) {
      const Pushed pushed = must(queue().push({.payload = "x", .due = in(1h)}));
      keys.insert(pushed.key);
      ids.insert(pushed.id);
    }
    // The youngest message is gone before the store is closed; its id must not be given again.
    const Pushed gone = must(queue().push({.key = "gone", .payload = "x", .due = in(1h)}));
    ids.insert(gone.id);
    EXPECT_EQ(must(queue().cancel("gone")), Outcome::cancelled);
    rig().reopen();
  }
  EXPECT_EQ(keys.size(), 40u);
  EXPECT_EQ(ids.size(), 44u);
  for (const std::string& key : keys) EXPECT_EQ(must(queue().cancel(key)), Outcome::cancelled);
}

TEST_P(Reopen, ReceiptsOfBeforeStayFencedWhenSlotsAreUsedAgain) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const std::string old_receipt(claim_one(q).receipt());
  EXPECT_EQ(must(q.ack(old_receipt)), Outcome::done);
  rig().reopen();
  (void)must(queue().push({.key = "k", .payload = "x"}));
  const Delivery delivery = claim_one(queue());
  EXPECT_NE(delivery.receipt(), old_receipt);
  EXPECT_EQ(must(queue().ack(old_receipt)), Outcome::stale);
  EXPECT_EQ(must(queue().ack(delivery.receipt())), Outcome::done);
}

TEST_P(Reopen, AnotherNumberOfShardsIsRefused) {
  if (is(Kind::redis)) GTEST_SKIP() << "processes share a store, and queues have their own shards";
  (void)must(queue().push({.key = "k", .payload = "x"}));
  rig().close();
  const Result<Store> other = tarry::open(rig().url("shards=7"), {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
  expect_names(other.error(), {"7", std::to_string(GetParam().shards)});
  rig().open();
  EXPECT_TRUE(find(queue(), "k"));
}

TEST_P(Reopen, AStoreThatIsOpenIsHeld) {
  if (is(Kind::redis)) GTEST_SKIP() << "processes share a store, and queues have their own shards";
  const Result<Store> other = tarry::open(rig().url(), {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
  EXPECT_EQ(must(queue().push({.key = "k", .payload = "x"})).outcome, Outcome::pushed);
}

}  // namespace
}  // namespace tarry::contract
