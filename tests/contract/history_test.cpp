// The setting `history`: the last events of a message, and how long they are kept.
#include "core/limits.h"
#include "limited_queues.h"

namespace tarry::contract {
namespace {

using Lines = std::vector<std::string>;

class History : public LimitedQueues {
 protected:
  Queue kept(std::uint32_t most = 20) {
    const Queue q = queue();
    EXPECT_EQ(must(q.configure({.remember = 1h, .history = most})).history, most);
    return q;
  }
  /// "claimed 1 +5000": the event, its attempt, when it was and what it says.
  Lines events(const Queue& q, std::string_view key) {
    Lines lines;
    for (const MessageEvent& event : must(q.history(key)).events) {
      std::string& line = lines.emplace_back(to_string(event.kind));
      if (event.attempt != 0) line += ' ' + std::to_string(event.attempt);
      line += " +" + std::to_string(ms(event.at) - begin_ms_);
      if (event.due) line += " due +" + std::to_string(ms(*event.due) - begin_ms_);
      if (!event.reason.empty()) line += ": " + event.reason;
    }
    return lines;
  }
  void SetUp() override {
    LimitedQueues::SetUp();
    begin_ms_ = now_ms();
  }
  /// Lives through all events but three.
  Lines live(const Queue& q) {
    (void)must(q.configure({.max_attempts = 2}));
    EXPECT_EQ(must(q.push({.key = "k", .payload = "x", .due = in(5s)})), Outcome::pushed);
    clock().advance(1s);
    (void)must(q.reschedule("k", in(1s)));
    clock().advance(1s);
    const Delivery first = claim_one(q);
    (void)must(q.settle(
        {.receipt = first.receipt(), .action = Action::retry, .delay = 1s, .reason = "no route"}));
    clock().advance(1s);
    (void)must(q.release(claim_one(q).receipt()));
    (void)claim_one(q, 10s);
    clock().advance(10s);
    EXPECT_TRUE(nothing_due(q));
    EXPECT_EQ(must(q.revive({"k"})), 1u);
    (void)must(q.bury(claim_one(q).receipt(), "broken"));
    EXPECT_EQ(must(q.reschedule("k", in(1s))), Outcome::revived);
    clock().advance(1s);
    const Delivery last = claim_one(q);
    EXPECT_EQ(must(q.cancel("k")), Outcome::stopping);
    EXPECT_EQ(must(q.ack(last.receipt())), Outcome::done);
    return {"pushed +0 due +5000",
            "rescheduled +1000 due +2000",
            "claimed 1 +2000",
            "retried 1 +2000 due +3000: no route",
            "claimed 2 +3000",
            "released 2 +3000",
            "claimed 2 +3000",
            "died 2 +13000: lease ran out on attempt 2 of 2",
            "revived +13000 due +13000",
            "claimed 1 +13000",
            "buried 1 +13000: broken",
            "revived +13000 due +14000",
            "claimed 1 +14000",
            "stopping 1 +14000",
            "acked 1 +14000"};
  }

