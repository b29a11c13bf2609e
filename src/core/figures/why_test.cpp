#include "core/figures/why.h"

#include <gtest/gtest.h>

namespace tarry::core {
namespace {

constexpr Time kDue{Millis(1'893'456'000'000)};  // 2030-01-01T00:00:00Z

MessageInfo message(State state) {
  MessageInfo info;
  info.queue = "orders";
  info.key = "order:42";
  info.state = state;
  info.due = kDue;
  info.payload = "close it";
  return info;
}

QueueStats queue() {
  QueueStats stats;
  stats.queue = "orders";
  return stats;
}

TEST(WhyTest, NotDueYet) {
  const Why why = core::why(message(State::scheduled), queue());
  EXPECT_EQ(why.cause, Cause::not_due);
  EXPECT_EQ(why.text, "It is not due before 2030-01-01T00:00:00.000Z.");
  EXPECT_EQ(why.message.payload, "") << "the payload is not part of the answer";
}

TEST(WhyTest, ARetryTellsItsAttempts) {
  MessageInfo info = message(State::scheduled);
  info.attempt = 2;
  QueueStats stats = queue();
  stats.settings.max_attempts = 5;
  const Why why = core::why(info, stats);
  EXPECT_EQ(why.cause, Cause::retry_not_due);
  EXPECT_EQ(why.text, "2 of 5 attempts made; the next one is due at 2030-01-01T00:00:00.000Z.");
}

TEST(WhyTest, APauseIsToldBeforeTheTimeHasCome) {
  QueueStats stats = queue();
  stats.paused = true;
  EXPECT_EQ(core::why(message(State::scheduled), stats).text,
            "It is not due before 2030-01-01T00:00:00.000Z. The queue is paused until "
            "`tarry queue resume orders`.");
}

TEST(WhyTest, DueButHeldByALimit) {
  QueueStats stats = queue();
  stats.settings.max_leased = 5;
  stats.waiting_claims = 3;
  stats.leased = 4;
  EXPECT_EQ(core::why(message(State::ready), stats).cause, Cause::offered);
  stats.leased = 5;
  const Why why = core::why(message(State::ready), stats);
  EXPECT_EQ(why.cause, Cause::limited);
  EXPECT_EQ(why.text,
            "It has been due since 2030-01-01T00:00:00.000Z, but it is held by max_leased: "
            "5 of 5 leased.");
  EXPECT_EQ(core::why(message(State::leased), stats).cause, Cause::leased);
}

TEST(WhyTest, DueButHeldByTheRate) {
  QueueStats stats = queue();
  stats.rate_next = kDue + std::chrono::seconds(30);
  const Why why = core::why(message(State::ready), stats);
  EXPECT_EQ(why.cause, Cause::limited);
  EXPECT_EQ(why.text,
            "It has been due since 2030-01-01T00:00:00.000Z, but it is held by rate: next at "
            "2030-01-01T00:00:30.000Z.");
}

TEST(WhyTest, DueButPaused) {
  QueueStats stats = queue();
  stats.paused = true;
  stats.paused_until = kDue + std::chrono::hours(1);
  stats.waiting_claims = 3;
  const Why why = core::why(message(State::ready), stats);
  EXPECT_EQ(why.cause, Cause::paused);
  EXPECT_EQ(why.text,
            "It has been due since 2030-01-01T00:00:00.000Z, but the queue is paused until "
            "2030-01-01T01:00:00.000Z.");
}

TEST(WhyTest, DueWithoutConsumers) {
  const Why why = core::why(message(State::ready), queue());
  EXPECT_EQ(why.cause, Cause::no_consumer);
  EXPECT_EQ(why.text,
            "It has been due since 2030-01-01T00:00:00.000Z, but no claim waits, and no message "
            "of the queue is leased: no consumer is at work.");
}

TEST(WhyTest, DueBehindOthers) {
  QueueStats stats = queue();
  stats.leased = 1;
  stats.ready = 200;
  stats.oldest_ready = kDue - std::chrono::hours(1);
  const Why why = core::why(message(State::ready), stats);
  EXPECT_EQ(why.cause, Cause::consumers_busy);
  EXPECT_EQ(why.text,
            "It has been due since 2030-01-01T00:00:00.000Z, but no claim waits: consumers have "
            "1 other message of the queue, and 200 messages are ready, the oldest since "
            "2029-12-31T23:00:00.000Z.");
}

TEST(WhyTest, DueWhileClaimsWait) {
  QueueStats stats = queue();
  stats.waiting_claims = 1;
  const Why why = core::why(message(State::ready), stats, {{"mail", false}});
  EXPECT_EQ(why.cause, Cause::offered) << "a relay that is down does not matter then";
  EXPECT_NE(why.text.find("1 claim waits"), std::string::npos) << why.text;
}

TEST(WhyTest, ARelayThatIsDown) {
  const Why open = core::why(message(State::ready), queue(), {{"mail", false}});
  EXPECT_EQ(open.cause, Cause::relay_down);
  EXPECT_NE(open.text.find("the relay \"mail\" has opened its breaker"), std::string::npos)
      << open.text;
  const Why ended = core::why(message(State::ready), queue(), {{"mail", true}});
  EXPECT_NE(ended.text.find("has ended with an error"), std::string::npos) << ended.text;
}

TEST(WhyTest, LeasedByAHolder) {
  MessageInfo info = message(State::leased);
  info.attempt = 1;
  info.lease_left = Millis(30'000);
  info.holder = "10.0.0.7 tarry-go/0.2.0";
  Why why = core::why(info, queue());
  EXPECT_EQ(why.cause, Cause::leased);
  EXPECT_NE(why.text.find("10.0.0.7 tarry-go/0.2.0 has it"), std::string::npos) << why.text;
  EXPECT_NE(why.text.find("it ends in 30s."), std::string::npos) << why.text;
  info.stopping = true;
  why = core::why(info, queue());
  EXPECT_EQ(why.cause, Cause::stopping);
  EXPECT_NE(why.text.find("cancelled meanwhile"), std::string::npos) << why.text;
}

TEST(WhyTest, DeadForItsReason) {
  MessageInfo info = message(State::dead);
  info.attempt = 5;
  info.max_attempts = 5;
  info.reason = "connection refused";
  const Why why = core::why(info, queue());
  EXPECT_EQ(why.cause, Cause::dead);
  EXPECT_EQ(why.text,
            "It is dead, 5 of 5 attempts made: connection refused. To make it due again: "
            "`tarry dead revive orders \"order:42\"`.");
}

TEST(WhyTest, EndedAndRemembered) {
  MessageInfo info = message(State::remembered);
  info.settlement = Settlement{Ending::cancelled, kDue};
  const Why why = core::why(info, queue());
  EXPECT_EQ(why.cause, Cause::ended);
  EXPECT_EQ(why.text, "It was cancelled at 2030-01-01T00:00:00.000Z.");
}

TEST(WhyTest, UnknownTellsWhatTheQueueRemembers) {
  QueueStats stats = queue();
  stats.settings.remember = Millis(0);
  EXPECT_EQ(why_unknown("order:9", stats),
            "the queue \"orders\" knows no message \"order:9\": none was pushed, or it has "
            "ended, and the queue remembers no ended messages (remember = 0)");
  stats.settings.remember = Millis(3'600'000);
  EXPECT_NE(why_unknown("order:9", stats).find("for 1h only"), std::string::npos);
}

}  // namespace
}  // namespace tarry::core
