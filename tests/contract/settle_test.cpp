// DESIGN 3, the last row of the verb table: ack, retry, release, bury and extend, by the live
// receipt and by old ones; and what each does to the message.
#include <tuple>

#include "contract.h"

namespace tarry::contract {
namespace {

enum class Verb : std::uint8_t { ack, retry, release, bury, extend };
constexpr Verb kVerbs[] = {Verb::ack, Verb::retry, Verb::release, Verb::bury, Verb::extend};

std::string_view name_of(Verb verb) {
  switch (verb) {
    case Verb::ack: return "ack";
    case Verb::retry: return "retry";
    case Verb::release: return "release";
    case Verb::bury: return "bury";
    case Verb::extend: return "extend";
  }
  return "?";
}

Answer settle(const Queue& q, Verb verb, std::string_view receipt) {
  switch (verb) {
    case Verb::ack: return must(q.ack(receipt));
    case Verb::retry: return must(q.retry(receipt, 5min));
    case Verb::release: return must(q.release(receipt));
    case Verb::bury: return must(q.bury(receipt, "bad"));
    case Verb::extend: return must(q.extend(receipt, 7min));
  }
  return {};
}

using SettleCase = std::tuple<EngineSpec, Verb, Place>;

class SettleCell : public OnRig, public testing::WithParamInterface<SettleCase> {
 protected:
  SettleCell() : OnRig(std::get<0>(GetParam())) {}
};

TEST_P(SettleCell, OldReceiptsAreStaleAndChangeNothing) {
  const auto [engine, verb, place] = GetParam();
  const Queue q = queue();
  const Placed placed = put(q, clock(), "k", place);
  const std::optional<MessageInfo> before = find(q, "k");
  const QueueCounters counters = must(q.stats()).counters;
  for (const std::string& receipt : placed.old_receipts) {
    const Answer answer = settle(q, verb, receipt);
    EXPECT_EQ(answer, Outcome::stale);
    EXPECT_FALSE(answer.due);
  }
  if (!placed.acked_by.empty()) {
    EXPECT_EQ(settle(q, verb, placed.acked_by), verb == Verb::ack ? Outcome::done : Outcome::stale);
  }
  expect_same(before, find(q, "k"));
  EXPECT_EQ(must(q.stats()).counters, counters);
}

TEST_P(SettleCell, TheLiveReceiptIsDoneOnceAndActs) {
  const auto [engine, verb, place] = GetParam();
  const Queue q = queue();
  const Placed placed = put(q, clock(), "k", place);
  if (placed.live.empty()) {
    EXPECT_NE(place, Place::leased);
    EXPECT_NE(place, Place::stopping);
    return;
  }
  const MessageInfo before = find(q, "k").value();
  const QueueCounters counters = must(q.stats()).counters;
  const Answer answer = settle(q, verb, placed.live);
  EXPECT_EQ(answer, Outcome::done);
  const std::optional<MessageInfo> after = find(q, "k");
  ASSERT_TRUE(after);  // after it has ended, the queue remembers it
  const QueueCounters now = must(q.stats()).counters;

  MessageInfo want = before;
  if (verb == Verb::extend) {
    want.lease_left = Millis(7min);
    expect_same(want, after);
    EXPECT_EQ(settle(q, verb, placed.live), Outcome::done);
    return;
  }
  const bool ends = verb == Verb::ack || place == Place::stopping;
  if (ends) {
    const Ending how = verb == Verb::ack ? Ending::acked : Ending::cancelled;
    EXPECT_EQ(after->state, State::remembered);
    EXPECT_FALSE(after->stopping);
    ASSERT_TRUE(after->settlement);
    EXPECT_EQ(after->settlement->how, how);
    EXPECT_EQ(ms(after->settlement->when), now_ms());
    ASSERT_TRUE(after->kept_until);
    EXPECT_EQ(ms(*after->kept_until), now_ms() + kRemember.count());
    EXPECT_EQ(after->payload, "");
    EXPECT_EQ(now.acked, counters.acked + (how == Ending::acked ? 1 : 0));
    EXPECT_EQ(now.cancelled, counters.cancelled + (how == Ending::cancelled ? 1 : 0));
  } else {
    want.lease_left.reset();
    switch (verb) {
      case Verb::retry:
        want.state = State::scheduled;
        want.due = clock().now() + 5min;
        ASSERT_TRUE(answer.due);
        EXPECT_EQ(ms(*answer.due), ms(want.due));
        EXPECT_EQ(now.retries, counters.retries + 1);
        break;
      case Verb::release:
        want.state = State::ready;
        want.attempt -= 1;
        want.tallies.releases += 1;
        EXPECT_EQ(now.releases, counters.releases + 1);
        break;
      default:
        want.state = State::dead;
        want.tallies.buries += 1;
        want.reason = "bad";
        want.kept_until = clock().now() + QueueSettings{}.dead_keep;
        EXPECT_EQ(now.buries, counters.buries + 1);
        break;
    }
    expect_same(want, after);
  }
  for (const Verb again : kVerbs) {
    const bool repeats = verb == Verb::ack && again == Verb::ack;
    EXPECT_EQ(settle(q, again, placed.live), repeats ? Outcome::done : Outcome::stale);
  }
}

INSTANTIATE_TEST_SUITE_P(On, SettleCell,
                         testing::Combine(testing::ValuesIn(all_engines()),
                                          testing::ValuesIn(kVerbs), testing::ValuesIn(kPlaces)),
                         [](const testing::TestParamInfo<SettleCase>& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::string(name_of(std::get<1>(info.param))) + "_on_" +
                                  std::string(to_string(std::get<2>(info.param)));
                         });

class Settling : public Contract {};
TARRY_ON_ALL_ENGINES(Settling);

TEST_P(Settling, AReceiptThatNobodyGaveIsStaleOrNone) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const std::string receipt(claim_one(q).receipt());
  // A forged text may still read as a receipt, which then names no live claim; otherwise the error
  // says that it is no receipt.
  std::size_t stale = 0;
  for (std::size_t i = 0; i < receipt.size(); ++i) {
    std::string forged = receipt;
    forged[i] = forged[i] == 'A' ? 'B' : 'A';
    const Result<Answer> answer = q.ack(forged);
    if (answer) {
      EXPECT_EQ(*answer, Outcome::stale) << forged;
      ++stale;
    } else {
      EXPECT_EQ(answer.error().code, ErrorCode::invalid_argument);
    }
  }
  EXPECT_GT(stale, receipt.size() / 2);
  for (const std::string& none :
       {std::string("no-such-receipt"), std::string(128, 'A'), std::string(1, '\0'), receipt + "A",
        receipt.substr(1), receipt.substr(0, receipt.size() - 1)}) {
    const Result<Answer> answer = q.ack(none);
    ASSERT_FALSE(answer) << none;
    EXPECT_EQ(answer.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(find(q, "k")->state, State::leased);
  EXPECT_EQ(must(q.ack(receipt)), Outcome::done);
}

TEST_P(Settling, AckWithoutRememberForgetsTheKey) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  EXPECT_EQ(must(q.ack(claim_one(q).receipt())), Outcome::done);
  EXPECT_FALSE(find(q, "k"));
  EXPECT_EQ(must(q.cancel("k")), Outcome::unknown);
  EXPECT_EQ(must(q.push({.key = "k", .payload = "y"})).outcome, Outcome::pushed);
  EXPECT_EQ(must(q.stats()).counters.acked, 1u);
}

TEST_P(Settling, ARememberedKeyIsKnownForThatLongAndNoLonger) {
  const Queue q = queue();
  (void)must(q.configure({.remember = 10s}));
  for (const char* key : {"a", "b"}) {
    (void)must(q.push({.key = key, .payload = "x"}));
    EXPECT_EQ(must(q.ack(claim_one(q).receipt())), Outcome::done);
  }
  const std::int64_t settled = now_ms();
  clock().advance(10s - 1ms);
  const Answer answer = must(q.cancel("a"));
  EXPECT_EQ(answer, Outcome::settled);
  EXPECT_EQ(ms(answer.settlement.value().when), settled);
  EXPECT_EQ(must(q.push({.key = "b", .payload = "y"})).outcome, Outcome::settled);
  EXPECT_EQ(must(q.stats()).remembered, 2u);
  clock().advance(1ms);
  EXPECT_EQ(must(q.cancel("a")), Outcome::unknown);
  EXPECT_EQ(must(q.push({.key = "b", .payload = "y"})).outcome, Outcome::pushed);
  EXPECT_EQ(must(q.stats()).remembered, 0u);
}

TEST_P(Settling, AnAckIsDoneAgainWhileItIsRemembered) {
  const Queue q = queue();
  (void)must(q.configure({.remember = 10s}));
  (void)must(q.push({.key = "k", .payload = "x"}));
  const std::string released(claim_one(q).receipt());
  EXPECT_EQ(must(q.release(released)), Outcome::done);
  const std::string receipt(claim_one(q, 1min).receipt());
  EXPECT_EQ(must(q.extend(receipt, 2min)), Outcome::done);
  EXPECT_EQ(must(q.ack(receipt)), Outcome::done);
  clock().advance(10s - 1ms);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(must(q.ack(receipt)), Outcome::done);
  EXPECT_EQ(must(q.ack(released)), Outcome::stale);
  for (const Verb verb : {Verb::retry, Verb::release, Verb::bury, Verb::extend}) {
    EXPECT_EQ(settle(q, verb, receipt), Outcome::stale);
  }
  EXPECT_EQ(must(q.stats()).counters.acked, 1u);
  EXPECT_EQ(must(q.stats()).remembered, 1u);
  // A change of the setting does not change messages that are already remembered.
  (void)must(q.configure({.remember = 0s}));
  EXPECT_EQ(must(q.ack(receipt)), Outcome::done);
  clock().advance(1ms);
  EXPECT_EQ(must(q.ack(receipt)), Outcome::stale);
}

TEST_P(Settling, AnAckIsStaleOnceItsKeyIsPushedAnew) {
  const Queue q = queue();
  (void)must(q.configure({.remember = kRemember}));
  (void)must(q.push({.key = "k", .payload = "1"}));
  const std::string receipt(claim_one(q).receipt());
  EXPECT_EQ(must(q.ack(receipt)), Outcome::done);
  EXPECT_EQ(must(q.push({.key = "k", .payload = "2", .if_exists = IfExists::replace})).outcome,
            Outcome::pushed);
  EXPECT_EQ(must(q.ack(receipt)), Outcome::stale);
  const std::string second(claim_one(q).receipt());
  EXPECT_EQ(must(q.ack(second)), Outcome::done);
  EXPECT_EQ(must(q.ack(receipt)), Outcome::stale);
  EXPECT_EQ(must(q.ack(second)), Outcome::done);
}

TEST_P(Settling, AcksOfManyAreDoneAgainEachForItself) {
  const Queue q = queue();
  (void)must(q.configure({.remember = kRemember}));
  for (int i = 0; i < 80; ++i) (void)must(q.push({.payload = "x"}));
  std::vector<std::string> receipts;
  for (const Delivery& delivery : claim(q, 80)) receipts.emplace_back(delivery.receipt());
  ASSERT_EQ(receipts.size(), 80u);
  std::vector<Settle> items;
  for (std::size_t i = 0; i < 40; ++i) {
    items.push_back({.receipt = receipts[i], .action = Action::ack, .reason = {}});
  }
  for (Result<Answer>& answer : must(q.settle(items))) {
    EXPECT_EQ(must(std::move(answer)), Outcome::done);
  }
  // Now all receipts, each twice within the batch.
  items.clear();
  for (const std::string& receipt : receipts) {
    items.push_back({.receipt = receipt, .action = Action::ack, .reason = {}});
    items.push_back(items.back());
  }
  for (Result<Answer>& answer : must(q.settle(items))) {
    EXPECT_EQ(must(std::move(answer)), Outcome::done);
  }
  items.resize(1);
  items[0].action = Action::retry;
  EXPECT_EQ(must(std::move(must(q.settle(items)).front())), Outcome::stale);
  EXPECT_EQ(must(q.stats()).counters.acked, 80u);
  EXPECT_EQ(must(q.stats()).remembered, 80u);
}

TEST_P(Settling, RetryWithoutDelayFollowsTheBackoff) {
  const Queue q = queue();
  (void)must(q.configure({.max_attempts = 20, .backoff_min = 1s, .backoff_max = 8s}));
  (void)must(q.push({.key = "k", .payload = "x"}));
  // The backoff doubles from its least to its most; jitter spreads each delay over its upper half.
  for (const std::int64_t full : {1'000, 2'000, 4'000, 8'000, 8'000, 8'000}) {
    const Answer answer = must(q.retry(claim_one(q).receipt()));
    EXPECT_EQ(answer, Outcome::done);
    ASSERT_TRUE(answer.due);
    const std::int64_t delay = ms(*answer.due) - now_ms();
    EXPECT_GE(delay, full / 2);
    EXPECT_LE(delay, full);
    EXPECT_EQ(ms(find(q, "k")->due), ms(*answer.due));
    clock().advance(Millis(delay) - 1ms);
    EXPECT_TRUE(nothing_due(q));
    clock().advance(1ms);
  }
}

TEST_P(Settling, RetryOfTheLastAttemptIsDeath) {
  const Queue q = queue();
  (void)must(q.configure({.max_attempts = 3, .dead_keep = 1h}));
  (void)must(q.push({.key = "k", .payload = "x"}));
  for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
    const Delivery delivery = claim_one(q);
    EXPECT_EQ(delivery.attempt(), attempt);
    EXPECT_EQ(must(q.retry(delivery.receipt(), 0ms)), Outcome::done);
  }
  const MessageInfo dead = find(q, "k").value();
  EXPECT_EQ(dead.state, State::dead);
  EXPECT_EQ(dead.attempt, 3u);
  EXPECT_FALSE(dead.reason.empty());
  EXPECT_EQ(ms(dead.kept_until.value()), now_ms() + 3'600'000);
  EXPECT_EQ(dead.payload, "x");
  EXPECT_TRUE(nothing_due(q));
}

TEST_P(Settling, RetryKeepsTheReasonOfTheLastAttemptAlone) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .max_attempts = 2}));
  const auto retry = [&](std::string_view reason) {
    const Delivery delivery = claim_one(q);
    EXPECT_EQ(must(q.settle(Settle{.receipt = delivery.receipt(),
                                   .action = Action::retry,
                                   .delay = 0ms,
                                   .reason = reason}))
                  .outcome,
              Outcome::done);
  };
  retry("no route");
  EXPECT_EQ(find(q, "k")->reason, "");
  const std::string longest(core::kMaxReason, 'r');
  retry(longest);
  EXPECT_EQ(find(q, "k")->state, State::dead);
  EXPECT_EQ(find(q, "k")->reason, longest);
}

