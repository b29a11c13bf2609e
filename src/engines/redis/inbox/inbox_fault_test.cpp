// Two processes drain an inbox at once, or one is killed between two steps; Redis is full, forgets
// its scripts, or has lost data.
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "engines/redis/inbox/inbox.h"
#include "support/inbox_rig.h"

namespace tarry::redis {
namespace {

using FaultRig = tarry::testing::InboxRig;
using Fields = FaultRig::Words;

constexpr std::int64_t kLaterMs = 4'000'000'000'000;  // 2096

// The engine's user may not run some commands. So it drains an inbox up to the first of these
// commands.
RedisEngineOptions without(FaultRig& rig, const std::string& rights) {
  EXPECT_EQ(
      rig.ask({"ACL", "SETUSER", "clipped", "reset", "on", ">pw", "~*", "&*", "+@all", rights}),
      "+OK\r\n");
  RedisEngineOptions options = rig.options();
  options.server.user = "clipped";
  options.server.password = "pw";
  return options;
}

// Computes the expected state by the verb table, without claims.
class Model {
 public:
  struct Message {
    std::int64_t due = 0;
    std::string payload;
    bool operator==(const Message&) const = default;
  };

  void push(const std::string& key, std::int64_t due, const std::string& payload,
            const std::string& rule) {
    const auto found = messages.find(key);
    if (found == messages.end()) {
      messages[key] = {due, payload};
      ++accepted;
    } else if (rule == "replace") {
      found->second = {due, payload};
      ++accepted;
      ++replaced;
    } else if ((rule == "later" && due > found->second.due) ||
               (rule == "earlier" && due < found->second.due)) {
      found->second.due = due;
      ++rescheduled;
    }
  }
  void cancel(const std::string& key) { cancelled += messages.erase(key); }
  void reschedule(const std::string& key, std::int64_t due) {
    const auto found = messages.find(key);
    if (found == messages.end()) return;
    found->second.due = due;
    ++rescheduled;
  }

