#include "leases/book.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace tarry::leases {
namespace {

using namespace std::chrono_literals;
using core::SettleAction;

const Error kAway{ErrorCode::unavailable, "nobody there"};
const Error kLostAnswer{ErrorCode::unknown_outcome, "the connection broke"};

// A book whose clock is a number, and whose store and owner are the test.
class BookTest : public ::testing::Test {
 protected:
  explicit BookTest(BookOptions options = {.lease = 9s}) : book(options) {}
  void expect_one_stale_and_no_more() {
    EXPECT_TRUE(settling().empty());
    EXPECT_EQ(book.counts().stale, 1u);
    EXPECT_TRUE(book.is_idle());
  }
  using Settled = std::vector<std::pair<std::string, SettleAction>>;

  static std::shared_ptr<const core::ClaimReply> reply(
      std::optional<base::BootClock::time_point> begun_at = {}) {
    auto made = std::make_shared<core::ClaimReply>();
    made->begun_at = begun_at;
    return made;
  }
  static core::ItemsReply outcomes(const std::vector<Outcome>& all) {
    core::ItemsReply made;
    for (const Outcome outcome : all) made.items.emplace_back().outcome = outcome;
    return made;
  }
  Book::Id hold(const std::string& receipt, Millis lease = 30s) {
    return book.hold(receipt, lease, now, now).value();
  }
  void end(Book::Id id, SettleAction action = SettleAction::ack) {
    book.end(id, {action, {}, {}}, now);
  }
  // The requests to settle that the book sends now; they are not answered yet.
  Settled settling() {
    Settled all;
    const auto request = book.settle(now);
    if (!request) return all;
    for (const core::SettleItem& item : request->items) {
      all.emplace_back(core::view(request->bytes, item.receipt), item.action);
    }
    return all;
  }
  std::vector<std::string> extending() {
    std::vector<std::string> all;
    const auto request = book.extend(now);
    if (!request) return all;
    for (const core::ExtendItem& item : request->items) {
      all.emplace_back(core::view(request->bytes, item.receipt));
    }
    return all;
  }
  // The same, answered with these outcomes.
  Settled settled(const std::vector<Outcome>& outcomes_of) {
    Settled all = settling();
    EXPECT_EQ(all.size(), outcomes_of.size());
    book.settled(outcomes(outcomes_of), now);
    return all;
  }

  Book book;
  Moment now{1'000'000};
};

// -- claims

TEST_F(BookTest, ClaimsOnceAtATimeWithItsLeaseAndWithdrawsOnce) {
  EXPECT_FALSE(book.withdraw());
  const auto request = book.claim(7, now);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->max, 7u);
  EXPECT_EQ(request->lease, Millis(9s));
  EXPECT_GT(request->wait, 1s);
  EXPECT_EQ(book.claiming(), 7u);
  EXPECT_FALSE(book.may_claim());
  EXPECT_FALSE(book.claim(7, now));
  EXPECT_TRUE(book.withdraw());
  EXPECT_FALSE(book.withdraw());
  EXPECT_EQ(book.claimed(reply(), now), now);
  EXPECT_TRUE(book.may_claim());
  EXPECT_TRUE(book.claim(1, now));
  EXPECT_TRUE(book.withdraw());
}

TEST_F(BookTest, AStoreThatIsAwayIsAskedAfterPausesThatDouble) {
  for (const Millis pause : {100ms, 200ms, 400ms, 800ms, 1'600ms, 3'200ms, 5'000ms, 5'000ms}) {
    ASSERT_TRUE(book.claim(1, now));
    EXPECT_FALSE(book.claimed(kAway, now));
    EXPECT_EQ(book.claim_at(), now + pause);
    EXPECT_FALSE(book.claim(1, now + pause - 1ms));
    now += pause;
  }
  ASSERT_TRUE(book.claim(1, now));
  EXPECT_TRUE(book.claimed(reply(), now));
  ASSERT_TRUE(book.claim(1, now));
  EXPECT_FALSE(book.claimed(kAway, now));
  EXPECT_EQ(book.claim_at(), now + 100ms);
}

