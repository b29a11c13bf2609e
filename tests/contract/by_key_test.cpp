// Verbs that only the engine's contract has: claims by key, Move, and the end of a claim by
// migration.
#include "contract.h"
#include "core/engine_parts/carried.h"
#include "core/rules/headers.h"

namespace tarry::contract {
namespace {

class ByKey : public Contract {
 protected:
  static constexpr std::int64_t kPushedThere = 1'700'000'012'345;

  core::Reply ask(core::Request request) {
    return must(submit(rig().engine(), std::move(request)));
  }

  std::vector<Delivery> claim_keys(std::vector<std::string> keys, bool any_state = false) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.keys = std::move(keys);
    request.any_state = any_state;
    request.max = 100;
    request.lease = kLongLease;
    return deliveries(ask(std::move(request)));
  }

  static core::MoveItem item(core::MoveRequest& request, std::string_view key, Due due) {
    core::MoveItem moved;
    moved.push.key = core::append(request.bytes, key);
    moved.push.payload = core::append(request.bytes, "moved payload");
    moved.push.headers =
        core::append(request.bytes, must(core::encode_headers({{"Age", "moved"}})));
    moved.push.due = due;
    moved.push.priority = 5;
    moved.attempt = 3;
    moved.pushed_ms = kPushedThere;
    moved.tallies = {.claims = 6, .run_outs = 2, .releases = 3, .buries = 1, .revives = 1};
    return moved;
  }
};
TARRY_ON_ALL_ENGINES(ByKey);

TEST_P(ByKey, AClaimTakesThoseNamedThatAreDue) {
  const Queue q = queue();
  for (const char* key : {"a", "b", "c"}) (void)must(q.push({.key = key, .payload = key}));
  (void)must(q.push({.key = "later", .payload = "x", .due = in(1h)}));
  const auto claimed = claim_keys({"c", "later", "missing", "a"});
  EXPECT_EQ(key_set(claimed), (std::multiset<std::string>{"a", "c"}));
  EXPECT_EQ(key_set(claim_all(q)), std::multiset<std::string>{"b"});
  for (const Delivery& delivery : claimed) {
    EXPECT_EQ(delivery.key(), delivery.payload());
    EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
  }
}

TEST_P(ByKey, AClaimOfAnyStateTakesTheScheduledAndTheDeadToo) {
  const Queue q = queue();
  (void)put(q, clock(), "leased", Place::leased);
  (void)put(q, clock(), "acked", Place::acked);
  const Placed dead = put(q, clock(), "dead", Place::dead);
  (void)must(q.push({.key = "later", .payload = "x", .due = in(10h)}));
  const auto claimed = claim_keys({"dead", "later", "leased", "acked"}, true);
  EXPECT_EQ(key_set(claimed), (std::multiset<std::string>{"dead", "later"}));
  for (const Delivery& delivery : claimed) {
    EXPECT_EQ(find(q, delivery.key())->state, State::leased);
    EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
    EXPECT_EQ(must(q.cancel(delivery.key())), Outcome::settled);
  }
  EXPECT_EQ(find(q, "leased")->state, State::leased);
}

TEST_P(ByKey, AClaimOfTheSameKeyTwiceTakesItOnce) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  const auto claimed = claim_keys({"k", "k"});
  EXPECT_EQ(claimed.size(), 1u);
}