TEST_P(Settling, ReleaseDoesNotCountTheAttempt) {
  const Queue q = queue();
  (void)must(q.configure({.max_attempts = 1}));
  const Pushed pushed = must(q.push({.key = "k", .payload = "x"}));
  for (int i = 0; i < 5; ++i) {
    clock().advance(1s);
    const Delivery delivery = claim_one(q);
    EXPECT_EQ(delivery.attempt(), 1u);
    EXPECT_EQ(ms(delivery.due()), ms(pushed.due));
    EXPECT_EQ(must(q.release(delivery.receipt())), Outcome::done);
  }
  EXPECT_EQ(find(q, "k")->tallies.releases, 5u);
  EXPECT_EQ(find(q, "k")->tallies.claims, 5u);
}

TEST_P(Settling, RetryAndReleaseTakeANewPriorityWhereAsked) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .priority = 5}));
  EXPECT_EQ(must(q.settle(Settle{.receipt = claim_one(q).receipt(),
                                 .action = Action::release,
                                 .reason = {},
                                 .priority = 6})),
            Outcome::done);
  EXPECT_EQ(find(q, "k")->priority, 6u);
  EXPECT_EQ(must(q.settle(Settle{.receipt = claim_one(q).receipt(),
                                 .action = Action::retry,
                                 .delay = 0ms,
                                 .reason = {},
                                 .priority = 7})),
            Outcome::done);
  EXPECT_EQ(find(q, "k")->priority, 7u);
  EXPECT_EQ(must(q.retry(claim_one(q).receipt(), 0ms)), Outcome::done);
  EXPECT_EQ(find(q, "k")->priority, 7u);
}

