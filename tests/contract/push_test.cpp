// DESIGN 3, the first row of the verb table: push, for every rule and every state of the message.
#include <tuple>

#include "contract.h"

namespace tarry::contract {
namespace {

// A rule and, if the answer depends on it, whether the new due time is earlier or later.
enum class Rule : std::uint8_t {
  reject,
  keep,
  replace,
  earlier_by_less,  // rule `earlier`; the new due time is before the existing one
  earlier_by_more,  // rule `earlier`; the new due time is after it
  later_by_less,
  later_by_more,
};
constexpr Rule kRules[] = {
    Rule::reject,          Rule::keep,          Rule::replace,      Rule::earlier_by_less,
    Rule::earlier_by_more, Rule::later_by_less, Rule::later_by_more};

std::string_view name_of(Rule rule) {
  switch (rule) {
    case Rule::reject: return "reject";
    case Rule::keep: return "keep";
    case Rule::replace: return "replace";
    case Rule::earlier_by_less: return "earlier_with_sooner";
    case Rule::earlier_by_more: return "earlier_with_later";
    case Rule::later_by_less: return "later_with_sooner";
    case Rule::later_by_more: return "later_with_later";
  }
  return "?";
}

IfExists if_exists(Rule rule) {
  switch (rule) {
    case Rule::reject: return IfExists::reject;
    case Rule::keep: return IfExists::keep;
    case Rule::replace: return IfExists::replace;
    case Rule::earlier_by_less:
    case Rule::earlier_by_more: return IfExists::earlier;
    case Rule::later_by_less:
    case Rule::later_by_more: return IfExists::later;
  }
  return IfExists::reject;
}

bool is_sooner(Rule rule) { return rule == Rule::earlier_by_less || rule == Rule::later_by_less; }

// The verb table itself.
Outcome expected(Rule rule, Place place) {
  switch (place) {
    case Place::absent: return Outcome::pushed;
    case Place::scheduled:
    case Place::ready:
      switch (rule) {
        case Rule::reject: return Outcome::exists;
        case Rule::replace: return Outcome::replaced;
        case Rule::earlier_by_less: return Outcome::moved;
        case Rule::keep:
        case Rule::earlier_by_more:
        case Rule::later_by_less: return Outcome::kept;
        case Rule::later_by_more: return Outcome::moved;
      }
      return Outcome::unknown;
    case Place::leased:
    case Place::stopping: return Outcome::in_flight;
    case Place::dead: return rule == Rule::replace ? Outcome::revived : Outcome::exists;
    case Place::acked:
    case Place::cancelled:
    case Place::withdrawn:
    case Place::discarded: return rule == Rule::replace ? Outcome::pushed : Outcome::settled;
  }
  return Outcome::unknown;
}

using PushCase = std::tuple<EngineSpec, Rule, Place>;

class PushCell : public OnRig, public testing::WithParamInterface<PushCase> {
 protected:
  PushCell() : OnRig(std::get<0>(GetParam())) {}
};

TEST_P(PushCell, AnswersAndActsAsTheTableSays) {
  const auto [engine, rule, place] = GetParam();
  const Outcome outcome = expected(rule, place);
  const Queue q = queue();
  const Placed placed = put(q, clock(), "k", place);
  const std::optional<MessageInfo> before = find(q, "k");
  const QueueStats stats_before = must(q.stats());

  const std::int64_t base = place == Place::absent ? now_ms() : placed.due_ms;
  const std::int64_t new_due = is_sooner(rule) ? base - 3'000 : base + 3'600'000;
  const Pushed pushed = must(q.push({.key = "k",
                                     .payload = "new payload",
                                     .due = at(Time(Millis(new_due))),
                                     .headers = {{"Age", "new"}},
                                     .priority = 3,
                                     .if_exists = if_exists(rule)}));
  EXPECT_EQ(pushed.outcome, outcome);
  EXPECT_EQ(pushed.key, "k");

  const std::optional<MessageInfo> after = find(q, "k");
  const QueueStats stats = must(q.stats());
  const bool is_new =
      outcome == Outcome::pushed || outcome == Outcome::replaced || outcome == Outcome::revived;
  const bool replaces = outcome == Outcome::replaced || outcome == Outcome::revived;
  EXPECT_EQ(stats.counters.accepted, stats_before.counters.accepted + (is_new ? 1 : 0));
  EXPECT_EQ(stats.counters.replaced, stats_before.counters.replaced + (replaces ? 1 : 0));

  if (is_new) {
    ASSERT_TRUE(after);
    EXPECT_NE(pushed.id, placed.id);
    EXPECT_EQ(after->id, pushed.id);
    EXPECT_EQ(ms(pushed.due), new_due);
    EXPECT_EQ(ms(after->due), new_due);
    EXPECT_EQ(after->state, new_due <= now_ms() ? State::ready : State::scheduled);
    EXPECT_EQ(after->attempt, 0u);
    EXPECT_EQ(after->priority, 3u);
    EXPECT_EQ(after->payload, "new payload");
    EXPECT_EQ(after->headers, (Headers{{"Age", "new"}}));
    EXPECT_EQ(after->reason, "");
    EXPECT_FALSE(after->settlement);
  } else if (outcome == Outcome::moved) {
    ASSERT_TRUE(after);
    EXPECT_EQ(pushed.id, placed.id);
    EXPECT_EQ(ms(pushed.due), new_due);
    MessageInfo moved = *before;
    moved.due = Time(Millis(new_due));
    moved.state = new_due <= now_ms() ? State::ready : State::scheduled;
    expect_same(moved, after);
  } else {
    expect_same(before, after);
    EXPECT_EQ(pushed.id, placed.id);
    EXPECT_EQ(ms(pushed.due), placed.due_ms);
  }

  // Whatever the push did, old receipts stay stale, and the live one stays valid.
  for (const std::string& receipt : placed.old_receipts) {
    EXPECT_EQ(must(q.ack(receipt)), Outcome::stale);
  }
  if (!placed.live.empty()) {
    EXPECT_EQ(must(q.ack(placed.live)), Outcome::done);
  }
  if (!placed.acked_by.empty()) {
    EXPECT_EQ(must(q.ack(placed.acked_by)), is_new ? Outcome::stale : Outcome::done);
  }
}

INSTANTIATE_TEST_SUITE_P(On, PushCell,
                         testing::Combine(testing::ValuesIn(all_engines()),
                                          testing::ValuesIn(kRules), testing::ValuesIn(kPlaces)),
                         [](const testing::TestParamInfo<PushCase>& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::string(name_of(std::get<1>(info.param))) + "_on_" +
                                  std::string(to_string(std::get<2>(info.param)));
                         });

class PushVerb : public Contract {};
TARRY_ON_ALL_ENGINES(PushVerb);

TEST_P(PushVerb, WithoutRuleFollowsTheQueue) {
  const Queue q = queue();
  (void)must(q.configure({.if_exists = IfExists::replace}));
  const Pushed first = must(q.push({.key = "k", .payload = "1"}));
  const Pushed second = must(q.push({.key = "k", .payload = "2"}));
  EXPECT_EQ(second.outcome, Outcome::replaced);
  EXPECT_NE(second.id, first.id);
  EXPECT_EQ(must(q.push({.key = "k", .payload = "3", .if_exists = IfExists::reject})).outcome,
            Outcome::exists);
  EXPECT_EQ(claim_one(q).payload(), "2");
}

TEST_P(PushVerb, NeitherEarlierNorLaterMovesToTheSameTime) {
  const Queue q = queue();
  const Pushed first = must(q.push({.key = "k", .payload = "x", .due = in(1h)}));
  for (const IfExists rule : {IfExists::earlier, IfExists::later}) {
    const Pushed again =
        must(q.push({.key = "k", .payload = "x", .due = at(first.due), .if_exists = rule}));
    EXPECT_EQ(again.outcome, Outcome::kept);
    EXPECT_EQ(again.due, first.due);
  }
  EXPECT_EQ(must(q.stats()).counters.reschedules, 0u);
}

TEST_P(PushVerb, EarlierAndLaterMoveByAMillisecond) {
  const Queue q = queue();
  const Pushed first = must(q.push({.key = "k", .payload = "x", .due = in(1h)}));
  const Pushed later = must(q.push(
      {.key = "k", .payload = "y", .due = at(first.due + 1ms), .if_exists = IfExists::later}));
  EXPECT_EQ(later.outcome, Outcome::moved);
  const Pushed earlier = must(
      q.push({.key = "k", .payload = "y", .due = at(first.due), .if_exists = IfExists::earlier}));
  EXPECT_EQ(earlier.outcome, Outcome::moved);
  EXPECT_EQ(earlier.id, first.id);
  clock().advance(1h);
  EXPECT_EQ(claim_one(q).payload(), "x");
}

TEST_P(PushVerb, MakesTheQueue) {
  EXPECT_TRUE(must(store().stats()).queues.empty());
  (void)must(queue("fresh").push({.payload = "x"}));
  const StoreStats stats = must(store().stats());
  ASSERT_EQ(stats.queues.size(), 1u);
  EXPECT_EQ(stats.queues[0].queue, "fresh");
  EXPECT_EQ(stats.queues[0].settings, QueueSettings{});
}

TEST_P(PushVerb, WithNoTimeIsDueNow) {
  const Pushed pushed = must(queue().push({.key = "k", .payload = "x"}));
  EXPECT_EQ(ms(pushed.due), now_ms());
  EXPECT_EQ(claim_one(queue()).key(), "k");
}

TEST_P(PushVerb, TheSameKeyInTwoQueuesIsTwoMessages) {
  EXPECT_EQ(must(queue("a").push({.key = "k", .payload = "a"})).outcome, Outcome::pushed);
  EXPECT_EQ(must(queue("b").push({.key = "k", .payload = "b"})).outcome, Outcome::pushed);
  EXPECT_EQ(must(queue("a").cancel("k")), Outcome::cancelled);
  EXPECT_EQ(claim_one(queue("b")).payload(), "b");
}

TEST_P(PushVerb, WithoutKeyGetsOneThatTheVerbsKnow) {
  const Queue q = queue();
  std::set<std::string> keys;
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 100; ++i) {
    const Pushed pushed = must(q.push({.payload = "x", .due = in(1h)}));
    EXPECT_EQ(pushed.outcome, Outcome::pushed);
    keys.insert(pushed.key);
    ids.insert(pushed.id);
  }
  EXPECT_EQ(keys.size(), 100u);
  EXPECT_EQ(ids.size(), 100u);
  for (const std::string& key : keys) {
    EXPECT_FALSE(key.empty());
    ASSERT_TRUE(find(q, key));
    EXPECT_EQ(find(q, key)->key, key);
    EXPECT_EQ(must(q.reschedule(key, in(2h))), Outcome::rescheduled);
  }
  EXPECT_EQ(must(q.push({.key = *keys.begin(), .payload = "y"})).outcome, Outcome::exists);
  for (const std::string& key : keys) EXPECT_EQ(must(q.cancel(key)), Outcome::cancelled);
  for (const std::string& key : keys) EXPECT_EQ(must(q.cancel(key)), Outcome::unknown);
}

TEST_P(PushVerb, AMadeKeyIsDeliveredAndRemembered) {
  const Queue q = queue();
  (void)must(q.configure({.remember = kRemember}));
  const Pushed pushed = must(q.push({.payload = "x"}));
  const Delivery delivery = claim_one(q);
  EXPECT_EQ(delivery.key(), pushed.key);
  EXPECT_EQ(delivery.id(), pushed.id);
  EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
  EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
  EXPECT_EQ(must(q.cancel(pushed.key)), Outcome::settled);
  const Pushed waiting = must(q.push({.payload = "x", .due = in(1h)}));
  EXPECT_EQ(must(q.cancel(waiting.key)), Outcome::cancelled);
  EXPECT_EQ(must(q.cancel(waiting.key)), Outcome::settled);
}

TEST_P(PushVerb, AMadeKeyOfOneQueueIsUnknownInAnother) {
  const Pushed pushed = must(queue("a").push({.payload = "x"}));
  EXPECT_EQ(must(queue("b").cancel(pushed.key)), Outcome::unknown);
  EXPECT_FALSE(find(queue("b"), pushed.key));
  EXPECT_EQ(must(queue("a").cancel(pushed.key)), Outcome::cancelled);
}

TEST_P(PushVerb, IdsAreNeverGivenTwice) {
  const Queue q = queue();
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 20; ++i) {
    ids.insert(must(q.push({.key = "k", .payload = "x", .if_exists = IfExists::replace})).id);
    if (i % 2 == 0) {
      EXPECT_EQ(must(q.cancel("k")), Outcome::cancelled);
    }
  }
  EXPECT_EQ(ids.size(), 20u);
  EXPECT_FALSE(ids.contains(0));
}

TEST_P(PushVerb, MaxAttemptsOfItsOwnOverridesTheQueue) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .max_attempts = 1}));
  EXPECT_EQ(must(q.retry(claim_one(q).receipt(), 0ms)), Outcome::done);
  EXPECT_EQ(find(q, "k")->state, State::dead);
}

}  // namespace
}  // namespace tarry::contract