// Other ready messages of the queue do not concern this claim.
TEST_P(ByKey, AClaimThatWaitsForAKeyWaitsUntilThatKeyIsDue) {
  const Queue q = queue();
  (void)must(q.push({.key = "now", .payload = "x"}));
  (void)must(q.push({.key = "later", .payload = "x", .due = in(5min)}));
  core::ClaimRequest request;
  request.queues = {"q"};
  request.keys = {"later"};
  request.max = 10;
  request.lease = kLongLease;
  request.wait = 30min;
  core::Ticket ticket = 0;
  const auto waiting = submit_async(rig().engine(), std::move(request), ticket);
  // Wait until the claim waits. If it was answered at once instead, the checks below show the
  // answer.
  wait_until("the claim waits",
             [&] { return waiting.ready() || must(q.stats()).waiting_claims >= 1; });
  clock().advance(5min - 1ms);
  (void)must(q.push({.key = "another", .payload = "x"}));
  (void)must(q.stats());
  EXPECT_FALSE(waiting.ready());
  clock().advance(1ms);
  EXPECT_EQ(keys_of(deliveries(must(waiting.get()))), std::vector<std::string>{"later"});
  EXPECT_EQ(key_set(claim_all(q)), (std::multiset<std::string>{"another", "now"}));
}

TEST_P(ByKey, AClaimThatWaitsForAKeyLetsTheOthersBy) {
  const Queue q = queue();
  (void)must(q.push({.key = "later", .payload = "x", .due = in(5min)}));
  core::ClaimRequest request;
  request.queues = {"q"};
  request.keys = {"later"};
  request.lease = kLongLease;
  request.wait = 30min;
  core::Ticket ticket = 0;
  const auto by_key = submit_async(rig().engine(), std::move(request), ticket);
  await_waiting(q, 1);
  const auto other = waiting_claim(q, {.max = 10, .lease = kLongLease, .wait = 30min});
  (void)must(q.push({.key = "now", .payload = "x"}));
  EXPECT_EQ(keys_of(must(other.get())), std::vector<std::string>{"now"});
  EXPECT_FALSE(by_key.ready());
  clock().advance(5min);
  EXPECT_EQ(keys_of(deliveries(must(by_key.get()))), std::vector<std::string>{"later"});
}

TEST_P(ByKey, AReleasedScheduledOneIsScheduledAgain) {
  const Queue q = queue();
  const Pushed pushed = must(q.push({.key = "k", .payload = "x", .due = in(1h)}));
  const auto claimed = claim_keys({"k"}, true);
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(must(q.release(claimed.at(0).receipt())), Outcome::done);
  const MessageInfo info = find(q, "k").value();
  EXPECT_EQ(info.state, State::scheduled);
  EXPECT_EQ(info.attempt, 0u);
  EXPECT_EQ(info.due, pushed.due);
  EXPECT_TRUE(nothing_due(q));
}

TEST_P(ByKey, AMoveKeepsWhatTheMessageHasBeenThrough) {
  const Queue q = queue();
  core::MoveRequest request;
  request.queue = "q";
  request.items.push_back(item(request, "k", in(1h)));
  const Tallies before = request.items[0].tallies;
  const auto reply = ask(std::move(request));
  const auto& moved = std::get<core::PushReply>(reply);
  ASSERT_EQ(moved.items.size(), 1u);
  ASSERT_FALSE(moved.items[0].error);
  EXPECT_EQ(moved.items[0].outcome, Outcome::pushed);
  EXPECT_EQ(core::view(moved.bytes, moved.items[0].key), "k");

  const MessageInfo info = find(q, "k").value();
  EXPECT_EQ(info.id, moved.items[0].id);
  EXPECT_EQ(info.state, State::scheduled);
  EXPECT_EQ(ms(info.due), now_ms() + 3'600'000);
  EXPECT_EQ(info.attempt, 3u);
  EXPECT_EQ(info.priority, 5u);
  EXPECT_EQ(info.tallies, before);
  EXPECT_EQ(info.pushed, rig().kept_push_time(kPushedThere));
  EXPECT_EQ(info.payload, "moved payload");
  EXPECT_EQ(info.headers, (Headers{{"Age", "moved"}}));
  EXPECT_EQ(must(q.stats()).counters.accepted, 1u);

  clock().advance(1h);
  const Delivery delivery = claim_one(q);
  EXPECT_EQ(delivery.attempt(), 4u);
  EXPECT_EQ(delivery.tallies().claims, 7u);
  EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
}