TEST_F(BookTest, ALeaseCountsFromTheBeginningOfItsClaim) {
  ASSERT_TRUE(book.claim(2, now));
  const Moment begun = now - 5s;
  EXPECT_EQ(book.claimed(reply(base::BootClock::time_point(begun)), now), begun);
  const auto live = book.hold("live", 9s, begun, now);
  ASSERT_TRUE(live);
  EXPECT_EQ(book.lease_end(*live), begun + 9s);
  // Another worker may have the message by now.
  EXPECT_FALSE(book.hold("over", 5s, begun, now));
  EXPECT_EQ(settled({Outcome::stale}), (Settled{{"over", SettleAction::release}}));
  EXPECT_EQ(book.counts().stale, 1u);
}

TEST_F(BookTest, ABeginningThatIsYetToComeIsNow) {
  ASSERT_TRUE(book.claim(1, now));
  EXPECT_EQ(book.claimed(reply(base::BootClock::time_point(now + 1s)), now), now);
}

TEST_F(BookTest, ClaimsRestWhileTheStoreHasTenThousandToSettle) {
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_TRUE(book.may_claim());
    end(hold(std::to_string(i)));
  }
  EXPECT_FALSE(book.may_claim());
  EXPECT_EQ(settling().size(), 1'000u);
  EXPECT_TRUE(book.may_claim());
}

// -- claims that take settlements with them

class JoiningBookTest : public BookTest {
 protected:
  JoiningBookTest() : BookTest({.lease = 9s, .joins = true}) {}
  std::string joined() {
    const auto request = book.claim(1, now);
    if (!request) return "no claim";
    std::string receipts;
    for (const core::SettleItem& item : request->settle.items) {
      receipts += core::view(request->settle.bytes, item.receipt);
    }
    EXPECT_EQ(request->wait == Millis(0), !receipts.empty());
    return receipts;
  }
  static std::shared_ptr<const core::ClaimReply> told(std::vector<Outcome> outcomes_of,
                                                      std::optional<Error> error = {}) {
    auto made = std::make_shared<core::ClaimReply>();
    made->settled = outcomes(outcomes_of).items;
    made->claim_error = std::move(error);
    return made;
  }
};

TEST_F(JoiningBookTest, AClaimTakesTheSettlementsWithItAndDoesNotWait) {
  EXPECT_FALSE(book.joins(now));
  end(hold("a"));
  end(hold("b"));
  EXPECT_TRUE(book.joins(now));
  EXPECT_EQ(joined(), "ab");
  EXPECT_TRUE(settling().empty());
  EXPECT_FALSE(book.withdraw());
  EXPECT_FALSE(book.is_idle());
  EXPECT_EQ(book.claimed(told({Outcome::done, Outcome::stale}), now), now);
  EXPECT_EQ(book.counts().acked, 1u);
  EXPECT_EQ(book.counts().stale, 1u);
  EXPECT_TRUE(book.is_idle());
  EXPECT_EQ(joined(), "");
}

TEST_F(JoiningBookTest, SettlementsAreSentAloneWhileOneOfTheTwoIsOutstanding) {
  end(hold("a"));
  EXPECT_EQ(settling().size(), 1u);
  end(hold("b"));
  EXPECT_EQ(joined(), "");
  book.settled(outcomes({Outcome::done}), now);
  EXPECT_FALSE(book.joins(now));
  EXPECT_EQ(settled({Outcome::done}), (Settled{{"b", SettleAction::ack}}));
}

TEST_F(JoiningBookTest, AfterAFailedClaimSettlementsAreSentAlone) {
  end(hold("a"));
  EXPECT_EQ(joined(), "a");
  EXPECT_FALSE(book.claimed(kLostAnswer, now));
  EXPECT_TRUE(book.outage());
  now += 100ms;
  EXPECT_EQ(joined(), "");
  EXPECT_EQ(settled({Outcome::done}), (Settled{{"a", SettleAction::ack}}));
  EXPECT_TRUE(book.claimed(reply(), now));
  EXPECT_FALSE(book.outage());
}

TEST_F(JoiningBookTest, AClaimThatFailsAfterItsSettlementsCountsThem) {
  end(hold("a"));
  EXPECT_EQ(joined(), "a");
  EXPECT_FALSE(book.claimed(told({Outcome::done}, kAway), now));
  EXPECT_EQ(book.counts().acked, 1u);
  EXPECT_EQ(book.claim_at(), now + 100ms);
  EXPECT_TRUE(book.outage());
}

TEST_F(BookTest, WithoutAStoreThatDoesBothAClaimTakesNoSettlements) {
  end(hold("a"));
  EXPECT_FALSE(book.joins(now));
  const auto request = book.claim(1, now);
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->settle.items.empty());
}