  std::map<std::string, Message> messages;
  std::uint64_t accepted = 0;
  std::uint64_t replaced = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t rescheduled = 0;
};

// Adds 5,000 random entries. They must be carried out once and in order, whatever `meanwhile` does.
void carry_out(FaultRig& rig, core::Engine& one, const std::function<void(int)>& meanwhile) {
  Model model;
  std::minstd_rand random(20'261'122);
  constexpr std::array<const char*, 5> kHow = {"reject", "keep", "replace", "earlier", "later"};
  for (int i = 0; i < 5'000; ++i) {
    const std::string key = "k" + std::to_string(random() % 40);
    const std::int64_t due = kLaterMs + static_cast<std::int64_t>(random() % 1'000);
    const auto draw = random() % 10;
    if (draw < 5) {
      const std::string rule = kHow[random() % kHow.size()];
      rig.add({"queue", "q", "key", key, "payload", std::to_string(i), "due", std::to_string(due),
               "if_exists", rule});
      model.push(key, due, std::to_string(i), rule);
    } else if (draw < 8) {
      rig.add({"verb", "cancel", "queue", "q", "key", key});
      model.cancel(key);
    } else {
      rig.add({"verb", "reschedule", "queue", "q", "key", key, "due", std::to_string(due)});
      model.reschedule(key, due);
    }
    // So the two drainers sometimes find many entries at once, and sometimes few.
    if (random() % 100 < 2) (void)rig.ask({"PUBLISH", FaultRig::key(0, "wake"), "in"});
    meanwhile(i);
  }
  rig.wait_until_drained();
  std::map<std::string, Model::Message> found;
  for (int i = 0; i < 40; ++i) {
    const std::string key = "k" + std::to_string(i);
    if (const auto info = FaultRig::get(one, "q", key)) {
      found[key] = {info->due.time_since_epoch().count(), info->payload};
    }
  }
  EXPECT_EQ(found, model.messages);
  const QueueCounters counters = FaultRig::stats(one, "q").counters;
  EXPECT_EQ(counters.accepted, model.accepted);
  EXPECT_EQ(counters.replaced, model.replaced);
  EXPECT_EQ(counters.cancelled, model.cancelled);
  EXPECT_EQ(counters.reschedules, model.rescheduled);
  EXPECT_EQ(rig.set_aside(), "");
}

TEST(InboxFaults, TwoAtOnceCarryOutEachEntryOnceAndInOrder) {
  FaultRig rig;
  RedisEngineOptions options = rig.options();
  options.inbox_hold_ms = 0;
  options.shards = 4;
  const auto one = FaultRig::open(options);
  const auto other = FaultRig::open(options);
  carry_out(rig, *one, [](int) {});
}

ReshardStep reshard_step(core::Engine& engine, std::uint32_t shards, std::uint64_t turn = 0) {
  return std::get<ReshardStep>(FaultRig::answer(engine, core::ReshardRequest{"q", shards, turn}));
}

TEST(InboxFaults, EachOnceAndInOrderAlsoWhileTheShardsChange) {
  FaultRig rig;
  RedisEngineOptions options = rig.options();
  options.inbox_hold_ms = 0;
  const auto one = FaultRig::open(options);
  const auto other = FaultRig::open(options);
  ReshardStep last;
  std::uint32_t wanted = 3;
  int changes = 0;
  carry_out(rig, *one, [&](int i) {
    if (i < 100 || i % 20 != 0) return;
    if (i == 100) rig.wait_until_drained();  // the queue is there
    // Each step begins a new turn, because a step has to wait while an inbox has entries of the
    // queue.
    last = reshard_step(i % 40 == 0 ? *one : *other, wanted);
    if (!last.done) return;
    ++changes;
    wanted = wanted % 4 + 1;
  });
  EXPECT_GT(changes, 3);
}

// Adds pushes without keys: an entry that is carried out twice makes a second message.
void add_without_keys(FaultRig& rig, int count) {
  for (int i = 0; i < count; ++i) rig.add({"queue", "q", "payload", std::to_string(i)});
}

// Makes the store, its queue and the inbox, and then adds the entries that `clipped` will not
// finish.
void fill(FaultRig& rig, int count) {
  const auto engine = rig.open();
  add_without_keys(rig, 1);
  rig.wait_until_drained();
  // When `close` returns, the engine has done all its work.
  rig.forget_lines();
  engine->close();
  add_without_keys(rig, count);
}

TEST(InboxFaults, OneThatGoesBetweenTakingAndDeletingRepeatsNothing) {
  FaultRig rig;
  fill(rig, 250);
  auto clipped = FaultRig::open(without(rig, "-xdel"));
  rig.wait_for_line("inbox tarry:{0}:in waits: ");  // entries are taken, but not deleted
  EXPECT_EQ(FaultRig::stats(*clipped, "q").counters.accepted, 101u);
  EXPECT_EQ(rig.ask({"XLEN", FaultRig::key(0, "in")}), ":250\r\n");
  clipped.reset();
  const auto engine = rig.open();
  rig.wait_until_drained();
  EXPECT_EQ(FaultRig::stats(*engine, "q").counters.accepted, 251u);
  EXPECT_EQ(FaultRig::list(*engine, "q").size(), 251u);
  EXPECT_EQ(rig.set_aside(), "");
}

TEST(InboxFaults, OneThatGoesBetweenReadingAndTakingLosesNothing) {
  FaultRig rig;
  fill(rig, 250);
  RedisEngineOptions options = without(rig, "-xrange");  // allowed again when the engine is open
  options.inbox_hold_ms = 0;                             // holding an inbox would need HSET too
  auto clipped = FaultRig::open(options);
  EXPECT_EQ(rig.ask({"ACL", "SETUSER", "clipped", "+xrange", "-hset"}), "+OK\r\n");
  rig.forget_lines();
  rig.wait_for_line("inbox tarry:{0}:in waits: ");
  clipped.reset();
  EXPECT_EQ(rig.ask({"XLEN", FaultRig::key(0, "in")}), ":250\r\n");
  const auto engine = rig.open();
  rig.wait_until_drained();
  EXPECT_EQ(FaultRig::list(*engine, "q").size(), 251u);
  EXPECT_EQ(rig.set_aside(), "");
}

// The entries after it are carried out.
TEST(InboxFaults, AnEntryThatRunsIntoDamagedDataIsSetAsideAlone) {
  FaultRig rig;
  const auto engine = rig.open();
  const std::string due = std::to_string(kLaterMs);
  rig.add({"queue", "q", "key", "first", "payload", "1", "due", due});
  rig.wait_until_drained();
  // This is the key for messages of other priorities.
  (void)rig.ask({"SET", FaultRig::key(1, "q/0:odd"), "not ours"});
  rig.add({"queue", "q", "key", "a", "payload", "2", "due", due});
  rig.add({"queue", "q", "key", "odd", "payload", "3", "due", due, "priority", "7"});
  rig.add({"queue", "q", "key", "b", "payload", "4", "due", due});
  rig.wait_until_drained();
  EXPECT_TRUE(FaultRig::get(*engine, "q", "a"));
  EXPECT_TRUE(FaultRig::get(*engine, "q", "b"));
  const std::string told = rig.set_aside();
  EXPECT_NE(told.find("WRONGTYPE"), std::string::npos) << told;
  EXPECT_NE(told.find("|payload|3|"), std::string::npos) << told;
  EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
}

// Waits until the message exists.
void wait_for_message(FaultRig& rig, core::Engine& engine, const std::string& queue,
                      const std::string& key) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!FaultRig::get(engine, queue, key)) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << rig.lines();
    (void)rig.ask({"PUBLISH", FaultRig::key(0, "wake"), "in"});
  }
}

