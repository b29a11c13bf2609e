// The queue as a whole: pause and resume, purge, revive, configure, stats, list.
#include <algorithm>

#include "contract.h"

namespace tarry::contract {
namespace {

// One message in each state; the keys are "scheduled", "ready", "leased", "stopping", "dead" and
// "remembered".
struct Zoo {
  std::string leased;  // receipts
  std::string stopping;
};

Zoo fill(const Queue& q) {
  (void)must(q.configure({.remember = kRemember}));
  Zoo zoo;
  const auto claimed = [&](std::string_view key) {
    (void)must(q.push({.key = key, .payload = key}));
    return std::string(claim_one(q).receipt());
  };
  zoo.leased = claimed("leased");
  zoo.stopping = claimed("stopping");
  (void)must(q.cancel("stopping"));
  (void)must(q.bury(claimed("dead"), "why"));
  (void)must(q.ack(claimed("remembered")));
  (void)must(q.push({.key = "scheduled", .payload = "scheduled", .due = in(1h)}));
  (void)must(q.push({.key = "ready", .payload = "ready"}));
  return zoo;
}

// ---- pause and resume

class Pausing : public Contract {};
TARRY_ON_ALL_ENGINES(Pausing);

TEST_P(Pausing, StopsClaimsUntilResumed) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  must(q.pause());
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1000h);
  EXPECT_TRUE(nothing_due(q));
  const QueueStats paused = must(q.stats());
  EXPECT_TRUE(paused.paused);
  EXPECT_FALSE(paused.paused_until);
  must(q.resume());
  EXPECT_FALSE(must(q.stats()).paused);
  EXPECT_EQ(claim_one(q).key(), "k");
}

TEST_P(Pausing, EndsByItselfAtItsTime) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Time until = clock().now() + 10min;
  must(q.pause(until));
  EXPECT_EQ(must(q.stats()).paused_until, until);
  clock().advance(10min - 1ms);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(claim_one(q).key(), "k");
  EXPECT_FALSE(must(q.stats()).paused);
}

// `get` shows the pause, for a user who looks up why a message does not come.
TEST_P(Pausing, IsToldOfEachMessage) {
  const Queue q = queue();
  (void)must(q.configure({.remember = kRemember}));
  (void)must(q.push({.key = "leased", .payload = "x"}));
  (void)claim_one(q);
  (void)must(q.push({.key = "ready", .payload = "x"}));
  (void)must(q.push({.key = "scheduled", .payload = "x", .due = in(1h)}));
  const auto expect = [&](bool paused, std::optional<Time> until) {
    for (const char* key : {"leased", "ready", "scheduled"}) {
      const MessageInfo info = must(q.get(key));
      EXPECT_EQ(info.paused, paused) << key;
      EXPECT_EQ(info.paused_until, until) << key;
    }
  };
  expect(false, std::nullopt);
  must(q.pause());
  expect(true, std::nullopt);
  const Time until = clock().now() + 10min;
  must(q.pause(until));
  expect(true, until);
  clock().advance(10min);
  EXPECT_FALSE(must(q.get("scheduled")).paused);
  must(q.pause());
  must(q.resume());
  EXPECT_FALSE(must(q.get("scheduled")).paused);
}

TEST_P(Pausing, UntilATimeThatHasPassedPausesNothingAndSaysSo) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  EXPECT_EQ(must(q.pause(clock().now())), PauseOutcome::already_over);
  EXPECT_EQ(must(q.pause(clock().now() - 1h)), PauseOutcome::already_over);
  EXPECT_FALSE(must(q.stats()).paused);
  EXPECT_EQ(claim_one(q).key(), "k");
  EXPECT_EQ(must(q.pause(clock().now() + 1ms)), PauseOutcome::paused);
  EXPECT_EQ(must(q.pause()), PauseOutcome::paused);
}

TEST_P(Pausing, CanBeMadeLongerAndEndedEarly) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  must(q.pause(clock().now() + 1min));
  must(q.pause(clock().now() + 1h));
  clock().advance(30min);
  EXPECT_TRUE(nothing_due(q));
  must(q.pause());
  clock().advance(10h);
  EXPECT_TRUE(nothing_due(q));
  must(q.resume());
  EXPECT_EQ(claim_one(q).key(), "k");
}