// -- leases

TEST_F(BookTest, ALeaseIsExtendedAfterAThirdFromWhenItWasAskedFor) {
  const auto id = hold("a", 9s);
  hold("later", 30s);
  EXPECT_EQ(book.next(), now + 3s);
  EXPECT_TRUE(extending().empty());
  now += 3s;
  const Moment asked = now;
  const auto request = book.extend(now);
  ASSERT_TRUE(request);
  ASSERT_EQ(request->items.size(), 1u);
  EXPECT_EQ(request->items[0].lease, Millis(9s));
  EXPECT_EQ(core::view(request->bytes, request->items[0].receipt), "a");
  now += 20s;  // the book does not ask twice
  EXPECT_TRUE(extending().empty());
  const auto changes = book.extended(outcomes({Outcome::done}), now);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].id, id);
  EXPECT_EQ(changes[0].end, asked + 9s);
  EXPECT_EQ(book.lease_end(id), asked + 9s);
  EXPECT_EQ(book.next(), asked + 3s);
}

TEST_F(BookTest, AnExtensionThatWasNotAnsweredIsTriedOften) {
  const auto id = hold("a", 9s);
  hold("short", 5ms);
  now += 3s;
  EXPECT_EQ(extending().size(), 2u);
  EXPECT_TRUE(book.extended(kAway, now).empty());
  EXPECT_EQ(book.next(), now + 1ms);
  now += 1ms;
  EXPECT_EQ(extending(), std::vector<std::string>{"short"});
  core::ItemsReply answer = outcomes({Outcome::done});
  answer.items[0].error = kLostAnswer;
  EXPECT_TRUE(book.extended(answer, now).empty());
  now += 900ms;
  EXPECT_EQ(extending().size(), 2u);
  EXPECT_TRUE(book.extended(core::ItemsReply{}, now).empty());  // no answer for either of them
  now += 900ms;
  EXPECT_EQ(extending().size(), 2u);
  EXPECT_EQ(book.lease_end(id), Moment(1'000'000) + 9s);
}

TEST_F(BookTest, ALostClaimIsToldOfAndNotSettled) {
  const auto id = hold("a", 9s);
  now += 3s;
  EXPECT_EQ(extending().size(), 1u);
  const auto changes = book.extended(outcomes({Outcome::stale}), now);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].end, kLost);
  EXPECT_EQ(book.lease_end(id), kLost);
  EXPECT_EQ(book.counts().run_out, 1u);
  now += 9s;
  EXPECT_TRUE(extending().empty());
  EXPECT_TRUE(book.lapsed(now).empty());
  end(id);
  expect_one_stale_and_no_more();
}

TEST_F(BookTest, AnExtensionThatIsRefusedIsAskedForOnceAndTheClaimHolds) {
  const auto id = hold("a", 9s);
  now += 3s;
  EXPECT_EQ(extending().size(), 1u);
  core::ItemsReply answer = outcomes({Outcome::done});
  answer.items[0].error = Error{ErrorCode::unsupported, "leases live with the connection"};
  EXPECT_TRUE(book.extended(answer, now).empty());
  EXPECT_FALSE(book.next());
  EXPECT_FALSE(book.stopped_at());
  end(id);
  EXPECT_EQ(settled({Outcome::done}), (Settled{{"a", SettleAction::ack}}));
  EXPECT_EQ(book.counts().acked, 1u);
}

TEST_F(BookTest, AnExtensionsAnswerAboutAClaimThatHasEndedChangesNothing) {
  const auto id = hold("a", 9s);
  now += 3s;
  EXPECT_EQ(extending().size(), 1u);
  end(id);
  EXPECT_FALSE(book.is_idle());
  EXPECT_TRUE(book.extended(outcomes({Outcome::stale}), now).empty());
  settled({Outcome::done});
  EXPECT_TRUE(book.is_idle());
  EXPECT_EQ(book.counts().run_out, 0u);
}

TEST_F(BookTest, TellsWhoseLeaseIsOverByTheClock) {
  const auto first = hold("a", 1s);
  const auto second = hold("b", 2s);
  EXPECT_EQ(book.lapse_at(), now + 1s);
  EXPECT_TRUE(book.lapsed(now + 999ms).empty());
  EXPECT_EQ(book.lapsed(now + 1s), std::vector<Book::Id>{first});
  EXPECT_EQ(book.lapse_at(), now + 2s);
  end(first);
  EXPECT_EQ(book.lapsed(now + 2s), std::vector<Book::Id>{second});
  EXPECT_FALSE(book.lapse_at());
}