// The tallies are limited, so that another store accepts what this one exports.
TEST_P(ByKey, AMoveOfTheMostThatIsCountedIsNotCountedBeyond) {
  const Queue q = queue();
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  core::MoveRequest request;
  request.queue = "q";
  core::MoveItem last = item(request, "k", in(0ms));
  last.attempt = core::kMaxAttempts;
  last.tallies = {
      .claims = kMost, .run_outs = kMost, .releases = kMost, .buries = kMost, .revives = kMost};
  request.items.push_back(last);
  ask(std::move(request));
  Tallies tallies{.claims = core::kMaxTally,
                  .run_outs = core::kMaxTally,
                  .releases = core::kMaxTally,
                  .buries = core::kMaxTally,
                  .revives = core::kMaxTally};
  EXPECT_EQ(find(q, "k")->tallies, tallies);

  const Delivery released = claim_one(q);
  EXPECT_EQ(released.attempt(), core::kMaxAttempts);
  EXPECT_EQ(find(q, "k")->attempt, core::kMaxAttempts);
  EXPECT_EQ(must(q.release(released.receipt())), Outcome::done);
  EXPECT_EQ(find(q, "k")->attempt, core::kMaxAttempts - 1);
  const Delivery retried = claim_one(q);
  EXPECT_EQ(retried.attempt(), core::kMaxAttempts);
  EXPECT_EQ(must(q.ack(released.receipt())), Outcome::stale);
  EXPECT_EQ(must(q.retry(retried.receipt())), Outcome::done);
  tallies.claims += 2;
  tallies.releases += 1;
  EXPECT_EQ(find(q, "k")->state, State::dead);
  EXPECT_EQ(find(q, "k")->tallies, tallies);

  request = {};
  request.queue = "q";
  last.push.key = core::append(request.bytes, "l");
  last.push.payload = {};
  last.push.headers = {};
  request.items.push_back(last);
  ask(std::move(request));
  const Delivery run_out = claim_one(q);
  clock().advance(kLongLease);
  EXPECT_EQ(find(q, "l")->attempt, core::kMaxAttempts);
  EXPECT_EQ(must(q.ack(run_out.receipt())), Outcome::stale);
}

TEST_P(ByKey, AMoveOfTheDeadIsDead) {
  const Queue q = queue();
  core::MoveRequest request;
  request.queue = "q";
  core::MoveItem dead = item(request, "k", at(clock().now() - 1h));
  dead.dead = true;
  dead.reason = core::append(request.bytes, "was dead there");
  dead.pushed_ms.reset();
  request.items.push_back(dead);
  const auto reply = ask(std::move(request));
  const MessageInfo info = find(q, "k").value();
  EXPECT_EQ(info.state, State::dead);
  EXPECT_EQ(info.reason, "was dead there");
  EXPECT_FALSE(info.pushed) << "what nobody knew is not made up";
  EXPECT_EQ(info.attempt, 3u);
  EXPECT_EQ(ms(info.kept_until.value()), now_ms() + QueueSettings{}.dead_keep.count());
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(must(q.revive()), 1u);
  EXPECT_EQ(claim_one(q).attempt(), 1u);
}

TEST_P(ByKey, AMoveOntoATakenKeyIsAnsweredAsAPushIs) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "here", .due = in(1h)}));
  core::MoveRequest request;
  request.queue = "q";
  request.items.push_back(item(request, "k", in(1h)));
  request.items.push_back(item(request, "l", in(1h)));
  const auto reply = ask(std::move(request));
  const auto& moved = std::get<core::PushReply>(reply);
  ASSERT_EQ(moved.items.size(), 2u);
  EXPECT_EQ(moved.items[0].outcome, Outcome::exists);
  EXPECT_EQ(moved.items[1].outcome, Outcome::pushed);
  EXPECT_EQ(find(q, "k")->payload, "here");
}

