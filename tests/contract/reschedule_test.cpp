// DESIGN 3, the third row of the verb table: reschedule, to the future and to the past.
#include <tuple>

#include "contract.h"

namespace tarry::contract {
namespace {

Outcome expected(Place place) {
  switch (place) {
    case Place::absent: return Outcome::unknown;
    case Place::scheduled:
    case Place::ready: return Outcome::rescheduled;
    case Place::leased:
    case Place::stopping: return Outcome::in_flight;
    case Place::dead: return Outcome::revived;
    case Place::acked:
    case Place::cancelled:
    case Place::withdrawn:
    case Place::discarded: return Outcome::settled;
  }
  return Outcome::unknown;
}

enum class To : std::uint8_t { future, past };
constexpr To kTos[] = {To::future, To::past};

using RescheduleCase = std::tuple<EngineSpec, To, Place>;

class RescheduleCell : public OnRig, public testing::WithParamInterface<RescheduleCase> {
 protected:
  RescheduleCell() : OnRig(std::get<0>(GetParam())) {}
};

TEST_P(RescheduleCell, AnswersAndActsAsTheTableSays) {
  const auto [engine, to, place] = GetParam();
  const Outcome outcome = expected(place);
  const Queue q = queue();
  const Placed placed = put(q, clock(), "k", place);
  const std::optional<MessageInfo> before = find(q, "k");

  const std::int64_t new_due = now_ms() + (to == To::future ? 7'200'000 : -7'200'000);
  const Answer answer = must(q.reschedule("k", at(Time(Millis(new_due)))));
  EXPECT_EQ(answer, outcome);
  const std::optional<MessageInfo> after = find(q, "k");

  if (outcome == Outcome::rescheduled || outcome == Outcome::revived) {
    ASSERT_TRUE(answer.due);
    EXPECT_EQ(ms(*answer.due), new_due);
    ASSERT_TRUE(before);
    MessageInfo moved = *before;
    moved.due = Time(Millis(new_due));
    moved.state = to == To::future ? State::scheduled : State::ready;
    if (outcome == Outcome::revived) {
      moved.attempt = 0;
      moved.tallies.revives += 1;
      moved.kept_until.reset();
      moved.reason.clear();
    }
    expect_same(moved, after);
    EXPECT_EQ(moved.id, placed.id);

    // The message is not delivered before its new time (guarantee 3), but then it is.
    if (to == To::future) {
      clock().advance(2h - 1ms);
      EXPECT_TRUE(nothing_due(q));
      clock().advance(1ms);
    }
    const Delivery delivery = claim_one(q);
    EXPECT_EQ(delivery.payload(), kOldPayload);
    EXPECT_EQ(delivery.id(), placed.id);
    EXPECT_EQ(delivery.attempt(), moved.attempt + 1);
  } else {
    expect_same(before, after);
    EXPECT_EQ(answer.due.has_value(), outcome == Outcome::in_flight);
    if (answer.due) {
      EXPECT_EQ(ms(*answer.due), placed.due_ms);
    }
  }
  if (outcome == Outcome::settled) {
    ASSERT_TRUE(answer.settlement);
    EXPECT_EQ(answer.settlement->how, place == Place::acked ? Ending::acked : Ending::cancelled);
    EXPECT_EQ(ms(answer.settlement->when), placed.settled_ms);
  }
  for (const std::string& receipt : placed.old_receipts) {
    EXPECT_EQ(must(q.ack(receipt)), Outcome::stale);
  }
  if (!placed.acked_by.empty()) {
    EXPECT_EQ(must(q.ack(placed.acked_by)), Outcome::done);
  }
}

INSTANTIATE_TEST_SUITE_P(On, RescheduleCell,
                         testing::Combine(testing::ValuesIn(all_engines()), testing::ValuesIn(kTos),
                                          testing::ValuesIn(kPlaces)),
                         [](const testing::TestParamInfo<RescheduleCase>& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::string(to_string(std::get<2>(info.param))) +
                                  (std::get<1>(info.param) == To::future ? "_to_the_future"
                                                                         : "_to_the_past");
                         });

class RescheduleVerb : public Contract {};
TARRY_ON_ALL_ENGINES(RescheduleVerb);

TEST_P(RescheduleVerb, ByADelayCountsFromNow) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .due = in(1h)}));
  clock().advance(10min);
  const Answer answer = must(q.reschedule("k", in(5min)));
  EXPECT_EQ(ms(answer.due.value()), now_ms() + 300'000);
  clock().advance(5min - 1ms);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(claim_one(q).key(), "k");
}

TEST_P(RescheduleVerb, TakesANewPriorityWhereAsked) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .due = in(1h), .priority = 5}));
  const Reschedule keeps{.key = "k", .due = in(2h), .priority = {}};
  const Reschedule takes{.key = "k", .due = in(2h), .priority = 9};
  (void)must(must(q.reschedule(std::span(&keeps, 1))).at(0));
  EXPECT_EQ(find(q, "k")->priority, 5u);
  (void)must(must(q.reschedule(std::span(&takes, 1))).at(0));
  EXPECT_EQ(find(q, "k")->priority, 9u);
}

TEST_P(RescheduleVerb, ManyTimesLeavesOneDelivery) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .due = in(1s)}));
  for (int i = 2; i <= 50; ++i) {
    EXPECT_EQ(must(q.reschedule("k", in(std::chrono::seconds(i)))), Outcome::rescheduled);
  }
  clock().advance(50s - 1ms);
  EXPECT_TRUE(nothing_due(q));
  clock().advance(1ms);
  EXPECT_EQ(claim_all(q).size(), 1u);
}

}  // namespace
}  // namespace tarry::contract