TEST_P(Settling, BuryWithoutReasonIsDeadAllTheSame) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  EXPECT_EQ(must(q.bury(claim_one(q).receipt())), Outcome::done);
  EXPECT_EQ(find(q, "k")->state, State::dead);
}

TEST_P(Settling, ABuryReasonIsKeptByteForByte) {
  const Queue q = queue();
  const std::string reason = "line\nbreak \"quoted\" \xe2\x82\xac " + std::string(200, 'r');
  (void)must(q.push({.key = "k", .payload = "x"}));
  EXPECT_EQ(must(q.bury(claim_one(q).receipt(), reason)), Outcome::done);
  EXPECT_EQ(find(q, "k")->reason, reason);
}

TEST_P(Settling, TheDeadAreForgottenAfterDeadKeep) {
  const Queue q = queue();
  (void)must(q.configure({.dead_keep = 1h}));
  (void)must(q.push({.key = "k", .payload = "x"}));
  EXPECT_EQ(must(q.bury(claim_one(q).receipt())), Outcome::done);
  clock().advance(1h - 1ms);
  EXPECT_EQ(find(q, "k")->state, State::dead);
  EXPECT_EQ(must(q.stats()).counters.expired, 0u);
  clock().advance(1ms);
  EXPECT_FALSE(find(q, "k"));
  const QueueStats stats = must(q.stats());
  EXPECT_EQ(stats.counters.expired, 1u);
  EXPECT_EQ(stats.dead, 0u);
  EXPECT_EQ(must(q.push({.key = "k", .payload = "y"})).outcome, Outcome::pushed);
}