TEST_P(ByKey, MovedAwayIsGoneAndCountedAsThat) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  core::SettleRequest request;
  core::SettleItem away;
  away.receipt = core::append(request.bytes, claim_one(q).receipt());
  away.action = core::SettleAction::move_away;
  request.items.push_back(away);
  const auto reply = ask(std::move(request));
  const auto& items = std::get<core::ItemsReply>(reply).items;
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].outcome, Outcome::done);
  EXPECT_FALSE(find(q, "k"));
  EXPECT_EQ(must(q.stats()).counters.moved_away, 1u);
  EXPECT_EQ(must(q.stats()).counters.acked, 0u);
}

// A move never replaces an existing message, whatever rule the queue has for pushes.
TEST_P(ByKey, AMoveHasItsOwnRuleForATakenKey) {
  const Queue q = queue();
  for (const IfExists rule : {IfExists::keep, IfExists::replace, IfExists::earlier}) {
    (void)must(q.configure({.if_exists = rule}));
    const std::string name(to_string(rule));
    const Pushed here = must(q.push({.key = "k " + name, .payload = "here", .due = in(1h)}));
    (void)put(q, clock(), "dead " + name, Place::dead);
    core::MoveRequest request;
    request.queue = "q";
    request.items.push_back(item(request, "k " + name, in(1min)));
    request.items.push_back(item(request, "k " + name, in(1min)));
    request.items[1].push.if_exists = IfExists::keep;
    request.items.push_back(item(request, "dead " + name, in(1min)));
    const auto reply = ask(std::move(request));
    const auto& moved = std::get<core::PushReply>(reply).items;
    EXPECT_EQ(moved.at(0).outcome, Outcome::exists) << name;
    EXPECT_EQ(moved.at(1).outcome, Outcome::kept) << name;
    EXPECT_EQ(moved.at(2).outcome, Outcome::exists) << name;
    EXPECT_EQ(find(q, "k " + name)->payload, "here") << name;
    EXPECT_EQ(find(q, "k " + name)->due, here.due) << name;
    EXPECT_EQ(find(q, "dead " + name)->state, State::dead) << name;
  }
}

// These rules would replace or move the existing message, and the moved one's history would be
// lost.
TEST_P(ByKey, AMoveThatWouldTakeWhatIsThereIsRefused) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "here", .due = in(1h)}));
  (void)put(q, clock(), "dead", Place::dead);
  for (const IfExists rule : {IfExists::replace, IfExists::earlier, IfExists::later}) {
    core::MoveRequest request;
    request.queue = "q";
    for (const char* key : {"k", "dead", "new"}) {
      request.items.push_back(item(request, key, in(2h)));
      request.items.back().push.if_exists = rule;
    }
    const auto reply = ask(std::move(request));
    for (const core::PushResult& result : std::get<core::PushReply>(reply).items) {
      ASSERT_TRUE(result.error) << to_string(rule);
      EXPECT_EQ(result.error->code, ErrorCode::invalid_argument);
      EXPECT_NE(result.error->message.find("\"" + std::string(to_string(rule)) + "\""),
                std::string::npos)
          << result.error->message;
    }
  }
  EXPECT_EQ(find(q, "k")->payload, "here");
  EXPECT_EQ(find(q, "dead")->state, State::dead);
  EXPECT_FALSE(find(q, "new"));
}

core::Seen seen_of(const MessageInfo& info) {
  return {info.id, ms(info.due), info.priority, info.tallies.claims, info.state == State::dead};
}