// There are more such entries than a batch holds, and none of them is lost.
TEST(InboxFaults, AQueueWhoseKeysAreNotOursIsHeldAndBlocksNoOther) {
  FaultRig rig;
  const auto engine = rig.open();
  (void)rig.ask({"SET", FaultRig::key(1, "foreign/0:due"), "mine"});
  for (int i = 0; i < 250; ++i) rig.add({"queue", "foreign", "key", "k", "payload", "1"});
  rig.add({"queue", "q", "key", "k", "payload", "2", "delay", "1h"});
  rig.add({"wrong", "1"});
  wait_for_message(rig, *engine, "q", "k");
  rig.wait_for_line("inbox tarry:{0}:in waits: ");
  rig.wait_for_line("tarry:{1}:foreign/0:due");
  EXPECT_EQ(rig.ask({"DEL", FaultRig::key(1, "foreign/0:due")}), ":1\r\n");
  rig.wait_until_drained();
  EXPECT_EQ(FaultRig::stats(*engine, "foreign").counters.accepted, 1u);
  EXPECT_EQ(std::ranges::count(rig.set_aside(), '\n'), 1);
  rig.wait_for_line("inbox tarry:{0}:in goes on");
}

// The order for each key is kept: no entry overtakes an earlier one for the same shard.
TEST(InboxFaults, AShardThatFailsIsHeldAloneAndInOrder) {
  FaultRig rig;
  RedisEngineOptions options = rig.options();
  options.shards = 2;
  const auto engine = FaultRig::open(options);
  const std::string due = std::to_string(kLaterMs);
  rig.add({"queue", "q", "payload", "1", "due", due, "key", "first"});
  rig.wait_until_drained();
  const std::string shard = rig.ask({"EXISTS", FaultRig::key(1, "q/0:meta")}) == ":1\r\n"
                                ? FaultRig::key(1, "q/0:meta")
                                : FaultRig::key(2, "q/0:meta");
  EXPECT_EQ(rig.ask({"RENAME", shard, "elsewhere"}), "+OK\r\n");
  EXPECT_EQ(rig.ask({"SET", shard, "damaged"}), "+OK\r\n");
  for (int i = 0; i < 400; ++i) {
    rig.add({"queue", "q", "payload", "old", "due", due, "key", "k" + std::to_string(i)});
  }
  for (int i = 0; i < 400; ++i) {
    rig.add({"queue", "q", "payload", "new", "due", due, "key", "k" + std::to_string(i),
             "if_exists", "replace"});
  }
  rig.add({"queue", "other", "payload", "p", "due", due, "key", "last"});
  wait_for_message(rig, *engine, "other", "last");
  rig.wait_for_line("inbox tarry:{0}:in waits: ");
  EXPECT_NE(rig.ask({"XLEN", FaultRig::key(0, "in")}), ":0\r\n");
  EXPECT_EQ(rig.ask({"RENAME", "elsewhere", shard}), "+OK\r\n");
  rig.wait_until_drained();
  EXPECT_EQ(FaultRig::list(*engine, "q").size(), 401u);
  for (int i = 0; i < 400; ++i) {
    const auto info = FaultRig::get(*engine, "q", "k" + std::to_string(i));
    ASSERT_TRUE(info) << i;
    EXPECT_EQ(info->payload, "new") << i;
  }
  EXPECT_EQ(rig.set_aside(), "");
}