// Guarantee 4: after each way in which its claim can end, a receipt is stale.

TEST_P(Settling, AReceiptIsFencedAfterReleaseAndTheNextClaim) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Delivery first = claim_one(q);
  EXPECT_EQ(must(q.release(first.receipt())), Outcome::done);
  const Delivery second = claim_one(q);
  EXPECT_NE(first.receipt(), second.receipt());
  EXPECT_EQ(first.attempt(), second.attempt());
  EXPECT_EQ(must(q.ack(first.receipt())), Outcome::stale);
  EXPECT_EQ(must(q.ack(second.receipt())), Outcome::done);
}

TEST_P(Settling, AReceiptIsFencedAfterRevive) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Delivery first = claim_one(q);
  EXPECT_EQ(must(q.bury(first.receipt())), Outcome::done);
  EXPECT_EQ(must(q.revive()), 1u);
  const Delivery second = claim_one(q);
  EXPECT_EQ(second.attempt(), 1u);
  EXPECT_EQ(must(q.ack(first.receipt())), Outcome::stale);
  EXPECT_EQ(must(q.ack(second.receipt())), Outcome::done);
}

TEST_P(Settling, AReceiptIsFencedAfterTheKeyIsPushedAgain) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "1"}));
  const Delivery first = claim_one(q);
  EXPECT_EQ(must(q.ack(first.receipt())), Outcome::done);
  (void)must(q.push({.key = "k", .payload = "2"}));
  const Delivery second = claim_one(q);
  for (const Verb verb : kVerbs) EXPECT_EQ(settle(q, verb, first.receipt()), Outcome::stale);
  EXPECT_EQ(must(q.ack(second.receipt())), Outcome::done);
}

