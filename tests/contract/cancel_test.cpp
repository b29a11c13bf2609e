// DESIGN 3, the second row of the verb table: cancel. And what happens to a message whose running
// delivery was cancelled.
#include <tuple>

#include "contract.h"

namespace tarry::contract {
namespace {

Outcome expected(Place place) {
  switch (place) {
    case Place::absent: return Outcome::unknown;
    case Place::scheduled:
    case Place::ready:
    case Place::dead: return Outcome::cancelled;
    case Place::leased:
    case Place::stopping: return Outcome::stopping;
    case Place::acked:
    case Place::cancelled:
    case Place::withdrawn:
    case Place::discarded: return Outcome::settled;
  }
  return Outcome::unknown;
}

using CancelCase = std::tuple<EngineSpec, Place>;

class CancelCell : public OnRig, public testing::WithParamInterface<CancelCase> {
 protected:
  CancelCell() : OnRig(std::get<0>(GetParam())) {}
};

TEST_P(CancelCell, AnswersAndActsAsTheTableSays) {
  const auto [engine, place] = GetParam();
  const Outcome outcome = expected(place);
  const Queue q = queue();
  const Placed placed = put(q, clock(), "k", place);
  const std::optional<MessageInfo> before = find(q, "k");
  const std::uint64_t cancelled_before = must(q.stats()).counters.cancelled;

  const Answer answer = must(q.cancel("k"));
  EXPECT_EQ(answer, outcome);
  const std::optional<MessageInfo> after = find(q, "k");
  EXPECT_EQ(must(q.stats()).counters.cancelled,
            cancelled_before + (outcome == Outcome::cancelled ? 1 : 0));

  switch (outcome) {
    case Outcome::cancelled: {
      ASSERT_TRUE(after);  // after it has ended, the queue remembers it
      MessageInfo ended = *before;
      ended.state = State::remembered;
      ended.payload.clear();
      ended.headers.clear();
      ended.reason.clear();
      ended.pushed.reset();
      ended.settlement = {Ending::cancelled, clock().now()};
      ended.kept_until = clock().now() + kRemember;
      expect_same(ended, after);
      break;
    }
    case Outcome::stopping: {
      ASSERT_TRUE(after);
      MessageInfo stopping = *before;
      stopping.stopping = true;
      expect_same(stopping, after);
      break;
    }
    default: expect_same(before, after); break;
  }
  if (outcome == Outcome::settled) {
    ASSERT_TRUE(answer.settlement);
    EXPECT_EQ(answer.settlement->how, place == Place::acked ? Ending::acked : Ending::cancelled);
    EXPECT_EQ(ms(answer.settlement->when), placed.settled_ms);
  } else {
    EXPECT_FALSE(answer.settlement);
  }

  for (const std::string& receipt : placed.old_receipts) {
    EXPECT_EQ(must(q.ack(receipt)), Outcome::stale);
  }
  if (!placed.acked_by.empty()) {
    EXPECT_EQ(must(q.ack(placed.acked_by)), Outcome::done);
  }
  clock().advance(3h);
  EXPECT_TRUE(nothing_due(q));  // guarantee 3
}

INSTANTIATE_TEST_SUITE_P(On, CancelCell,
                         testing::Combine(testing::ValuesIn(all_engines()),
                                          testing::ValuesIn(kPlaces)),
                         [](const testing::TestParamInfo<CancelCase>& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::string(to_string(std::get<1>(info.param)));
                         });

// ---- how a stopping message ends

enum class End : std::uint8_t { ack, retry, release, bury, run_out };
constexpr End kEnds[] = {End::ack, End::retry, End::release, End::bury, End::run_out};

std::string_view name_of(End end) {
  switch (end) {
    case End::ack: return "ack";
    case End::retry: return "retry";
    case End::release: return "release";
    case End::bury: return "bury";
    case End::run_out: return "run_out";
  }
  return "?";
}

using Stop = std::tuple<EngineSpec, End, bool>;

class StoppingEnds : public OnRig, public testing::WithParamInterface<Stop> {
 protected:
  StoppingEnds() : OnRig(std::get<0>(GetParam())) {}
};

TEST_P(StoppingEnds, ForGoodHoweverTheDeliveryEnds) {
  const auto [engine, end, remembers] = GetParam();
  const Queue q = queue();
  (void)must(q.configure({.remember = remembers ? kRemember : Millis(0)}));
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Delivery delivery = claim_one(q, 1min);
  EXPECT_EQ(must(q.cancel("k")), Outcome::stopping);
  EXPECT_EQ(must(q.cancel("k")), Outcome::stopping);
  clock().advance(1s);

  switch (end) {
    case End::ack: EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done); break;
    case End::retry: EXPECT_EQ(must(q.retry(delivery.receipt())), Outcome::done); break;
    case End::release: EXPECT_EQ(must(q.release(delivery.receipt())), Outcome::done); break;
    case End::bury: EXPECT_EQ(must(q.bury(delivery.receipt(), "no")), Outcome::done); break;
    case End::run_out:
      clock().advance(59s);
      EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::stale);
      break;
  }