TEST_P(Pausing, LeavesEverythingElseAsItIs) {
  const Queue q = queue();
  (void)must(q.push({.key = "leased", .payload = "x"}));
  const Delivery delivery = claim_one(q);
  must(q.pause());
  EXPECT_EQ(must(q.extend(delivery.receipt(), 1h)), Outcome::done);
  EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
  EXPECT_EQ(must(q.push({.key = "k", .payload = "x"})).outcome, Outcome::pushed);
  EXPECT_EQ(must(q.reschedule("k", in(1h))), Outcome::rescheduled);
  EXPECT_EQ(must(q.cancel("k")), Outcome::cancelled);
}

TEST_P(Pausing, LeavesOtherQueuesAsTheyAre) {
  (void)must(queue("a").push({.key = "k", .payload = "x"}));
  (void)must(queue("b").push({.key = "k", .payload = "x"}));
  must(queue("a").pause());
  EXPECT_EQ(claim_one(queue("b")).queue(), "b");
  EXPECT_TRUE(nothing_due(queue("a")));
}

TEST_P(Pausing, ResumeOfAQueueThatIsNotPausedChangesNothing) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  must(q.resume());
  EXPECT_EQ(claim_one(q).key(), "k");
}

// ---- purge

class Purging : public Contract {};
TARRY_ON_ALL_ENGINES(Purging);

TEST_P(Purging, TakesWhatIsNotLeased) {
  const Queue q = queue();
  const Zoo zoo = fill(q);
  EXPECT_EQ(must(q.purge()), 3u);
  EXPECT_FALSE(find(q, "scheduled"));
  EXPECT_FALSE(find(q, "ready"));
  EXPECT_FALSE(find(q, "dead"));
  EXPECT_EQ(find(q, "leased")->state, State::leased);
  EXPECT_EQ(find(q, "stopping")->state, State::leased);
  EXPECT_EQ(find(q, "remembered")->state, State::remembered);
  const QueueStats stats = must(q.stats());
  EXPECT_EQ(stats.counters.purged, 3u);
  EXPECT_EQ(stats.leased, 2u);
  EXPECT_EQ(stats.remembered, 1u);
  EXPECT_EQ(must(q.purge()), 0u);
  EXPECT_EQ(must(q.push({.key = "ready", .payload = "y"})).outcome, Outcome::pushed);
  EXPECT_EQ(must(q.ack(zoo.leased)), Outcome::done);
  EXPECT_EQ(must(q.ack(zoo.stopping)), Outcome::done);
}

TEST_P(Purging, TakesManyAndLeavesOtherQueues) {
  const Queue q = queue();
  for (int i = 0; i < 1000; ++i) {
    (void)must(q.push({.payload = "x", .due = in(Millis(i % 2 == 0 ? 0 : 1'000'000))}));
  }
  (void)must(queue("other").push({.key = "k", .payload = "x"}));
  EXPECT_EQ(must(q.purge()), 1000u);
  EXPECT_TRUE(list_all(q).empty());
  clock().advance(1000h);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_TRUE(find(queue("other"), "k"));
}

// ---- remove

class Removing : public Contract {};
TARRY_ON_ALL_ENGINES(Removing);

TEST_P(Removing, LeavesNothing) {
  const Queue q = queue();
  const Zoo zoo = fill(q);
  must(q.pause());
  const auto refused = q.remove();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  expect_names(refused.error(), {"queue q", "2 messages leased"});
  EXPECT_EQ(find(q, "ready")->state, State::ready);  // refused, so nothing has changed
  EXPECT_TRUE(must(q.stats()).paused);
  EXPECT_EQ(must(q.remove(true)), 5u);
  EXPECT_EQ(q.stats().error().code, ErrorCode::not_found);
  EXPECT_EQ(q.remove().error().code, ErrorCode::not_found);
  EXPECT_TRUE(list_all(q).empty());
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(must(q.ack(zoo.leased)), Outcome::stale);
  EXPECT_EQ(must(q.ack(zoo.stopping)), Outcome::stale);
  for (const QueueStats& stats : must(store().stats()).queues) EXPECT_NE(stats.queue, "q");
}