TEST(InboxFaults, ARescheduleThatIsRefusedLeavesTheMessageAsItWas) {
  FaultRig rig;
  const auto engine = rig.open();
  rig.add({"queue", "q", "key", "a", "payload", "1", "due", std::to_string(kLaterMs)});
  rig.wait_until_drained();
  (void)rig.ask({"SET", FaultRig::key(1, "q/0:odd"), "not ours"});
  rig.add({"queue", "q", "verb", "reschedule", "key", "a", "delay", "1h", "priority", "7"});
  rig.wait_until_drained();
  EXPECT_NE(rig.set_aside().find("WRONGTYPE"), std::string::npos);
  EXPECT_EQ(rig.ask({"DEL", FaultRig::key(1, "q/0:odd")}), ":1\r\n");
  EXPECT_EQ(rig.ask({"ZCARD", FaultRig::key(1, "q/0:due")}), ":2\r\n");  // and its placeholder
  const auto info = FaultRig::get(*engine, "q", "a");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->due.time_since_epoch().count(), kLaterMs);
}

// A refused entry gets the same answer again if it could not be set aside the first time.
TEST(InboxFaults, WhatWasRefusedIsToldWithTheSameReasonAgain) {
  FaultRig rig;
  rig.add({"queue", "q", "key", "a", "payload", "1", "due", std::to_string(kLaterMs)});
  const auto engine = FaultRig::open(without(rig, "+@all"));
  rig.wait_until_drained();
  (void)rig.ask({"SET", FaultRig::key(1, "q/0:odd"), "not ours"});
  EXPECT_EQ(rig.ask({"ACL", "SETUSER", "clipped", "-xdel"}), "+OK\r\n");
  rig.forget_lines();
  rig.add({"queue", "q", "verb", "reschedule", "key", "a", "delay", "1h", "priority", "7"});
  rig.wait_for_line("inbox tarry:{0}:in waits: ");
  EXPECT_EQ(rig.ask({"ACL", "SETUSER", "clipped", "+xdel"}), "+OK\r\n");
  rig.wait_until_drained();
  EXPECT_NE(rig.set_aside().find("WRONGTYPE"), std::string::npos) << rig.set_aside();
}

TEST(InboxFaults, WhatIsHeldOfOneQueueLetsAnotherGetOtherShards) {
  FaultRig rig;
  const auto engine = rig.open();
  (void)rig.ask({"SET", FaultRig::key(1, "foreign/0:due"), "mine"});
  rig.add({"queue", "foreign", "key", "k", "payload", "1"});
  rig.add({"queue", "q", "key", "k", "payload", "2", "delay", "1h"});
  wait_for_message(rig, *engine, "q", "k");
  EXPECT_TRUE(reshard_step(*engine, 3).done);
  EXPECT_EQ(rig.ask({"XLEN", FaultRig::key(0, "in")}), ":1\r\n");
}