  const QueueStats stats = must(q.stats());
  EXPECT_EQ(stats.counters.acked, end == End::ack ? 1u : 0u);
  EXPECT_EQ(stats.counters.cancelled, end == End::ack ? 0u : 1u);
  EXPECT_EQ(stats.leased, 0u);
  EXPECT_EQ(stats.dead, 0u);
  EXPECT_EQ(stats.remembered, remembers ? 1u : 0u);
  const Answer again = must(q.cancel("k"));
  if (remembers) {
    EXPECT_EQ(again, Outcome::settled);
    ASSERT_TRUE(again.settlement);
    EXPECT_EQ(again.settlement->how, end == End::ack ? Ending::acked : Ending::cancelled);
    EXPECT_EQ(ms(again.settlement->when), now_ms());
  } else {
    EXPECT_EQ(again, Outcome::unknown);
  }
  clock().advance(30min);
  EXPECT_TRUE(nothing_due(q));
}

INSTANTIATE_TEST_SUITE_P(On, StoppingEnds,
                         testing::Combine(testing::ValuesIn(all_engines()),
                                          testing::ValuesIn(kEnds), testing::Bool()),
                         [](const testing::TestParamInfo<Stop>& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::string(name_of(std::get<1>(info.param))) +
                                  (std::get<2>(info.param) ? "_remembered" : "_forgotten");
                         });

class CancelVerb : public Contract {};
TARRY_ON_ALL_ENGINES(CancelVerb);

TEST_P(CancelVerb, FreesTheKeyAtOnceWhereNothingIsRemembered) {
  const Queue q = queue();
  const Pushed first = must(q.push({.key = "k", .payload = "1", .due = in(1h)}));
  EXPECT_EQ(must(q.cancel("k")), Outcome::cancelled);
  EXPECT_EQ(must(q.stats()).remembered, 0u);
  EXPECT_EQ(must(q.cancel("k")), Outcome::unknown);
  const Pushed second = must(q.push({.key = "k", .payload = "2"}));
  EXPECT_EQ(second.outcome, Outcome::pushed);
  EXPECT_NE(second.id, first.id);
  EXPECT_EQ(claim_one(q).payload(), "2");
}

TEST_P(CancelVerb, IsRememberedSoThatALatePushOfTheKeyRevivesNothing) {
  const Queue q = queue();
  (void)must(q.configure({.remember = 10s}));
  const auto push = [&](IfExists rule) {
    return must(q.push({.key = "k", .payload = "again", .if_exists = rule})).outcome;
  };
  const Pushed first = must(q.push({.key = "k", .payload = "1", .due = in(1h)}));
  EXPECT_EQ(must(q.cancel("k")), Outcome::cancelled);
  const Time cancelled = clock().now();
  EXPECT_EQ(must(q.stats()).remembered, 1u);
  clock().advance(10s - 1ms);
  for (const IfExists rule :
       {IfExists::reject, IfExists::keep, IfExists::earlier, IfExists::later}) {
    EXPECT_EQ(push(rule), Outcome::settled);
  }
  EXPECT_EQ(must(q.push({.key = "k", .payload = "1"})).id, first.id);
  const Answer again = must(q.cancel("k"));
  EXPECT_EQ(again, Outcome::settled);
  EXPECT_EQ(again.settlement, (Settlement{Ending::cancelled, cancelled}));
  EXPECT_EQ(must(q.reschedule("k", in(1h))), Outcome::settled);
  EXPECT_EQ(must(q.stats()).counters.cancelled, 1u);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(must(q.stats()).remembered, 0u);
  EXPECT_EQ(must(q.cancel("k")), Outcome::unknown);
  EXPECT_EQ(push(IfExists::reject), Outcome::pushed);
  EXPECT_EQ(claim_one(q).payload(), "again");
}