TEST_P(Removing, APushMakesItAnew) {
  const Queue q = queue();
  (void)fill(q);
  (void)must(queue("other").push({.key = "k", .payload = "other"}));
  must(q.pause());
  (void)must(q.remove(true));
  for (const char* key : {"leased", "remembered", "new"}) {
    EXPECT_EQ(must(q.push({.key = key, .payload = "anew"})).outcome, Outcome::pushed);
  }
  const QueueStats stats = must(q.stats());
  EXPECT_EQ(stats.settings, QueueSettings());
  EXPECT_FALSE(stats.paused);
  EXPECT_EQ(stats.counters.accepted, 3u);
  EXPECT_EQ(stats.counters.claims, 0u);
  const std::vector<Delivery> anew = claim(q, 10);
  ASSERT_EQ(anew.size(), 3u);
  for (const Delivery& delivery : anew) EXPECT_EQ(delivery.payload(), "anew");
  EXPECT_EQ(find(queue("other"), "k")->payload, "other");
  clock().advance(100'000h);
  EXPECT_EQ(must(queue("other").remove()), 1u);
  EXPECT_EQ(must(q.remove(true)), 3u);
}

TEST_P(Removing, OfManyQueuesAndMessagesTakesEachOnce) {
  for (int round = 0; round < 3; ++round) {
    for (const char* name : {"a", "b", "c"}) {
      for (int i = 0; i < 200; ++i) {
        (void)must(queue(name).push({.payload = name, .due = in(Millis(i % 2 == 0 ? 0 : 1000))}));
      }
    }
    EXPECT_EQ(must(queue("b").remove()), 200u);
    EXPECT_EQ(must(queue("a").remove()), 200u);
    EXPECT_EQ(must(queue("c").stats()).counters.accepted, 200u * (unsigned(round) + 1));
  }
  clock().advance(1000h);
  EXPECT_EQ(claim_all(queue("c")).size(), 600u);
}

// ---- revive

class Reviving : public Contract {
 protected:
  void bury(const Queue& q, std::string_view key) {
    (void)must(q.push({.key = key, .payload = key}));
    EXPECT_EQ(must(q.bury(claim_one(q).receipt(), "why")), Outcome::done);
  }
};
TARRY_ON_ALL_ENGINES(Reviving);

TEST_P(Reviving, BringsBackDueNowWithAttemptsAnew) {
  const Queue q = queue();
  bury(q, "k");
  const std::uint64_t id = find(q, "k")->id;
  clock().advance(1h);
  EXPECT_EQ(must(q.revive()), 1u);
  const MessageInfo info = find(q, "k").value();
  EXPECT_EQ(info.state, State::ready);
  EXPECT_EQ(ms(info.due), now_ms());
  EXPECT_EQ(info.attempt, 0u);
  EXPECT_EQ(info.id, id);
  EXPECT_EQ(info.reason, "");
  EXPECT_FALSE(info.kept_until);
  EXPECT_EQ(info.tallies.revives, 1u);
  EXPECT_EQ(must(q.stats()).counters.revives, 1u);
  EXPECT_EQ(claim_one(q).payload(), "k");
}

TEST_P(Reviving, OfKeysTakesTheDeadOnesAmongThem) {
  const Queue q = queue();
  for (const char* key : {"a", "b", "c"}) bury(q, key);
  (void)must(q.push({.key = "alive", .payload = "x", .due = in(1h)}));
  const std::string_view keys[] = {"a", "alive", "missing", "c", "a"};
  EXPECT_EQ(must(q.revive(keys)), 2u);
  EXPECT_EQ(key_set(claim_all(q)), (std::multiset<std::string>{"a", "c"}));
  EXPECT_EQ(find(q, "b")->state, State::dead);
  EXPECT_EQ(find(q, "alive")->state, State::scheduled);
}

TEST_P(Reviving, OfAllTakesAll) {
  const Queue q = queue();
  for (int i = 0; i < 50; ++i) bury(q, "k" + std::to_string(i));
  EXPECT_EQ(must(q.stats()).dead, 50u);
  EXPECT_EQ(must(q.revive()), 50u);
  EXPECT_EQ(must(q.revive()), 0u);
  EXPECT_EQ(claim_all(q).size(), 50u);
}

TEST_P(Reviving, OutlivesTheTimeTheDeadAreKept) {
  const Queue q = queue();
  (void)must(q.configure({.dead_keep = 1h}));
  bury(q, "k");
  clock().advance(30min);
  EXPECT_EQ(must(q.reschedule("k", in(10h))), Outcome::revived);
  clock().advance(10h);
  EXPECT_EQ(claim_one(q).key(), "k");
  EXPECT_EQ(must(q.stats()).counters.expired, 0u);
}

// ---- configure

class Configuring : public Contract {};
TARRY_ON_ALL_ENGINES(Configuring);

TEST_P(Configuring, MakesTheQueueWithTheDefaultsAndAnswersWhatStands) {
  EXPECT_EQ(must(queue().configure({})), QueueSettings{});
  EXPECT_EQ(must(queue().stats()).settings, QueueSettings{});
}

TEST_P(Configuring, ChangesWhatIsNamedAndLeavesTheRest) {
  const Queue q = queue();
  QueueSettings want;
  want.lease = 5min;
  want.remember = 1h;
  EXPECT_EQ(must(q.configure({.lease = 5min, .remember = 1h})), want);
  want.max_attempts = 3;
  want.backoff_min = 10ms;
  want.backoff_max = 20ms;
  want.dead_keep = 1h;
  want.if_exists = IfExists::later;
  want.objective = {99'950, 250ms};
  EXPECT_EQ(must(q.configure({.max_attempts = 3,
                              .backoff_min = 10ms,
                              .backoff_max = 20ms,
                              .dead_keep = 1h,
                              .if_exists = IfExists::later,
                              .objective = Objective{99'950, 250ms}})),
            want);
  EXPECT_EQ(must(q.stats()).settings, want);
  want.objective = {};
  EXPECT_EQ(must(q.configure({.objective = Objective()})), want);
  EXPECT_EQ(must(q.stats()).settings, want);
  EXPECT_EQ(must(queue("other").configure({})), QueueSettings{});
  EXPECT_EQ(must(q.configure({.expire = 0ms, .on_expiry = OnExpiry::end})), want);
}

TEST_P(Configuring, ARefusedPatchChangesNothing) {
  const Queue q = queue();
  (void)must(q.configure({.lease = 5min}));
  const auto refused = q.configure({.lease = 6min, .max_attempts = 0});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(must(q.stats()).settings.lease, 5min);
}

TEST_P(Configuring, ARefusedPatchMakesNoQueue) {
  EXPECT_FALSE(queue().configure({.lease = 0ms}));
  EXPECT_TRUE(must(store().stats()).queues.empty());
}

// ---- stats

class Statistics : public Contract {};
TARRY_ON_ALL_ENGINES(Statistics);

TEST_P(Statistics, OfAQueueThatIsNotThere) {
  const auto stats = queue("missing").stats();
  ASSERT_FALSE(stats);
  EXPECT_EQ(stats.error().code, ErrorCode::not_found);
  expect_names(stats.error(), {"missing"});
}

// Runs each verb on a queue that nobody has made; none of these verbs makes it. The verbs that make
// a queue (push, pause, configure) have their own tests.
TEST_P(Statistics, NothingIsDoneToAQueueThatIsNotThere) {
  const Queue q = queue("missing");
  EXPECT_TRUE(must(q.claim()).empty());
  const auto got = q.get("k");
  EXPECT_EQ(got.error().code, ErrorCode::not_found);
  EXPECT_EQ(got.error().message, "there is no queue missing");
  EXPECT_EQ(must(q.cancel("k")), Outcome::unknown);
  EXPECT_EQ(must(q.reschedule("k", in(1h))), Outcome::unknown);
  EXPECT_TRUE(must(q.list({})).messages.empty());
  const Forecast forecast = must(q.forecast());
  EXPECT_EQ(forecast.due_now + forecast.later, 0u);
  EXPECT_EQ(std::ranges::count(forecast.buckets, 0u), std::ssize(forecast.buckets));
  const std::string_view key = "k";
  EXPECT_EQ(must(q.revive({&key, 1})), 0u);
  EXPECT_EQ(q.remove().error().code, ErrorCode::not_found);
  if (!is_by(By::command_line)) {  // on the command line the name may be mistyped, so it prints an
                                   // error
    must(q.resume());
    EXPECT_EQ(must(q.purge()), 0u);
    EXPECT_EQ(must(q.revive()), 0u);
  }
  EXPECT_EQ(q.stats().error().code, ErrorCode::not_found);
  EXPECT_TRUE(must(store().stats()).queues.empty());
}

// Most of these keys belong to shards to which nobody has pushed; the queue exists all the same.
TEST_P(Statistics, AMessageThatIsNotThereIsNoQueueThatIsNotThere) {
  const Queue q = queue("there");
  (void)must(q.push({.key = "k", .payload = "x", .due = in(1h)}));
  for (int i = 0; i < 30; ++i) {
    const std::string key = "key" + std::to_string(i);
    const auto got = q.get(key);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::not_found);
    EXPECT_EQ(got.error().message, "there is no message \"" + key + "\" in queue there");
  }
}

TEST_P(Statistics, CountsEachState) {
  const Queue q = queue();
  (void)fill(q);
  const QueueStats stats = must(q.stats());
  EXPECT_EQ(stats.queue, "q");
  EXPECT_EQ(stats.scheduled, 1u);
  EXPECT_EQ(stats.ready, 1u);
  EXPECT_EQ(stats.leased, 2u);
  EXPECT_EQ(stats.dead, 1u);
  EXPECT_EQ(stats.remembered, 1u);
  EXPECT_EQ(stats.waiting_claims, 0u);
  EXPECT_EQ(stats.counters.accepted, 6u);
  EXPECT_EQ(stats.counters.acked, 1u);
  EXPECT_EQ(stats.counters.claims, 4u);
  EXPECT_EQ(stats.counters.buries, 1u);
}

TEST_P(Statistics, FollowWhatFallsDue) {
  const Queue q = queue();
  for (int i = 0; i < 10; ++i) {
    (void)must(q.push({.payload = "x", .due = in(std::chrono::seconds(i))}));
  }
  for (std::uint64_t ready = 1; ready <= 10; ++ready) {
    EXPECT_EQ(must(q.stats()).ready, ready);
    EXPECT_EQ(must(q.stats()).scheduled, 10 - ready);
    clock().advance(1s);
  }
}

TEST_P(Statistics, NameTheOldestReady) {
  const Queue q = queue();
  const Time start = clock().now();
  EXPECT_FALSE(must(q.configure({})).lease == 0ms);
  EXPECT_FALSE(must(q.stats()).oldest_ready);
  (void)must(q.push({.payload = "x", .due = in(10s)}));
  (void)must(q.push({.payload = "x", .due = in(20s)}));
  const QueueStats before = must(q.stats());
  EXPECT_FALSE(before.oldest_ready);
  clock().advance(15s);
  EXPECT_EQ(must(q.stats()).oldest_ready, start + 10s);
  clock().advance(15s);
  EXPECT_EQ(must(q.stats()).oldest_ready, start + 10s);
  (void)claim_all(q);
  EXPECT_FALSE(must(q.stats()).oldest_ready);
}

TEST_P(Statistics, OfTheStoreNameEachQueueOnce) {
  for (const char* name : {"c", "a", "b"}) (void)must(queue(name).push({.payload = "x"}));
  const StoreStats stats = must(store().stats());
  std::multiset<std::string> names;
  for (const QueueStats& one : stats.queues) names.insert(one.queue);
  EXPECT_EQ(names, (std::multiset<std::string>{"a", "b", "c"}));
  EXPECT_FALSE(stats.engine.empty());
}

TEST_P(Statistics, MeasureLateness) {
  const Queue q = queue();
  for (int i = 0; i < 10; ++i) (void)must(q.push({.payload = "x"}));
  clock().advance(4s);
  EXPECT_EQ(claim_all(q).size(), 10u);
  const LatenessStats lateness = must(store().stats()).lateness;
  EXPECT_EQ(lateness.count, 10u);
  EXPECT_NEAR(lateness.p50, 4000, 400);
  EXPECT_NEAR(lateness.max, 4000, 400);
}

TEST_P(Statistics, MeasureLatenessOfFirstAttempts) {
  const Queue q = queue();
  (void)must(q.push({.payload = "x"}));
  std::uint64_t first_attempts = 0;
  for (int i = 0; i < 4; ++i) {
    const Delivery delivery = claim_one(q);
    if (delivery.attempt() == 1) ++first_attempts;
    // A released message is claimed again as its first attempt.
    const auto outcome = i == 0 ? q.release(delivery.receipt()) : q.retry(delivery.receipt(), 1s);
    EXPECT_EQ(must(outcome), Outcome::done);
    clock().advance(1s);
  }
  EXPECT_GE(first_attempts, 2u);
  EXPECT_EQ(must(store().stats()).lateness.count, first_attempts);
}

TEST_P(Statistics, TellWhatTheEngineCanDo) {
  const core::Capabilities capabilities = rig().engine().capabilities();
  EXPECT_TRUE(capabilities.by_key);
  EXPECT_TRUE(capabilities.leases);
  EXPECT_EQ(capabilities.engine, is_remote() ? "remote" : is(Kind::redis) ? "redis" : "embedded");
  EXPECT_FALSE(must(store().stats()).engine.empty());
  if (!is_remote()) {
    EXPECT_EQ(capabilities.durable, is(Kind::file) || is(Kind::redis));
    EXPECT_TRUE(capabilities.manual_clock);
  }
}

// ---- list

class Listing : public Contract {};
TARRY_ON_ALL_ENGINES(Listing);

std::multiset<std::string> keys_in(const std::vector<MessageInfo>& messages) {
  std::multiset<std::string> keys;
  for (const MessageInfo& info : messages) keys.insert(info.key);
  return keys;
}

TEST_P(Listing, OfNothingIsAnEmptyPage) {
  (void)must(queue().configure({}));
  const Page page = must(queue().list());
  EXPECT_TRUE(page.messages.empty());
  EXPECT_TRUE(page.next.empty());
}

TEST_P(Listing, ShowsEachMessageAsGetDoesButForThePayload) {
  const Queue q = queue();
  (void)fill(q);
  const std::vector<MessageInfo> listed = list_all(q);
  EXPECT_EQ(listed.size(), 6u);
  for (const MessageInfo& info : listed) {
    SCOPED_TRACE(info.key);
    MessageInfo want = find(q, info.key).value();
    want.payload.clear();
    expect_same(want, info);
  }
}

TEST_P(Listing, SeesEachMessageOnceAcrossPages) {
  const Queue q = queue();
  std::multiset<std::string> keys;
  for (int i = 0; i < 257; ++i) {
    const std::string key = "k" + std::to_string(i);
    (void)must(q.push({.key = key, .payload = "x", .due = in(Millis(i % 3 == 0 ? 0 : i * 1000))}));
    keys.insert(key);
  }
  for (const std::uint32_t limit : {1u, 7u, 100u, 256u, 257u, 258u, 10'000u}) {
    ListOptions options;
    options.limit = limit;
    std::multiset<std::string> seen;
    for (;;) {
      const Page page = must(q.list(options));
      EXPECT_LE(page.messages.size(), limit);
      seen.merge(keys_in(page.messages));
      if (page.next.empty()) break;
      options.after = page.next;
    }
    EXPECT_EQ(seen, keys) << "limit " << limit;
  }
}

TEST_P(Listing, MissesNothingThatStaysWhileOthersComeAndGo) {
  const Queue q = queue();
  for (int i = 0; i < 100; ++i) {
    (void)must(q.push({.key = "stays" + std::to_string(i), .payload = "x", .due = in(1h)}));
    (void)must(q.push({.key = "goes" + std::to_string(i), .payload = "x", .due = in(1h)}));
  }
  ListOptions options;
  options.limit = 20;
  std::multiset<std::string> seen;
  for (int round = 0;; ++round) {
    const Page page = must(q.list(options));
    for (const MessageInfo& info : page.messages) {
      if (info.key.starts_with("stays")) seen.insert(info.key);
    }
    if (page.next.empty()) break;
    options.after = page.next;
    (void)must(q.cancel("goes" + std::to_string(round)));
    (void)must(q.push({.key = "comes" + std::to_string(round), .payload = "x", .due = in(1h)}));
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 100u);
}

// Between two pages, messages move past the position of the list: consumers claim them and give
// them up, and others get new times.
TEST_P(Listing, OfTheWholeMissesNothingThatIsMovedMeanwhile) {
  const Queue q = queue();
  std::set<std::string> keys;
  for (int i = 0; i < 400; ++i) {
    const std::string key = "k" + std::to_string(i);
    (void)must(q.push({.key = key, .payload = "x", .due = in(i < 200 ? 0ms : Millis(i * 60'000))}));
    keys.insert(key);
  }
  ListOptions options;
  options.limit = 20;
  options.whole = true;
  std::set<std::string> seen;
  for (int round = 0;; ++round) {
    const Page page = must(q.list(options));
    for (const MessageInfo& info : page.messages) seen.insert(info.key);
    if (page.next.empty()) break;
    options.after = page.next;
    for (const Delivery& delivery : must(q.claim({.max = 10}))) {
      if (round % 2 == 0) (void)must(q.retry(delivery.receipt(), 24h));
    }
    for (int i = 399 - round * 5; i > 394 - round * 5 && i >= 200; --i) {
      (void)must(q.reschedule("k" + std::to_string(i), in(0ms)));
    }
  }
  EXPECT_EQ(seen, keys);
}

TEST_P(Listing, CanBeOfOneState) {
  const Queue q = queue();
  (void)fill(q);
  const auto of = [&](State state) {
    ListOptions options;
    options.state = state;
    return keys_in(list_all(q, options));
  };
  EXPECT_EQ(of(State::scheduled), (std::multiset<std::string>{"scheduled"}));
  EXPECT_EQ(of(State::ready), (std::multiset<std::string>{"ready"}));
  EXPECT_EQ(of(State::leased), (std::multiset<std::string>{"leased", "stopping"}));
  EXPECT_EQ(of(State::dead), (std::multiset<std::string>{"dead"}));
  EXPECT_EQ(of(State::remembered), (std::multiset<std::string>{"remembered"}));
}

TEST_P(Listing, CanBeOfAPrefix) {
  const Queue q = queue();
  for (const char* key : {"order:1", "order:2", "orders", "cart:1", "order"}) {
    (void)must(q.push({.key = key, .payload = "x"}));
  }
  ListOptions options;
  options.prefix = "order:";
  EXPECT_EQ(keys_in(list_all(q, options)), (std::multiset<std::string>{"order:1", "order:2"}));
  options.prefix = "none";
  EXPECT_TRUE(list_all(q, options).empty());
  options.prefix = "order";
  options.limit = 1;
  EXPECT_EQ(list_all(q, options).size(), 4u);
}

TEST_P(Listing, IsOfOneQueue) {
  (void)must(queue("a").push({.key = "k", .payload = "x"}));
  (void)must(queue("b").push({.key = "l", .payload = "x"}));
  EXPECT_EQ(keys_in(list_all(queue("a"))), std::multiset<std::string>{"k"});
}

TEST_P(Listing, NamesMadeKeys) {
  const Pushed pushed = must(queue().push({.payload = "x"}));
  EXPECT_EQ(keys_in(list_all(queue())), std::multiset<std::string>{pushed.key});
}

}  // namespace
}  // namespace tarry::contract