 private:
  std::int64_t begin_ms_ = 0;
};
INSTANTIATE_TEST_SUITE_P(On, History, testing::ValuesIn(limiting(all_engines())), EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(History);

TEST_P(History, TellsALifeAndIsRemembered) {
  const Queue q = kept();
  const Lines life = live(q);
  EXPECT_EQ(events(q, "k"), life);
  clock().advance(1h - 1ms);
  EXPECT_EQ(events(q, "k"), life);
  clock().advance(1ms);
  const auto gone = q.history("k");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::not_found);
}

TEST_P(History, TellsOfExpiryAndOfLeasesThatRunOut) {
  const Queue q = kept();
  (void)must(q.push({.key = "k", .payload = "x", .expire = 1min}));
  (void)claim_one(q, 10s);
  clock().advance(10s);
  EXPECT_EQ(find(q, "k")->state, State::ready);
  clock().advance(50s);
  EXPECT_EQ(events(q, "k"),
            (Lines{"pushed +0 due +0", "claimed 1 +0", "run_out 1 +10000", "expired 1 +60000"}));
}

TEST_P(History, KeepsTheLastEvents) {
  const Queue q = kept(2);
  EXPECT_EQ(must(q.push({.key = "k", .payload = "x", .due = in(1h)})), Outcome::pushed);
  for (const Millis due : {1s, 2s, 3s}) (void)must(q.reschedule("k", in(due)));
  EXPECT_EQ(events(q, "k"), (Lines{"rescheduled +0 due +2000", "rescheduled +0 due +3000"}));
  EXPECT_EQ(must(q.history("k")).limit, 2u);
  (void)must(q.configure({.history = 1}));
  EXPECT_EQ(events(q, "k"), Lines{"rescheduled +0 due +3000"});
  (void)must(q.configure({.history = 0}));
  (void)must(q.configure({.history = 100}));
  EXPECT_EQ(events(q, "k"), Lines{});
  (void)must(q.cancel("k"));
  EXPECT_EQ(events(q, "k"), Lines{"cancelled +0"});
}

TEST_P(History, OfAQueueThatKeepsNoneIsEmpty) {
  const Queue q = queue();
  push(q, 1);
  EXPECT_EQ(must(q.history("k0")), MessageHistory());
  EXPECT_EQ(q.history("other").error().code, ErrorCode::not_found);
  EXPECT_EQ(queue("none").history("k0").error().code, ErrorCode::not_found);
}

TEST_P(History, EndsWithItsMessage) {
  const Queue q = kept();
  (void)must(q.push({.key = "k", .payload = "x", .due = in(1h)}));
  clock().advance(1s);
  EXPECT_EQ(must(q.push({.key = "k", .payload = "y", .if_exists = IfExists::replace})),
            Outcome::replaced);
  EXPECT_EQ(events(q, "k"), Lines{"pushed +1000 due +1000"});
  EXPECT_EQ(must(q.purge()), 1u);
  EXPECT_FALSE(q.history("k"));
}

TEST_P(History, CutsALongReason) {
  const Queue q = kept();
  push(q, 1);
  const std::string reason(255, 'r');
  (void)must(q.bury(claim_one(q).receipt(), reason));
  EXPECT_EQ(find(q, "k0")->reason, reason);
  EXPECT_EQ(must(q.history("k0")).events.back().reason, reason.substr(0, core::kMaxEventText));
}

TEST_P(History, NamesTheClientOfAServer) {
  const Queue q = kept();
  push(q, 1);
  (void)claim_one(q);
  EXPECT_EQ(must(q.history("k0")).events.back().by.empty(), !is_remote());
}

TEST_P(History, HasALimit) {
  const auto refused = queue().configure({.history = 101});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  expect_names(refused.error(), {"history", "101", "100"});
}

class HistoryReopened : public History {};
INSTANTIATE_TEST_SUITE_P(On, HistoryReopened, testing::ValuesIn(limiting(durable_engines(), true)),
                         EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HistoryReopened);

TEST_P(HistoryReopened, IsTheSame) {
  const Lines life = live(kept());
  (void)must(queue().push({.key = "other", .payload = "x", .due = in(1h)}));
  const Lines other = events(queue(), "other");
  rig().reopen();
  EXPECT_EQ(events(queue(), "k"), life);
  EXPECT_EQ(events(queue(), "other"), other);
}

class NoHistory : public Contract {};
INSTANTIATE_TEST_SUITE_P(On, NoHistory, testing::ValuesIn(limiting(all_engines(), false)),
                         EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoHistory);

TEST_P(NoHistory, IsRefusedByName) {
  const auto refused = queue().configure({.history = 5});
  ASSERT_FALSE(refused) << "was taken";
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported) << refused.error().message;
  expect_names(refused.error(), {"history 5"});
  (void)must(queue().configure({.history = 0}));
  const auto asked = queue().history("k");
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, ErrorCode::unsupported) << asked.error().message;
}

}  // namespace
}  // namespace tarry::contract