// -- settlements

TEST_F(BookTest, WhileOneSettlementIsUnderWayTheNextGathers) {
  const auto first = hold("a");
  const auto second = hold("b");
  const auto third = hold("c");
  end(first);
  EXPECT_EQ(settling(), (Settled{{"a", SettleAction::ack}}));
  end(second, SettleAction::bury);
  end(third, SettleAction::retry);
  EXPECT_TRUE(settling().empty());
  EXPECT_EQ(book.size(), 3u);
  book.settled(outcomes({Outcome::done}), now);
  EXPECT_EQ(settled({Outcome::done, Outcome::done}),
            (Settled{{"b", SettleAction::bury}, {"c", SettleAction::retry}}));
  EXPECT_EQ(book.counts(), (Counts{.acked = 1, .retried = 1, .buried = 1}));
  EXPECT_EQ(book.take_counts(), (Counts{.acked = 1, .retried = 1, .buried = 1}));
  EXPECT_EQ(book.counts(), Counts());
}

TEST_F(BookTest, ASettlementWhoseAnswerWasLostIsSentAgainWhileItsLeaseHolds) {
  const auto id = hold("a", 500ms);
  end(id);
  for (const Millis pause : {100ms, 200ms}) {
    EXPECT_EQ(settling().size(), 1u);
    book.settled(kLostAnswer, now);
    now += pause - 1ms;
    EXPECT_TRUE(settling().empty());
    now += 1ms;
  }
  EXPECT_EQ(settling().size(), 1u);
  book.settled(kLostAnswer, now);
  now += 400ms;  // 700 ms after the claim
  expect_one_stale_and_no_more();
}

TEST_F(BookTest, WhatEndedLateIsSentOnceAllTheSame) {
  const auto id = hold("a", 500ms);
  now += 1s;
  end(id);
  EXPECT_EQ(settled({Outcome::done}).size(), 1u);
  EXPECT_EQ(book.counts().acked, 1u);
}

TEST_F(BookTest, ItemsAreAnsweredOneByOne) {
  for (const std::string key : {"done", "stale", "refused", "away", "not told"}) end(hold(key));
  EXPECT_EQ(settling().size(), 5u);
  core::ItemsReply answer =
      outcomes({Outcome::done, Outcome::stale, Outcome::unknown, Outcome::unknown});
  answer.items[2].error = Error{ErrorCode::unsupported, "no place for the dead"};
  answer.items[3].error = kAway;
  book.settled(answer, now);
  EXPECT_EQ(book.counts(), (Counts{.acked = 1, .stale = 2, .refused = 1}));
  EXPECT_EQ(book.take_refusal(), (Error{ErrorCode::unsupported, "no place for the dead"}));
  EXPECT_EQ(book.take_refusal(), std::nullopt);
  EXPECT_EQ(book.next(), now + 100ms);
  now += 100ms;
  EXPECT_EQ(settled({Outcome::done, Outcome::done}),
            (Settled{{"away", SettleAction::ack}, {"not told", SettleAction::ack}}));
}

// -- the end

TEST_F(BookTest, AfterAStopNothingIsClaimedOrHeldAndLeasesAreStillExtended) {
  const auto id = hold("a", 9s);
  ASSERT_TRUE(book.claim(1, now));
  book.stop(now);
  EXPECT_FALSE(book.is_idle());
  EXPECT_EQ(book.claimed(reply(), now), now);
  EXPECT_FALSE(book.hold("b", 9s, now, now));
  EXPECT_EQ(settled({Outcome::done}), (Settled{{"b", SettleAction::release}}));
  EXPECT_FALSE(book.claim(1, now));
  now += 3s;
  EXPECT_EQ(extending().size(), 1u);
  static_cast<void>(book.extended(outcomes({Outcome::done}), now));
  end(id);
  EXPECT_FALSE(book.is_idle());
  settled({Outcome::done});
  EXPECT_TRUE(book.is_idle());
  EXPECT_FALSE(book.error());
}