TEST(InboxFaults, WhileRedisIsFullTheyWait) {
  FaultRig rig;
  const auto engine = FaultRig::open(without(rig, "-xrange"));  // for now
  (void)rig.ask({"EVAL",
                 "for i = 1, 150 do redis.call('XADD', KEYS[1], '*', 'queue', 'q', 'payload', i, "
                 "'key', i % 50) redis.call('XADD', KEYS[1], '*', 'queue', 'q', 'verb', 'cancel', "
                 "'key', i % 50) redis.call('XADD', KEYS[1], '*', 'wrong', i) end",
                 "1", FaultRig::key(0, "in")});
  EXPECT_EQ(rig.ask({"CONFIG", "SET", "maxmemory", "1"}), "+OK\r\n");
  EXPECT_EQ(rig.ask({"ACL", "SETUSER", "clipped", "+xrange"}), "+OK\r\n");
  rig.wait_for_line("is full (maxmemory)");
  EXPECT_EQ(rig.ask({"XLEN", FaultRig::key(0, "in")}), ":450\r\n");
  EXPECT_EQ(rig.set_aside(), "");
  EXPECT_EQ(rig.ask({"CONFIG", "SET", "maxmemory", "0"}), "+OK\r\n");
  rig.wait_until_drained();
  const QueueCounters counters = FaultRig::stats(*engine, "q").counters;
  EXPECT_EQ(counters.accepted, 150u);
  EXPECT_EQ(counters.cancelled, 150u);
  EXPECT_EQ(rig.ask({"XLEN", FaultRig::key(0, "in:bad")}), ":150\r\n");
}

TEST(InboxFaults, ScriptsThatTheServerForgotAreGivenAgain) {
  FaultRig rig;
  const auto engine = rig.open();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(rig.ask({"SCRIPT", "FLUSH"}), "+OK\r\n");
    rig.add({"queue", "q", "payload", "1"});
    rig.add({"wrong", "1"});
    rig.wait_until_drained();
  }
  EXPECT_EQ(FaultRig::stats(*engine, "q").counters.accepted, 5u);
  EXPECT_EQ(rig.ask({"XLEN", FaultRig::key(0, "in:bad")}), ":5\r\n");
}

// A stream that was deleted, or has lost its tail, may give the same ids once more.
TEST(InboxFaults, IdsThatGoBackAreNotSwallowed) {
  FaultRig rig;
  const auto engine = rig.open();
  const Fields same = {"queue", "q", "payload", "same"};
  rig.add(same, 0, "1700000000000-5");
  rig.wait_until_drained();
  EXPECT_EQ(rig.ask({"DEL", FaultRig::key(0, "in")}), ":1\r\n");
  rig.add({"queue", "q", "payload", "older"}, 0, "1700000000000-4");
  rig.add(same, 0, "1700000000000-5");  // as if only the deletion of the entry was lost
  rig.add({"queue", "q", "payload", "newer"}, 0, "1700000000000-6");
  rig.wait_until_drained();
  EXPECT_EQ(FaultRig::stats(*engine, "q").counters.accepted, 2u);
  const std::string told = rig.set_aside();
  EXPECT_NE(told.find("|entry|1700000000000-4|error|its id is not newer than the last one that "
                      "shard q/0 took from this inbox, 1700000000000-5, "),
            std::string::npos)
      << told;
  EXPECT_NE(told.find("|payload|older\n"), std::string::npos) << told;
  EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
}

TEST(InboxFaults, AStoreThatWasEmptiedTakesWhatComesThen) {
  FaultRig rig;
  const auto engine = rig.open();
  add_without_keys(rig, 3);
  rig.wait_until_drained();
  EXPECT_EQ(rig.ask({"FLUSHALL"}), "+OK\r\n");
  add_without_keys(rig, 4);
  rig.wait_until_drained();
  EXPECT_EQ(FaultRig::stats(*engine, "q").counters.accepted, 4u);
}

TEST(InboxFaults, AForeignKeyUnderItsNameIsToldAndStopsNothingElse) {
  FaultRig rig;
  (void)rig.ask({"SET", FaultRig::key(0, "in"), "mine"});
  const auto engine = rig.open();
  rig.wait_for_line("inbox tarry:{0}:in waits: ");
  rig.add({"queue", "q", "key", "k", "payload", "1", "delay", "1h"}, 3);
  rig.wait_until_drained(3);
  EXPECT_TRUE(FaultRig::get(*engine, "q", "k"));
  EXPECT_EQ(rig.ask({"GET", FaultRig::key(0, "in")}), "mine");
  EXPECT_EQ(rig.ask({"DEL", FaultRig::key(0, "in")}), ":1\r\n");
  rig.add({"queue", "q", "key", "l", "payload", "1", "delay", "1h"});
  rig.wait_until_drained();
  EXPECT_TRUE(FaultRig::get(*engine, "q", "l"));
}