TEST_P(Settling, AReceiptIsFencedAfterReplace) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "1"}));
  const Delivery first = claim_one(q);
  EXPECT_EQ(must(q.release(first.receipt())), Outcome::done);
  (void)must(q.push({.key = "k", .payload = "2", .if_exists = IfExists::replace}));
  EXPECT_EQ(must(q.ack(first.receipt())), Outcome::stale);
  const Delivery second = claim_one(q);
  EXPECT_EQ(second.payload(), "2");
  EXPECT_EQ(must(q.ack(first.receipt())), Outcome::stale);
  EXPECT_EQ(must(q.ack(second.receipt())), Outcome::done);
}

TEST_P(Settling, NoRedeliveryAfterAck) {
  const Queue q = queue();
  for (int i = 0; i < 50; ++i) (void)must(q.push({.payload = "x"}));
  std::set<std::uint64_t> ids;
  for (const Delivery& delivery : claim_all(q)) {
    ids.insert(delivery.id());
    EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
  }
  EXPECT_EQ(ids.size(), 50u);
  clock().advance(1000h);
  EXPECT_TRUE(nothing_due(q));
}

TEST_P(Settling, ReceiptsOfSeveralQueuesSettleTogether) {
  (void)must(queue("a").push({.key = "k", .payload = "x"}));
  (void)must(queue("b").push({.key = "k", .payload = "x"}));
  const Delivery a = claim_one(queue("a"));
  const Delivery b = claim_one(queue("b"));
  const Settle items[] = {{.receipt = a.receipt(), .action = Action::ack, .reason = {}},
                          {.receipt = b.receipt(), .action = Action::bury, .reason = "b"}};
  for (Result<Answer>& answer : must(store().settle(items))) {
    EXPECT_EQ(must(std::move(answer)), Outcome::done);
  }
  EXPECT_FALSE(find(queue("a"), "k"));
  EXPECT_EQ(find(queue("b"), "k")->state, State::dead);
}

}  // namespace
}  // namespace tarry::contract