TEST_F(BookTest, AHoldBoundsForHowLong) {
  Book bounded({.lease = {}, .hold = 2s});
  ASSERT_TRUE(bounded.hold("a", 3s, now, now));
  bounded.stop(now + 500ms);
  EXPECT_TRUE(bounded.extend(now + 1s));
  static_cast<void>(bounded.extended(outcomes({Outcome::done}), now + 1s));
  EXPECT_FALSE(bounded.extend(now + 2'500ms));
  EXPECT_FALSE(bounded.next());
}

TEST_F(BookTest, AStoppedBookRepeatsASettlementForTenSecondsAfterItEnded) {
  const auto early = hold("early", 1h);
  const auto late = hold("late", 1h);
  end(early);
  book.stop(now);
  now += 20s;
  end(late);  // a handler may run on for long after a stop
  EXPECT_EQ(settling().size(), 2u);
  book.settled(kAway, now);
  now += 9'999ms;
  EXPECT_EQ(settling(), (Settled{{"late", SettleAction::ack}}));
  EXPECT_EQ(book.counts().stale, 1u);
  book.settled(kAway, now);
  now += 1s;
  EXPECT_TRUE(settling().empty());
  EXPECT_EQ(book.counts().stale, 2u);
  EXPECT_TRUE(book.is_idle());
}

TEST_F(BookTest, OnceAbandonedTheStoreIsAskedOnce) {
  end(hold("tried"));
  EXPECT_EQ(settling().size(), 1u);
  end(hold("new"));
  book.settled(kAway, now);
  book.stop(now);
  book.abandon();
  EXPECT_EQ(settling(), (Settled{{"new", SettleAction::ack}}));
  book.settled(kAway, now);
  EXPECT_TRUE(settling().empty());
  EXPECT_EQ(book.counts().stale, 2u);
}

TEST_F(BookTest, AnErrorThatDoesNotPassEndsItAndTheFirstIsKept) {
  const auto id = hold("a", 9s);
  now += 3s;
  EXPECT_EQ(extending().size(), 1u);
  EXPECT_TRUE(book.extended(Error{ErrorCode::damaged, "bytes do not check"}, now).empty());
  EXPECT_EQ(book.stopped_at(), now);
  end(id);
  EXPECT_EQ(settling().size(), 1u);
  book.settled(Error{ErrorCode::permission_denied, "not yours"}, now);
  EXPECT_EQ(book.error(), (Error{ErrorCode::damaged, "bytes do not check"}));
  EXPECT_EQ(book.counts().stale, 1u);
  EXPECT_TRUE(book.is_idle());
}

TEST_F(BookTest, AStoreThatWasClosedIsNoError) {
  ASSERT_TRUE(book.claim(1, now));
  EXPECT_FALSE(book.claimed(Error{ErrorCode::closed, "the store is closed"}, now));
  EXPECT_TRUE(book.stopped_at());
  EXPECT_FALSE(book.error());
}

// -- outages

TEST_F(BookTest, AnOutageOfClaimsIsOverOnceAClaimIsAnswered) {
  ASSERT_TRUE(book.claim(1, now));
  EXPECT_FALSE(book.claimed(kAway, now));
  EXPECT_EQ(book.outage(), kAway);
  end(hold("a"));
  settled({Outcome::done});
  EXPECT_EQ(book.outage(), kAway);  // a store that settles may still be unable to deliver
  now += 100ms;
  ASSERT_TRUE(book.claim(1, now));
  EXPECT_TRUE(book.claimed(reply(), now));
  EXPECT_EQ(book.outage(), std::nullopt);
}

TEST_F(BookTest, AnOutageOfSettlementsIsOverOnceNoneIsLeft) {
  end(hold("a", 50ms));
  EXPECT_EQ(settling().size(), 1u);
  book.settled(kAway, now);
  EXPECT_EQ(book.outage(), kAway);
  now += 100ms;
  EXPECT_TRUE(settling().empty());
  EXPECT_EQ(book.outage(), std::nullopt);
}

TEST_F(BookTest, AnOutageOfExtensionsIsOverOnceTheStoreAnswersAnything) {
  const auto id = hold("a", 9s);
  now += 3s;
  EXPECT_EQ(extending().size(), 1u);
  static_cast<void>(book.extended(kAway, now));
  EXPECT_EQ(book.outage(), kAway);
  end(id);
  settled({Outcome::done});
  EXPECT_EQ(book.outage(), std::nullopt);
}

}  // namespace
}  // namespace tarry::leases