TEST_P(ByKey, WhatStillIsAsItWasSeenIsMovedAwayByItsKey) {
  const Queue q = queue();
  (void)put(q, clock(), "dead", Place::dead);
  (void)put(q, clock(), "acked", Place::acked);
  (void)put(q, clock(), "leased", Place::leased);
  (void)must(q.push({.key = "tried", .payload = "x", .priority = 7}));
  (void)must(q.release(claim_one(q).receipt()));
  (void)must(q.push({.key = "later", .payload = "x", .due = in(10h), .priority = 5}));
  for (const char* key : {"rescheduled", "replaced", "claimed", "gone"}) {
    (void)must(q.push({.key = key, .payload = "x", .due = in(10h)}));
  }
  const std::vector<std::string> keys = {"dead",        "tried",    "later",   "acked", "leased",
                                         "rescheduled", "replaced", "claimed", "gone"};
  core::CancelRequest request;
  request.queue = "q";
  for (const std::string& key : keys) {
    request.keys.push_back(core::append(request.bytes, key));
    request.seen.push_back(seen_of(*find(q, key)));
  }
  (void)must(q.reschedule("rescheduled", in(11h)));
  (void)must(
      q.push({.key = "replaced", .payload = "y", .due = in(10h), .if_exists = IfExists::replace}));
  const auto claimed = claim_keys({"claimed"}, true);
  (void)must(q.release(claimed.at(0).receipt()));
  (void)must(q.cancel("gone"));

  const auto reply = ask(std::move(request));
  const auto& items = std::get<core::ItemsReply>(reply).items;
  ASSERT_EQ(items.size(), keys.size());
  const std::vector<Outcome> expected = {Outcome::done,    Outcome::done,      Outcome::done,
                                         Outcome::settled, Outcome::in_flight, Outcome::kept,
                                         Outcome::kept,    Outcome::kept,      Outcome::settled};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_FALSE(items[i].error) << keys[i];
    EXPECT_EQ(items[i].outcome, expected[i]) << keys[i];
    EXPECT_EQ(find(q, keys[i]).has_value(), expected[i] != Outcome::done) << keys[i];
  }
  EXPECT_FALSE(find(q, "leased")->stopping);
  const QueueStats stats = must(q.stats());
  EXPECT_EQ(stats.counters.moved_away, 3u);
  EXPECT_EQ(stats.counters.cancelled, 1u);
}

TEST_P(ByKey, WhatIsToldOfAMessageHasItsOwnMaxAttempts) {
  const Queue q = queue();
  (void)must(q.push({.key = "own", .payload = "x", .due = in(1h), .max_attempts = 3}));
  (void)must(q.push({.key = "queue's", .payload = "x", .due = in(1h)}));
  EXPECT_EQ(find(q, "own")->max_attempts, 3u);
  EXPECT_EQ(find(q, "queue's")->max_attempts, 0u);
  for (const MessageInfo& info : must(q.list()).messages) {
    EXPECT_EQ(info.max_attempts, info.key == "own" ? 3u : 0u);
  }
}

TEST_P(ByKey, AForecastCountsWhatFallsDueWhen) {
  const Queue q = queue();
  for (const int minutes : {1, 2, 2, 30, 90}) {
    (void)must(q.push({.payload = "x", .due = in(std::chrono::minutes(minutes))}));
  }
  (void)must(q.push({.payload = "x"}));
  const Forecast forecast = must(q.forecast({.width = 10min, .buckets = 6}));
  EXPECT_EQ(forecast.width, 10min);
  EXPECT_EQ(forecast.due_now, 1u);
  ASSERT_EQ(forecast.buckets.size(), 6u);
  EXPECT_EQ(forecast.buckets[0], 3u);
  EXPECT_EQ(forecast.later, 1u);
}