// The user has the rights that the guide listed before there were inboxes.
TEST(InboxFaults, AUserWithoutTheRightsKeepsTheRestOfTheSweep) {
  FaultRig rig;
  const auto producer = rig.open();
  RedisEngineOptions deaf = without(rig, "-@stream");
  const auto engine = FaultRig::open(deaf);
  rig.wait_for_line("inbox tarry:{15}:in waits: ");
  EXPECT_EQ(rig.ask({"ACL", "SETUSER", "clipped", "resetchannels"}), "+OK\r\n");
  core::PushRequest push;
  push.queue = "q";
  push.items.emplace_back();
  push.items.back().payload = core::append(push.bytes, "p");
  (void)FaultRig::answer(*producer, push);
  core::ClaimRequest claim;
  claim.queues = {"q"};
  claim.wait = Millis(60'000);
  EXPECT_EQ(std::get<core::ClaimReply>(FaultRig::answer(*engine, claim)).items.size(), 1u);
}

TEST(InboxFaults, WhoMayNotDeleteLeavesNoPlaceholderForAnEntry) {
  FaultRig rig;
  const auto engine = FaultRig::open(without(rig, "-xdel"));
  rig.wait_for_line("inbox tarry:{0}:in waits: ");
  EXPECT_EQ(rig.ask({"EXISTS", FaultRig::key(0, "in")}), ":0\r\n");
}

// An entry that a shard took but could not delete must not reach another shard as a new one.
TEST(InboxFaults, AShardStaysUntilWhatItTookHasLeftTheInbox) {
  FaultRig rig;
  fill(rig, 250);
  auto clipped = FaultRig::open(without(rig, "-xdel"));
  rig.wait_for_line("inbox tarry:{0}:in waits: ");
  const ReshardStep first = reshard_step(*clipped, 3);
  EXPECT_FALSE(first.done);
  EXPECT_EQ(first.left, 0u);
  EXPECT_EQ(first.waits_for, "tarry:{0}:in");
  clipped->close();
  // The entries are read again. The old shard knows those that it took, and the others go to the
  // new shards.
  const auto whole = rig.open();
  rig.wait_until_drained();
  EXPECT_EQ(FaultRig::stats(*whole, "q").counters.accepted, 251u);
  EXPECT_TRUE(reshard_step(*whole, 3).done);
  EXPECT_EQ(FaultRig::stats(*whole, "q").ready, 251u);
  EXPECT_EQ(rig.set_aside(), "");
}

// An entry that was passed on to a new shard and could not be deleted is passed on again, and the
// new shard knows it.
TEST(InboxFaults, WhatAClosedShardPassedOnIsTakenOnce) {
  FaultRig rig;
  fill(rig, 0);
  {
    const auto engine = rig.open();
    core::ClaimRequest claim;  // a leased message keeps the old shard alive
    claim.queues = {"q"};
    claim.max = 1;
    (void)FaultRig::answer(*engine, claim);
    EXPECT_EQ(reshard_step(*engine, 3).left, 1u);
    rig.forget_lines();
    engine->close();
  }
  add_without_keys(rig, 50);
  for (int i = 0; i < 50; ++i) {
    rig.add({"queue", "q", "payload", "p", "key", "k" + std::to_string(i), "delay", "1h"});
    rig.add({"verb", "cancel", "queue", "q", "key", "k" + std::to_string(i)});
  }
  for (int i = 0; i < 2; ++i) {
    rig.forget_lines();
    auto clipped = FaultRig::open(without(rig, "-xdel"));
    rig.wait_for_line("inbox tarry:{0}:in waits: ");
    EXPECT_EQ(FaultRig::stats(*clipped, "q").counters.accepted, 76u);
    clipped->close();
  }
  const auto whole = rig.open();
  rig.wait_until_drained();
  const QueueStats stats = FaultRig::stats(*whole, "q");
  EXPECT_EQ(stats.counters.accepted, 101u);
  EXPECT_EQ(stats.counters.cancelled, 50u);
  EXPECT_EQ(stats.ready, 50u);
  EXPECT_EQ(rig.set_aside(), "");
}

}  // namespace
}  // namespace tarry::redis