TEST_P(CancelVerb, ThatIsRememberedGivesWayToAReplace) {
  const Queue q = queue();
  (void)must(q.configure({.remember = kRemember}));
  const Pushed first = must(q.push({.key = "k", .payload = "1", .due = in(1h)}));
  EXPECT_EQ(must(q.cancel("k")), Outcome::cancelled);
  const Pushed second = must(q.push({.key = "k", .payload = "2", .if_exists = IfExists::replace}));
  EXPECT_EQ(second.outcome, Outcome::pushed);
  EXPECT_NE(second.id, first.id);
  EXPECT_EQ(claim_one(q).payload(), "2");
  const QueueStats stats = must(q.stats());
  EXPECT_EQ(stats.remembered, 0u);
  EXPECT_EQ(stats.counters.replaced, 0u);
}

TEST_P(CancelVerb, OfManyRemembersEach) {
  const Queue q = queue();
  (void)must(q.configure({.remember = kRemember}));
  const Pushed made = must(q.push({.payload = "x", .due = in(1h)}));
  std::vector<std::string> keys{made.key};
  for (int i = 0; i < 40; ++i) {
    keys.push_back("k" + std::to_string(i));
    // Ready and scheduled messages, of the default priority and of others.
    (void)must(q.push({.key = keys.back(),
                       .payload = "x",
                       .due = in(i % 2 == 0 ? Millis(0) : Millis(1h)),
                       .priority = i % 3 == 0 ? kDefaultPriority : 7u}));
  }
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  for (Result<Answer>& answer : must(q.cancel(views))) {
    EXPECT_EQ(must(std::move(answer)), Outcome::cancelled);
  }
  const QueueStats stats = must(q.stats());
  EXPECT_EQ(stats.remembered, 41u);
  EXPECT_EQ(stats.counters.cancelled, 41u);
  for (Result<Answer>& answer : must(q.cancel(views))) {
    EXPECT_EQ(must(std::move(answer)), Outcome::settled);
  }
  clock().advance(kRemember - 1ms);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(must(q.stats()).remembered, 41u);
  clock().advance(1ms);
  EXPECT_EQ(must(q.stats()).remembered, 0u);
}

TEST_P(CancelVerb, OfAStoppingMessageLetsItsLeaseBeExtended) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Delivery delivery = claim_one(q, 10s);
  EXPECT_EQ(must(q.cancel("k")), Outcome::stopping);
  clock().advance(9s);
  EXPECT_EQ(must(q.extend(delivery.receipt(), 10s)), Outcome::done);
  clock().advance(9s);
  EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
}

TEST_P(CancelVerb, NoDeliveryBeginsAfterIt) {
  const Queue q = queue();
  for (int i = 0; i < 20; ++i) {
    (void)must(q.push({.key = "k" + std::to_string(i), .payload = "x", .due = in(1s)}));
  }
  for (int i = 0; i < 20; i += 2) {
    EXPECT_EQ(must(q.cancel("k" + std::to_string(i))), Outcome::cancelled);
  }
  clock().advance(1h);
  std::multiset<std::string> odd;
  for (int i = 1; i < 20; i += 2) odd.insert("k" + std::to_string(i));
  EXPECT_EQ(key_set(claim_all(q)), odd);
}

}  // namespace
}  // namespace tarry::contract