TEST_P(ByKey, AForecastBeginsWhenItIsAskedTo) {
  const Queue q = queue();
  const Time now = must(q.push({.payload = "x"})).due;
  const Time begin = std::chrono::floor<std::chrono::hours>(now);  // up to an hour ago
  for (const int hours : {2, 3, 3, 5, 9}) {
    (void)must(q.push({.payload = "x", .due = Due::at(begin + std::chrono::hours(hours))}));
  }
  const Forecast past = must(q.forecast({.width = 1h, .buckets = 6, .from = begin}));
  EXPECT_EQ(past.due_now, 1u);
  EXPECT_EQ(past.buckets, (std::vector<std::uint64_t>{0, 1, 2, 0, 1, 0}));
  EXPECT_EQ(past.later, 1u);
  EXPECT_EQ(past.from, begin);
  // A bucket includes its end, not its beginning.
  const Forecast early = must(q.forecast({.width = 1h, .buckets = 6, .from = begin - 1ms}));
  EXPECT_EQ(early.buckets, (std::vector<std::uint64_t>{0, 0, 1, 2, 0, 1}));
  const Forecast future = must(q.forecast({.width = 2h, .buckets = 2, .from = begin + 2h}));
  EXPECT_EQ(future.due_now, 2u);
  EXPECT_EQ(future.buckets, (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(future.later, 1u);
  const Forecast over = must(q.forecast({.width = 1ms, .buckets = 3, .from = Time(24h * 12'000)}));
  EXPECT_EQ(over.due_now, 1u);
  EXPECT_EQ(over.buckets, std::vector<std::uint64_t>(3, 0));
  EXPECT_EQ(over.later, 5u);
}

TEST_P(ByKey, AForecastOfManyBucketsIsWhole) {
  const Queue q = queue();
  constexpr std::size_t kEach = 7;  // seconds between two messages, so most buckets are empty
  constexpr std::size_t kCount = 1'201;
  std::vector<Push> messages;
  for (std::size_t i = 0; i < kCount; ++i) {
    Push& push = messages.emplace_back();
    push.payload = "x";
    push.due = in(std::chrono::milliseconds(i * kEach * 1'000 + 500));
    if (i % 3 == 0) push.priority = 5;
  }
  for (const auto& pushed : must(q.push(messages))) (void)must(pushed);
  const Forecast forecast = must(q.forecast({.width = 1s, .buckets = 10'000}));
  std::uint64_t sum = forecast.due_now + forecast.later;
  std::size_t filled = 0;
  for (const std::uint64_t count : forecast.buckets) {
    sum += count;
    filled += count > 0 ? 1 : 0;
  }
  EXPECT_EQ(sum, kCount);
  EXPECT_GE(filled, kCount - 1);  // one message may have fallen due meanwhile
}

TEST_P(ByKey, AForecastCountsWhatIsScheduledOrReadyAndNothingElse) {
  const Queue q = queue();
  const auto forecast = [&] { return must(q.forecast({.width = 1h, .buckets = 3})); };
  EXPECT_EQ(forecast().buckets, std::vector<std::uint64_t>(3, 0));
  for (const char* key : {"leased", "acked", "dead", "ready"}) {
    (void)must(q.push({.key = key, .payload = "x", .priority = *key == 'r' ? 2000u : 1000u}));
  }
  std::vector<Delivery> claimed;
  while (claimed.size() < 3) {
    for (const Delivery& delivery : must(q.claim({.max = 1}))) claimed.push_back(delivery);
  }
  for (const Delivery& delivery : claimed) {
    if (delivery.key() == "acked") (void)must(q.ack(delivery.receipt()));
    if (delivery.key() == "dead") (void)must(q.bury(delivery.receipt(), "no"));
  }
  (void)must(q.push({.key = "moved", .payload = "x", .due = in(30min)}));
  (void)must(q.push({.key = "cancelled", .payload = "x", .due = in(30min)}));
  (void)must(q.push({.key = "far", .payload = "x", .due = in(100h)}));
  (void)must(store().queue("other").push({.key = "k", .payload = "x", .due = in(30min)}));
  EXPECT_EQ(forecast().buckets, (std::vector<std::uint64_t>{2, 0, 0}));
  (void)must(q.reschedule("moved", in(150min)));
  (void)must(q.cancel("cancelled"));
  const Forecast then = forecast();
  EXPECT_EQ(then.due_now, 1u);
  EXPECT_EQ(then.buckets, (std::vector<std::uint64_t>{0, 0, 1}));
  EXPECT_EQ(then.later, 1u);
}

}  // namespace
}  // namespace tarry::contract
