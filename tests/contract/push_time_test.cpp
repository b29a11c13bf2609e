// The push time of a message: everything that happens to the message keeps it, except a new push.
#include "contract.h"

namespace tarry::contract {
namespace {

class PushTime : public Contract {
 protected:
  /// The push time that `get` must answer for a push at this moment.
  [[nodiscard]] std::optional<Time> now() { return rig().kept_push_time(now_ms()); }
  [[nodiscard]] std::optional<Time> told(const Queue& q, std::string_view key = "k") {
    return find(q, key).value().pushed;
  }
};
TARRY_ON_ALL_ENGINES(PushTime);

TEST_P(PushTime, IsTheStoresClockWhenItAcceptedThePush) {
  const Queue q = queue();
  (void)must(q.push({.key = "first", .payload = "x", .due = in(1h)}));
  const auto first = now();
  clock().advance(61s + 7ms);
  (void)must(q.push({.key = "second", .payload = "x", .due = at(clock().now() - 1h)}));
  ASSERT_TRUE(first);
  EXPECT_EQ(told(q, "first"), first);
  EXPECT_EQ(told(q, "second"), now());
  EXPECT_NE(told(q, "first"), told(q, "second"));
  for (const MessageInfo& info : list_all(q)) {
    EXPECT_EQ(info.pushed, told(q, info.key)) << info.key;
  }
}

// Many messages with generated keys and absolute due times take a different path on Redis.
TEST_P(PushTime, IsToldOfManyThatWerePushedTogether) {
  const Queue q = queue();
  const std::vector<Push> pushes(20, Push{.payload = "x", .due = at(clock().now() + 1h)});
  const auto pushed = must(q.push(pushes));
  const auto then = now();
  clock().advance(2min);
  for (const auto& one : pushed) EXPECT_EQ(told(q, must(one).key), then);
}

TEST_P(PushTime, IsKeptByAllThatHappensToTheMessage) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x", .priority = 7}));
  const auto then = now();
  const auto still = [&](const char* after) {
    EXPECT_EQ(told(q), then) << after;
    clock().advance(2min);
  };
  clock().advance(2min);
  still("the push");
  std::string receipt(claim_one(q).receipt());
  still("the claim");
  EXPECT_EQ(must(q.release(receipt)), Outcome::done);
  still("the release");
  receipt = claim_one(q).receipt();
  EXPECT_EQ(must(q.retry(receipt, 1min)), Outcome::done);
  still("the retry");
  EXPECT_EQ(must(q.reschedule("k", in(1h))), Outcome::rescheduled);
  still("the reschedule");
  EXPECT_EQ(must(q.push({.key = "k", .payload = "y", .if_exists = IfExists::keep})), Outcome::kept);
  still("the push that kept it");
  EXPECT_EQ(must(q.push({.key = "k", .payload = "y", .if_exists = IfExists::earlier})),
            Outcome::moved);
  still("the push that moved it");
  receipt = claim_one(q).receipt();
  EXPECT_EQ(must(q.bury(receipt, "for a test")), Outcome::done);
  still("the burial");
  EXPECT_EQ(must(q.revive()), 1u);
  still("the revival");
}

TEST_P(PushTime, IsAnewAfterAReplace) {
  const Queue q = queue();
  const auto replace = [&](Outcome outcome) {
    clock().advance(2min);
    EXPECT_EQ(must(q.push({.key = "k", .payload = "y", .if_exists = IfExists::replace})), outcome);
    EXPECT_EQ(told(q), now());
  };
  (void)must(q.push({.key = "k", .payload = "x", .due = in(1h)}));
  replace(Outcome::replaced);
  EXPECT_EQ(must(q.bury(claim_one(q).receipt())), Outcome::done);
  replace(Outcome::revived);
}

TEST_P(PushTime, IsNotToldOfWhatIsRemembered) {
  const Queue q = queue();
  (void)must(q.configure({.remember = 1h}));
  (void)must(q.push({.key = "k", .payload = "x"}));
  EXPECT_EQ(must(q.ack(claim_one(q).receipt())), Outcome::done);
  ASSERT_EQ(find(q, "k")->state, State::remembered);
  EXPECT_FALSE(told(q));
}

class PushTimeReopened : public PushTime {};
TARRY_ON_DURABLE_ENGINES(PushTimeReopened);

TEST_P(PushTimeReopened, IsKept) {
  (void)must(queue().push({.key = "k", .payload = "x", .due = in(1h)}));
  const auto then = now();
  clock().advance(2min);
  rig().reopen();
  EXPECT_EQ(told(queue()), then);
}

}  // namespace
}  // namespace tarry::contract
