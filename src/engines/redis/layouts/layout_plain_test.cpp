// The layout `plain` on a real server: the verb table, leases, units, many keys, bad keys.
#include "support/layout_rig.h"

namespace tarry::redis {
namespace {

using core::SettleAction;

class PlainLayout : public LayoutTest {
 protected:
  static LayoutEngineOptions plain(std::string zset = {}, bool seconds = false) {
    LayoutSpec spec;
    spec.zset = std::move(zset);
    spec.seconds = seconds;
    return options_of(std::move(spec));
  }
  static std::string score(const std::string& zset, const std::string& member) {
    return redis({"ZSCORE", zset, member});
  }
};

std::vector<std::string> keys_of(const std::vector<Taken>& taken) {
  std::vector<std::string> keys;
  for (const Taken& each : taken) keys.push_back(each.key);
  return keys;
}

TEST_F(PlainLayout, WhatZaddPutThereIsClaimedAndAcked) {
  LayoutStore store(plain());
  ASSERT_EQ(redis({"ZADD", "tasks", "2000", "b", "1000", "a", "9e12", "later"}), "3");
  const auto taken = store.claim("tasks");
  ASSERT_EQ(keys_of(taken), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(taken[0].payload, "a");
  EXPECT_EQ(taken[0].due_ms, 1000);
  EXPECT_TRUE(store.claim("tasks").empty());
  EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::done);
  EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::stale);
  EXPECT_EQ(score("tasks", "a"), "");
  // For other programs a lease is a due time.
  EXPECT_GT(std::stoll(score("tasks", "b")), now_ms() + 1000);
  EXPECT_EQ(redis({"ZCARD", "tasks"}), "2");
}

TEST_F(PlainLayout, WhatIsPushedIsAMemberThatOthersRead) {
  LayoutStore store(plain());
  const auto pushed = store.push("tasks", "t1", "", Due::after(Millis(60'000)));
  EXPECT_EQ(pushed.outcome, Outcome::pushed);
  EXPECT_EQ(pushed.key, "t1");
  EXPECT_EQ(score("tasks", "t1"), std::to_string(pushed.due_ms));
  EXPECT_GE(pushed.due_ms, now_ms() + 50'000);
  EXPECT_TRUE(store.claim("tasks").empty());
  EXPECT_EQ(store.push("tasks", "t1", "t1").outcome, Outcome::exists);
  EXPECT_EQ(store.push("tasks", "t1", "", {}, IfExists::keep).due_ms, pushed.due_ms);
  EXPECT_EQ(store.push("tasks", "t1", "", {}, IfExists::later).outcome, Outcome::kept);
  EXPECT_EQ(store.push("tasks", "t1", "", {}, IfExists::earlier).outcome, Outcome::moved);
  EXPECT_EQ(store.push("tasks", "t1", "", Due::at(Time(Millis(5))), IfExists::replace).outcome,
            Outcome::replaced);
  EXPECT_EQ(score("tasks", "t1"), "5");
  ASSERT_EQ(store.claim("tasks").size(), 1u);
  EXPECT_EQ(store.push("tasks", "t1", "", {}, IfExists::replace).outcome, Outcome::in_flight);
}

TEST_F(PlainLayout, CancelAndRescheduleGoByTheMember) {
  LayoutStore store(plain());
  ASSERT_EQ(redis({"ZADD", "tasks", "1", "a", "2", "b"}), "2");
  EXPECT_EQ(store.cancel("tasks", "a").outcome, Outcome::cancelled);
  EXPECT_EQ(store.cancel("tasks", "a").outcome, Outcome::unknown);
  EXPECT_EQ(score("tasks", "a"), "");
  const auto moved = store.reschedule("tasks", "b", Due::at(Time(Millis(9'000'000'000'000))));
  EXPECT_EQ(moved.error->code, ErrorCode::invalid_argument);  // after the year 2200
  EXPECT_EQ(store.reschedule("tasks", "b", Due::at(Time(Millis(4'000'000'000'000)))).outcome,
            Outcome::rescheduled);
  EXPECT_EQ(score("tasks", "b"), "4000000000000");
  EXPECT_EQ(store.reschedule("tasks", "a", Due()).outcome, Outcome::unknown);
  EXPECT_EQ(store.reschedule("tasks", "b", Due()).outcome, Outcome::rescheduled);
  EXPECT_EQ(keys_of(store.claim("tasks")), std::vector<std::string>{"b"});
  EXPECT_EQ(store.reschedule("tasks", "b", Due()).outcome, Outcome::in_flight);
}

TEST_F(PlainLayout, ACancelWhileLeasedLetsTheDeliveryEnd) {
  LayoutStore store(plain());
  for (const SettleAction action :
       {SettleAction::ack, SettleAction::retry, SettleAction::release}) {
    ASSERT_EQ(redis({"ZADD", "tasks", "1", "a"}), "1");
    const auto taken = store.claim("tasks");
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(store.cancel("tasks", "a").outcome, Outcome::stopping);
    EXPECT_EQ(store.cancel("tasks", "a").outcome, Outcome::stopping);
    EXPECT_EQ(store.push("tasks", "a").outcome, Outcome::in_flight);
    EXPECT_EQ(store.extend(taken[0].receipt, 60'000).outcome, Outcome::done);
    EXPECT_TRUE(store.get("tasks", "a")->stopping);
    EXPECT_EQ(store.settle(taken[0].receipt, action).outcome, Outcome::done);
    EXPECT_EQ(score("tasks", "a"), "");
    EXPECT_EQ(store.cancel("tasks", "a").outcome, Outcome::unknown);
  }
}

TEST_F(PlainLayout, RetryReleaseAndExtendAreFenced) {
  LayoutStore store(plain());
  ASSERT_EQ(redis({"ZADD", "tasks", "1234.5", "a"}), "1");
  const auto first = store.claim("tasks");
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(store.settle(first[0].receipt, SettleAction::release).outcome, Outcome::done);
  EXPECT_EQ(score("tasks", "a"), "1234.5");
  // The second claim may fall into the same ms and have the same lease. The first receipt is stale
  // all the same.
  const auto second = store.claim("tasks");
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(store.settle(first[0].receipt).outcome, Outcome::stale);
  EXPECT_EQ(store.extend(first[0].receipt, 1000).outcome, Outcome::stale);
  EXPECT_EQ(store.extend(second[0].receipt, 100'000).outcome, Outcome::done);
  EXPECT_GT(std::stoll(score("tasks", "a")), now_ms() + 50'000);
  const auto retried = store.settle(second[0].receipt, SettleAction::retry, 3'600'000);
  EXPECT_EQ(retried.outcome, Outcome::done);
  EXPECT_EQ(score("tasks", "a"), std::to_string(*retried.due_ms));
  EXPECT_EQ(store.settle(second[0].receipt).outcome, Outcome::stale);
  const std::string other_queue = second[0].receipt + "x";
  EXPECT_EQ(store.settle(other_queue).outcome, Outcome::stale);
  for (const std::string_view none : {"L1.nonsense", "nonsense"}) {
    const auto refused = store.settle(none);
    ASSERT_TRUE(refused.error);
    EXPECT_EQ(refused.error->code, ErrorCode::invalid_argument);
    EXPECT_NE(refused.error->message.find(none), std::string::npos);
  }
}

TEST_F(PlainLayout, AnOldReceiptIsRefusedAfterCancelAndPush) {
  LayoutStore store(plain());
  ASSERT_EQ(redis({"ZADD", "tasks", "1", "a"}), "1");
  const auto old = store.claim("tasks");
  ASSERT_EQ(old.size(), 1u);
  // Another program removes the message and pushes it again.
  ASSERT_EQ(redis({"ZREM", "tasks", "a"}), "1");
  ASSERT_EQ(redis({"ZADD", "tasks", "1", "a"}), "1");
  EXPECT_EQ(store.settle(old[0].receipt).outcome, Outcome::stale);
  EXPECT_EQ(score("tasks", "a"), "1");
  ASSERT_EQ(store.claim("tasks").size(), 1u);
  EXPECT_EQ(store.settle(old[0].receipt).outcome, Outcome::stale);
}

TEST_F(PlainLayout, AForeignNewScoreEndsTheLease) {
  LayoutStore store(plain());
  ASSERT_EQ(redis({"ZADD", "tasks", "1", "a"}), "1");
  const auto taken = store.claim("tasks");
  ASSERT_EQ(redis({"ZADD", "tasks", "4000000000000", "a"}), "0");
  EXPECT_EQ(store.settle(taken.at(0).receipt).outcome, Outcome::stale);
  EXPECT_EQ(score("tasks", "a"), "4000000000000");
  EXPECT_EQ(store.get("tasks", "a")->state, State::scheduled);
}

// The engine ends without releasing its message, as in a crash. The lease is in Redis, and runs
// out.
TEST_F(PlainLayout, ALeaseOfOneThatDiedEndsAndTheNextGetsTheMessage) {
  ASSERT_EQ(redis({"ZADD", "tasks", "1", "a"}), "1");
  LayoutStore other(plain());
  std::vector<Taken> lost;
  {
    LayoutStore store(plain());
    lost = store.claim(LayoutStore::claim_of("tasks", 0, 300));
    ASSERT_EQ(lost.size(), 1u);
  }
  const auto taken = other.claim("tasks", kLong);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_GE(taken[0].claimed_ms, lost[0].claimed_ms + 300);
  EXPECT_EQ(other.settle(lost[0].receipt).outcome, Outcome::stale);
  EXPECT_EQ(other.settle(taken[0].receipt).outcome, Outcome::done);
  EXPECT_EQ(redis({"EXISTS", "tasks"}), "0");
}

TEST_F(PlainLayout, NothingIsEarlyByRedissClock) {
  LayoutStore store(plain());
  const std::int64_t due = now_ms() + 120;
  ASSERT_EQ(redis({"ZADD", "tasks", std::to_string(due) + ".5", "a"}), "1");
  const auto taken = store.claim("tasks", kLong);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_GT(taken[0].claimed_ms, due);
  EXPECT_EQ(taken[0].due_ms, due + 1);
}

TEST_F(PlainLayout, AWaitingClaimSeesWhatOthersAddWithoutAWord) {
  LayoutStore store(plain());
  auto waiting = store.parked(LayoutStore::claim_of("tasks", kLong));
  ASSERT_EQ(redis({"ZADD", "tasks", "1", "a"}), "1");
  auto reply = waiting.get();
  ASSERT_TRUE(reply);
  EXPECT_EQ(LayoutStore::taken_in(std::get<core::ClaimReply>(*reply)).at(0).key, "a");
}

// The clock moves while a claim looks. The claim then looks again for messages that fell due
// meanwhile.
TEST_F(PlainLayout, AWaitingClaimMissesNoMomentOfTheClock) {
  LayoutEngineOptions options = plain();
  options.clock = std::make_shared<timing::ManualClock>();
  LayoutStore store(options);
  for (int i = 0; i < 50; ++i) {
    const std::string task = "soon" + std::to_string(i);
    auto waiting = store.parked(LayoutStore::claim_of("tasks", 3'600'000, 100'000'000));
    ASSERT_EQ(store.push("tasks", task, "", Due::after(Millis(60'000))).outcome, Outcome::pushed);
    options.clock->advance(60'000);
    const auto reply = waiting.get();
    ASSERT_TRUE(reply);
    EXPECT_EQ(LayoutStore::taken_in(std::get<core::ClaimReply>(*reply)).at(0).key, task);
  }
}

TEST_F(PlainLayout, TimesOver100YearsAwayAreRefused) {
  LayoutStore store(plain());
  const Due far = Due::at(Time(Millis(now_ms() + 3'155'760'000'000 + 60'000)));
  const auto pushed = store.push("tasks", "far", "", far);
  ASSERT_TRUE(pushed.error);
  EXPECT_NE(pushed.error->message.find("100 years"), std::string::npos) << pushed.error->message;
  ASSERT_EQ(redis({"ZADD", "tasks", "1", "a"}), "1");
  const auto moved = store.reschedule("tasks", "a", far);
  ASSERT_TRUE(moved.error);
  EXPECT_NE(moved.error->message.find("100 years"), std::string::npos) << moved.error->message;
  EXPECT_EQ(score("tasks", "a"), "1");
  EXPECT_EQ(redis({"ZCARD", "tasks"}), "1");
}

TEST_F(PlainLayout, WaitingClaimsAreEachServedWithdrawnOrClosed) {
  auto store = std::make_unique<LayoutStore>(plain());
  auto one = store->parked(LayoutStore::claim_of("tasks", kLong, 30'000, 1));
  auto two = store->submit(LayoutStore::claim_of("tasks", kLong, 30'000, 1));
  (void)store->push("tasks", "a");
  (void)store->push("tasks", "b");
  EXPECT_EQ(std::get<core::ClaimReply>(*one.get()).items.size(), 1u);
  EXPECT_EQ(std::get<core::ClaimReply>(*two.get()).items.size(), 1u);
  EXPECT_TRUE(store->claim("tasks", 5).empty());  // the wait ends
  auto closed = store->parked(LayoutStore::claim_of("tasks", kLong));
  store->close();
  const auto reply = closed.get();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::closed);
}

TEST_F(PlainLayout, SecondsAreSeconds) {
  LayoutStore store(plain("tasks", true));
  const std::int64_t second = now_ms() / 1000;
  ASSERT_EQ(redis({"ZADD", "tasks", std::to_string(second - 10), "past",
                   std::to_string(second + 3600), "future"}),
            "2");
  const auto taken = store.claim("tasks");
  ASSERT_EQ(keys_of(taken), std::vector<std::string>{"past"});
  EXPECT_EQ(taken[0].due_ms, (second - 10) * 1000);
  EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::done);
  const auto pushed = store.push("tasks", "mine", "", Due::after(Millis(90'500)));
  EXPECT_EQ(score("tasks", "mine"), std::to_string(pushed.due_ms / 1000));
  EXPECT_EQ(pushed.due_ms % 1000, 0);
  EXPECT_GE(pushed.due_ms, second * 1000 + 90'500);
  EXPECT_EQ(store.push("tasks", "now").outcome, Outcome::pushed);
  EXPECT_EQ(keys_of(store.claim("tasks")), std::vector<std::string>{"now"});
}

TEST_F(PlainLayout, ManyKeysAreOneQueueWhereverOthersPutThings) {
  LayoutStore store(plain("dq:{0..4}"));
  std::set<std::string> wanted;
  for (int i = 0; i < 5; ++i) {
    const std::string member = "foreign" + std::to_string(i);
    ASSERT_EQ(redis({"ZADD", "dq:" + std::to_string(i), "1", member}), "1");
    wanted.insert(member);
  }
  for (int i = 0; i < 40; ++i) {
    const std::string member = "ours" + std::to_string(i);
    ASSERT_EQ(store.push("dq", member).outcome, Outcome::pushed);
    wanted.insert(member);
  }
  for (int i = 0; i < 5; ++i) EXPECT_NE(redis({"ZCARD", "dq:" + std::to_string(i)}), "1");
  EXPECT_EQ(store.push("dq", "foreign3").outcome, Outcome::exists);
  EXPECT_EQ(store.cancel("dq", "foreign4").outcome, Outcome::cancelled);
  wanted.erase("foreign4");
  EXPECT_EQ(store.list("dq", 7).size(), wanted.size());
  EXPECT_EQ(store.stats("dq").ready, wanted.size());
  std::set<std::string> got;
  while (true) {
    const auto taken = store.claim(LayoutStore::claim_of("dq", 0, 30'000, 7));
    if (taken.empty()) break;
    for (const Taken& each : taken) {
      EXPECT_TRUE(got.insert(each.key).second) << each.key;
      EXPECT_EQ(store.settle(each.receipt).outcome, Outcome::done);
    }
  }
  EXPECT_EQ(got, wanted);
}

TEST_F(PlainLayout, ClaimsAreBoundedByMessagesAndBytes) {
  LayoutStore store(plain());
  for (int i = 0; i < 700; ++i) {
    core::PushRequest push = LayoutStore::push_of("tasks", std::to_string(i));
    ASSERT_EQ(store.push(std::move(push)).outcome, Outcome::pushed);
  }
  EXPECT_EQ(store.claim(LayoutStore::claim_of("tasks", 0, 30'000, 650)).size(), 650u);
  EXPECT_EQ(store.claim(LayoutStore::claim_of("tasks", 0, 30'000, 1'000)).size(), 50u);
  const std::string large(100'000, 'x');
  for (const std::string end : {"a", "b", "c"}) {
    ASSERT_EQ(redis({"ZADD", "large", "1", large + end}), "1");
  }
  core::ClaimRequest claim = LayoutStore::claim_of("large");
  claim.max_bytes = 250'000;
  EXPECT_EQ(store.claim(claim).size(), 2u);
  claim.max_bytes = 1;
  EXPECT_EQ(store.claim(claim).size(), 1u);
}

TEST_F(PlainLayout, LongMembersAreHandedOutUnderAChecksum) {
  LayoutStore store(plain());
  const std::string member(600, 'x');
  ASSERT_EQ(redis({"ZADD", "tasks", "1", member, "2", ""}), "2");
  const auto taken = store.claim("tasks");
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].payload, member);
  EXPECT_TRUE(taken[0].key.starts_with("sha1:")) << taken[0].key;
  EXPECT_EQ(taken[1].payload, "");
  EXPECT_EQ(taken[1].key, "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709");
  const auto cancelled = store.cancel("tasks", taken[0].key);
  ASSERT_TRUE(cancelled.error);
  EXPECT_EQ(cancelled.error->code, ErrorCode::unsupported);
  for (const Taken& each : taken) EXPECT_EQ(store.settle(each.receipt).outcome, Outcome::done);
  EXPECT_EQ(redis({"EXISTS", "tasks"}), "0");
}

TEST_F(PlainLayout, ByKeyIsByMember) {
  LayoutStore store(plain());
  ASSERT_EQ(redis({"ZADD", "tasks", "1", "a", "2", "b", "4000000000000", "later"}), "3");
  core::ClaimRequest claim = LayoutStore::claim_of("tasks");
  claim.keys = {"b", "later", "none"};
  EXPECT_EQ(keys_of(store.claim(claim)), std::vector<std::string>{"b"});
  claim.any_state = true;
  const auto taken = store.claim(claim);
  ASSERT_EQ(keys_of(taken), std::vector<std::string>{"later"});
  EXPECT_EQ(store.settle(taken[0].receipt, SettleAction::release).outcome, Outcome::done);
  EXPECT_EQ(score("tasks", "later"), "4000000000000");
  EXPECT_EQ(store.settle(store.claim(claim).at(0).receipt, SettleAction::move_away).outcome,
            Outcome::done);
  EXPECT_EQ(score("tasks", "later"), "");
  // A claim that waits for a key is served when a message with that key is pushed.
  claim.keys = {"soon"};
  claim.any_state = false;
  claim.wait = Millis(kLong);
  auto waiting = store.parked(claim);
  ASSERT_EQ(redis({"ZADD", "tasks", "1", "soon"}), "1");
  const auto reply = waiting.get();
  ASSERT_TRUE(reply);
  EXPECT_EQ(LayoutStore::taken_in(std::get<core::ClaimReply>(*reply)).at(0).key, "soon");
}

// An overdue message of another key must not make a claim by key look again and again.
TEST_F(PlainLayout, AClaimByKeyDoesNotLookForWhatOthersLeaveOverdue) {
  LayoutStore store(plain());
  ASSERT_EQ(redis({"ZADD", "tasks", "1", "overdue", "4000000000000", "mine"}), "2");
  ASSERT_EQ(redis({"CONFIG", "RESETSTAT"}), "OK");
  core::ClaimRequest claim = LayoutStore::claim_of("tasks", 1'500);
  claim.keys = {"mine"};
  EXPECT_TRUE(store.claim(claim).empty());
  // The claim looks once a second.
  const std::string stats = server().ask({"INFO", "commandstats"});
  const std::string_view calls = "cmdstat_evalsha:calls=";
  ASSERT_NE(stats.find(calls), std::string::npos);
  EXPECT_LE(std::stoi(stats.substr(stats.find(calls) + calls.size())), 5);
}

// A producer that counts in seconds pushes the member again, for the second in which a lease ends.
TEST_F(PlainLayout, ALeaseInSecondsIsToldFromAPushForThatSecond) {
  LayoutStore store(plain("tasks", true));
  for (const bool later : {false, true}) {
    ASSERT_NE(redis({"ZADD", "tasks", "1", "task"}), "");
    const auto taken = store.claim("tasks");
    ASSERT_EQ(taken.size(), 1u);
    const std::string leased = score("tasks", "task");
    const std::int64_t second = std::stoll(leased) + (later ? 1 : 0);
    ASSERT_EQ(redis({"ZADD", "tasks", std::to_string(second), "task"}), "0");
    EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::stale) << leased;
    EXPECT_EQ(score("tasks", "task"), std::to_string(second));
  }
}

TEST_F(PlainLayout, ALeaseInSecondsIsNoShorterThanAsked) {
  LayoutStore store(plain("tasks", true));
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(redis({"ZADD", "tasks", "1", "task" + std::to_string(i)}), "1");
    const auto reply = store.ask<core::ClaimReply>(LayoutStore::claim_of("tasks", 0, 2'300));
    ASSERT_EQ(reply.items.size(), 1u);
    EXPECT_GE(reply.items[0].lease_ms, 2'300);
    EXPECT_LE(reply.items[0].lease_ms, 4'300);
  }
}

TEST_F(PlainLayout, ListTellsEveryMessageOnceInPagesOfAnySize) {
  LayoutStore store(plain());
  for (int i = 0; i < 25; ++i) {
    // Many messages have the same score.
    ASSERT_EQ(redis({"ZADD", "tasks", std::to_string(i / 10), "k" + std::to_string(i)}), "1");
  }
  ASSERT_EQ(redis({"ZADD", "tasks", "4000000000000", "later"}), "1");
  for (const std::uint32_t page : {1u, 3u, 10u, 26u, 100u}) {
    std::set<std::string> keys;
    for (const MessageInfo& info : store.list("tasks", page)) {
      EXPECT_TRUE(keys.insert(info.key).second) << info.key;
    }
    EXPECT_EQ(keys.size(), 26u) << page;
  }
  EXPECT_EQ(store.list("tasks", 3, State::scheduled).size(), 1u);
  EXPECT_EQ(store.list("tasks", 3, State::ready).size(), 25u);
  EXPECT_EQ(store.list("tasks", 3, {}, "k1").size(), 11u);
  ASSERT_EQ(store.claim("tasks").size(), 10u);
  EXPECT_EQ(store.list("tasks", 4, State::leased).size(), 10u);
  const QueueStats stats = store.stats("tasks");
  EXPECT_EQ(stats.ready, 15u);
  EXPECT_EQ(stats.scheduled, 11u);  // a lease is a score like others
  ASSERT_TRUE(stats.oldest_ready);
  core::ListRequest bad;
  bad.queue = "tasks";
  bad.after = "nonsense";
  EXPECT_EQ(store.refusal(bad).code, ErrorCode::invalid_argument);
}

TEST_F(PlainLayout, PurgeTakesWhatIsNotLeased) {
  LayoutStore store(plain());
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(redis({"ZADD", "tasks", std::to_string(i), "k" + std::to_string(i)}), "1");
  }
  const auto taken = store.claim(LayoutStore::claim_of("tasks", 0, 30'000, 5));
  core::PurgeRequest purge;
  purge.queue = "tasks";
  EXPECT_EQ(store.ask<core::CountReply>(purge).count, 7u);
  EXPECT_EQ(redis({"ZCARD", "tasks"}), "5");
  for (const Taken& each : taken) EXPECT_EQ(store.settle(each.receipt).outcome, Outcome::done);
}

TEST_F(PlainLayout, WhatTheKeysCannotExpressIsRefusedByName) {
  LayoutStore store(plain());
  struct Case {
    core::PushRequest push;
    std::string_view names;
  };
  std::vector<Case> cases;
  cases.push_back({LayoutStore::push_of("tasks", "p", "other"), "key \"other\""});
  cases.push_back({LayoutStore::push_of("tasks", "p"), "priority 7"});
  cases.back().push.items[0].priority = 7;
  cases.push_back({LayoutStore::push_of("tasks", "p"), "max_attempts 3"});
  cases.back().push.items[0].max_attempts = 3;
  cases.push_back({LayoutStore::push_of("tasks", "p"), "headers"});
  cases.back().push.items[0].headers =
      core::append(cases.back().push.bytes, std::string_view("\1\0a\1\0b", 6));
  for (Case& each : cases) {
    const auto pushed = store.push(std::move(each.push));
    ASSERT_TRUE(pushed.error) << each.names;
    EXPECT_EQ(pushed.error->code, ErrorCode::unsupported) << pushed.error->message;
    EXPECT_NE(pushed.error->message.find(each.names), std::string::npos) << pushed.error->message;
    EXPECT_NE(pushed.error->message.find("layout plain"), std::string::npos);
  }
  const auto empty = store.push("tasks", "");
  ASSERT_TRUE(empty.error);
  EXPECT_EQ(empty.error->code, ErrorCode::invalid_argument);
  EXPECT_EQ(redis({"EXISTS", "tasks"}), "0");

  ASSERT_EQ(redis({"ZADD", "tasks", "1", "a"}), "1");
  const auto taken = store.claim("tasks");
  const auto buried = store.settle(taken.at(0).receipt, SettleAction::bury);
  ASSERT_TRUE(buried.error);
  EXPECT_EQ(buried.error->code, ErrorCode::unsupported);
  core::ConfigureRequest configure;
  configure.queue = "tasks";
  EXPECT_EQ(store.ask<core::ConfigureReply>(configure).settings, QueueSettings());
  configure.patch.max_attempts = 10;
  EXPECT_EQ(store.ask<core::ConfigureReply>(configure).settings, QueueSettings());
  configure.patch.max_attempts = 3;
  core::PauseRequest pause;
  pause.queue = "tasks";
  core::ReviveRequest revive;
  revive.queue = "tasks";
  revive.all = true;
  core::MoveRequest move;
  move.queue = "tasks";
  move.items.emplace_back();
  for (const core::Request& request :
       std::initializer_list<core::Request>{configure, pause, revive, move}) {
    const Error error = store.refusal(request);
    EXPECT_EQ(error.code, ErrorCode::unsupported) << error.message;
    EXPECT_NE(error.message.find("layout plain"), std::string::npos) << error.message;
  }
}

// Each span holds the messages due after its beginning, its end included; also for scores that are
// seconds and fractions, in many sets, and if one call does not return all.
TEST_F(PlainLayout, AForecastCountsByTheScores) {
  for (const bool seconds : {false, true}) {
    (void)server().ask({"FLUSHALL"});
    LayoutSpec spec;
    spec.zset = "t{0..255}";
    spec.queue = "tasks";
    spec.seconds = seconds;
    LayoutEngineOptions options = options_of(spec);
    options.clock = std::make_shared<timing::ManualClock>();
    const std::int64_t now = options.clock->now().realtime_ms;
    const auto score = [&](std::int64_t due_ms) {
      const std::string text = std::to_string(due_ms);
      if (!seconds) return text;
      return text.substr(0, text.size() - 3) + "." + text.substr(text.size() - 3);
    };
    LayoutStore store(std::move(options));
    constexpr std::int64_t kWidth = 60'000;
    constexpr std::size_t kSpans = 50;
    std::vector<std::uint64_t> expected(kSpans);
    int i = 0;
    const auto add = [&](std::int64_t due_ms) {
      (void)redis({"ZADD", "t" + std::to_string(i % 256), score(due_ms), "m" + std::to_string(i)});
      ++i;
    };
    for (std::size_t span = 0; span < kSpans; span += 3) {
      const std::int64_t begin = now + static_cast<std::int64_t>(span) * kWidth;
      add(begin + 1'000);
      add(begin + kWidth);
      expected[span] += 2;
    }
    add(now);
    add(now - 5'000);
    add(now + static_cast<std::int64_t>(kSpans) * kWidth + 1'000);
    core::ForecastRequest forecast;
    forecast.queue = "tasks";
    forecast.width = Millis(kWidth);
    forecast.buckets = kSpans;
    const auto reply = store.ask<core::ForecastReply>(forecast);
    EXPECT_EQ(reply.due_now, 2u) << seconds;
    EXPECT_EQ(reply.later, 1u) << seconds;
    EXPECT_EQ(reply.buckets, expected) << seconds;
  }
}

// A message that lives in another store now is removed if it is unchanged, and is counted.
TEST_F(PlainLayout, WhatIsMovedAwayMustBeAsItWasSeen) {
  LayoutStore store(plain());
  for (const char* key : {"same", "moved", "leased", "over"}) {
    ASSERT_EQ(redis({"ZADD", "tasks", "1900000000000", key}), "1");
  }
  ASSERT_EQ(redis({"ZADD", "tasks", "1900000000001", "moved"}), "0");
  ASSERT_EQ(redis({"ZADD", "tasks", "1", "leased"}), "0");
  ASSERT_EQ(store.claim("tasks").at(0).key, "leased");
  core::CancelRequest away;
  away.queue = "tasks";
  for (const char* key : {"same", "moved", "leased", "nobody"}) {
    away.keys.push_back(core::append(away.bytes, key));
    away.seen.push_back({0, 1'900'000'000'000, kDefaultPriority, 0, false});
  }
  const auto reply = store.ask<core::ItemsReply>(away);
  const std::vector<Outcome> outcomes = {Outcome::done, Outcome::kept, Outcome::in_flight,
                                         Outcome::unknown};
  ASSERT_EQ(reply.items.size(), outcomes.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(reply.items[i].outcome, outcomes[i]) << i;
  }
  EXPECT_EQ(store.stats("tasks").counters.moved_away, 1u);
  EXPECT_EQ(redis({"ZCARD", "tasks"}), "3");
}

TEST_F(PlainLayout, KeysOfAnotherTypeAreNamedAndLeftAlone) {
  ASSERT_EQ(redis({"RPUSH", "tasks", "mine"}), "1");
  LayoutStore store(plain());
  const auto pushed = store.push("tasks", "p");
  ASSERT_TRUE(pushed.error);
  EXPECT_EQ(pushed.error->code, ErrorCode::damaged);
  EXPECT_NE(pushed.error->message.find("tasks is a list"), std::string::npos)
      << pushed.error->message;
  const Error claimed = store.refusal(LayoutStore::claim_of("tasks"));
  EXPECT_EQ(claimed.code, ErrorCode::damaged) << claimed.message;
  EXPECT_EQ(redis({"LLEN", "tasks"}), "1");
}

TEST_F(PlainLayout, ScriptsThatTheServerForgotAreGivenAgain) {
  LayoutStore store(plain());
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(redis({"SCRIPT", "FLUSH"}), "OK");
    ASSERT_EQ(store.push("tasks", std::to_string(i)).outcome, Outcome::pushed);
    ASSERT_EQ(redis({"SCRIPT", "FLUSH"}), "OK");
    EXPECT_EQ(store.claim("tasks").size(), 1u);
  }
}

TEST(PlainLayoutAlone, AFullServerTakesNoPushesAndEverythingThatFrees) {
  tarry::testing::RedisServer full;
  LayoutEngineOptions options;
  options.server.unix_path = full.socket_path();
  LayoutStore store(options);
  for (const std::string key : {"a", "b", "c", "d"}) {
    ASSERT_EQ(store.push("tasks", key).outcome, Outcome::pushed);
  }
  ASSERT_EQ(full.ask({"CONFIG", "SET", "maxmemory", "1"}), "+OK\r\n");
  const auto refused = store.push("tasks", "e");
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code, ErrorCode::no_space) << refused.error->message;
  EXPECT_EQ(store.cancel("tasks", "d").outcome, Outcome::cancelled);
  const auto taken = store.claim("tasks");
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::done);
  EXPECT_EQ(store.settle(taken[1].receipt, SettleAction::release).outcome, Outcome::done);
  EXPECT_EQ(store.extend(taken[2].receipt, 60'000).outcome, Outcome::done);
  EXPECT_EQ(full.ask({"ZCARD", "tasks"}), ":2\r\n");
}

TEST(PlainLayoutAlone, EvictionIsRefusedAtTheStart) {
  tarry::testing::RedisServer evicting({"--maxmemory-policy", "allkeys-lru"});
  LayoutEngineOptions options;
  options.server.unix_path = evicting.socket_path();
  const auto refused = open_layout(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  options.allow_eviction = true;
  EXPECT_TRUE(open_layout(options));
}

// Scores in seconds that are read as milliseconds would all be due. Scores in milliseconds that are
// read as seconds would never be due.
TEST_F(PlainLayout, AScoreThatCanOnlyBeInTheOtherUnitIsRefusedAtTheClaim) {
  for (const bool seconds : {false, true}) {
    (void)server().ask({"FLUSHALL"});
    LayoutSpec spec;
    spec.zset = "delayqueue";
    spec.seconds = seconds;
    LayoutStore store(options_of(spec));
    const std::string wrong = seconds ? "1700000000000" : "1700000000";
    ASSERT_EQ(redis({"ZADD", "delayqueue", wrong, "task:1"}), "1");
    for (const std::int64_t wait : {0, 60'000}) {
      const Error refused = store.refusal(LayoutStore::claim_of("delayqueue", wait));
      EXPECT_EQ(refused.code, ErrorCode::invalid_argument);
      EXPECT_NE(refused.message.find(wrong), std::string::npos) << refused.message;
      EXPECT_NE(refused.message.find(seconds ? "unit=ms," : "unit=s,"), std::string::npos)
          << refused.message;
    }
    auto by_key = LayoutStore::claim_of("delayqueue");
    by_key.keys = {"task:1"};
    by_key.any_state = true;
    EXPECT_EQ(store.refusal(by_key).code, ErrorCode::invalid_argument);
    EXPECT_EQ(store.get("delayqueue", "task:1").error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(redis({"ZSCORE", "delayqueue", "task:1"}), wrong) << "it is left as it was";
    // Other messages are still delivered, and the log reports the wrong score.
    ASSERT_EQ(
        redis({"ZADD", "delayqueue", "0", "now", seconds ? "1700000000" : "1700000000000", "good"}),
        "2");
    EXPECT_EQ(store.claim("delayqueue").size(), 2u);
    bool told = false;
    for (const std::string& line : store.lines()) told = told || line.find(wrong) != line.npos;
    EXPECT_TRUE(told);
    // In the right unit the message is due.
    spec.seconds = !seconds;
    LayoutStore right(options_of(spec));
    bool taken = false;
    for (const Taken& each : right.claim("delayqueue")) taken = taken || each.key == "task:1";
    EXPECT_TRUE(taken);
  }
}

}  // namespace
}  // namespace tarry::redis
