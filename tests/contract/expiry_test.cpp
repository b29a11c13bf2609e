// Expiry: a message that nobody took in time ends, or is dead; a claim never gets it.
#include "contract.h"
#include "core/limits.h"

namespace tarry::contract {
namespace {

std::vector<EngineSpec> those(std::vector<EngineSpec> engines) {
  std::erase_if(engines, [](const EngineSpec& spec) { return spec.kind == Kind::rabbitmq; });
  return engines;
}

class Expiry : public Contract {
 protected:
  static void push(const Queue& q, Push message) {
    message.payload = "x";
    EXPECT_EQ(must(q.push(message)), Outcome::pushed);
  }
  static std::uint64_t expired(const Queue& q) { return must(q.stats()).counters.expired; }
};
INSTANTIATE_TEST_SUITE_P(On, Expiry, testing::ValuesIn(those(all_engines())), EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Expiry);

TEST_P(Expiry, EndsAMessageThatNobodyTookInTime) {
  const Queue q = queue();
  push(q, {.key = "k", .due = in(1h), .expire = 10min});
  const MessageInfo info = find(q, "k").value();
  EXPECT_EQ(info.expire, 10min);
  EXPECT_EQ(info.expire_at, info.due + 10min);
  clock().advance(1h + 10min - 1ms);
  EXPECT_EQ(find(q, "k")->state, State::ready);
  clock().advance(1ms);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_FALSE(find(q, "k"));
  EXPECT_EQ(expired(q), 1u);
  push(q, {.key = "k"});
  EXPECT_FALSE(find(q, "k")->expire_at);
}

TEST_P(Expiry, AtATimeAndUntilTheMillisecondBefore) {
  const Queue q = queue();
  const Time end = clock().now() + 1h;
  push(q, {.key = "a", .expire_at = end});
  push(q, {.key = "b", .expire_at = end});
  const MessageInfo info = find(q, "a").value();
  EXPECT_FALSE(info.expire);
  EXPECT_EQ(info.expire_at, end);
  clock().advance(1h - 1ms);
  EXPECT_EQ(claim(q, 1).size(), 1u);
  clock().advance(1ms);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(expired(q), 1u);
}

TEST_P(Expiry, OneThatWasOverBeforeThePushIsNotDelivered) {
  const Queue q = queue();
  push(q, {.key = "k", .due = at(clock().now() - 2h), .expire = 1h});
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(expired(q), 1u);
}

// A request is carried out at one moment: what it pushes is there for the rest of it.
TEST_P(Expiry, OneThatWasOverIsThereUntilTheEndOfItsRequest) {
  const Queue q = queue();
  const std::vector<Push> pushes = {
      {.key = "k", .payload = "x", .due = at(clock().now() - 2h), .expire = 1h},
      {.key = "k", .payload = "y"}};
  const auto pushed = must(q.push(pushes));
  ASSERT_EQ(pushed.size(), 2u);
  EXPECT_EQ(must(pushed[0]), Outcome::pushed);
  EXPECT_EQ(must(pushed[1]), Outcome::exists);
  EXPECT_TRUE(nothing_due(q));
}

TEST_P(Expiry, IsRemembered) {
  const Queue q = queue();
  (void)must(q.configure({.remember = 1h}));
  push(q, {.key = "k", .expire = 1min});
  clock().advance(1min);
  const Settlement how{Ending::expired, clock().now()};
  const MessageInfo info = find(q, "k").value();
  EXPECT_EQ(info.state, State::remembered);
  EXPECT_EQ(info.settlement, how);
  EXPECT_FALSE(info.expire_at);
  clock().advance(59min);
  EXPECT_EQ(must(q.push({.key = "k", .payload = "y"})), Outcome::settled);
  EXPECT_EQ(must(q.cancel("k")).settlement, how);
  EXPECT_EQ(must(q.reschedule("k", in(1h))).settlement, how);
  clock().advance(1min);
  EXPECT_FALSE(find(q, "k"));
  EXPECT_EQ(expired(q), 1u);
}

TEST_P(Expiry, MayMakeAMessageDead) {
  const Queue q = queue();
  EXPECT_EQ(must(q.configure({.on_expiry = OnExpiry::dead})).on_expiry, OnExpiry::dead);
  push(q, {.key = "after", .expire = 1min});
  push(q, {.key = "at", .expire_at = clock().now() + 1min});
  clock().advance(1min);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(find(q, "at")->state, State::dead);
  EXPECT_EQ(find(q, "at")->reason, "expired");
  EXPECT_EQ(must(q.stats()).dead, 2u);
  EXPECT_EQ(expired(q), 0u);
  EXPECT_EQ(must(q.revive()), 2u);
  EXPECT_EQ(find(q, "after")->expire_at, clock().now() + 1min);
  EXPECT_FALSE(find(q, "at")->expire_at);
  clock().advance(1min);
  EXPECT_EQ(claim_one(q).key(), "at");
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(find(q, "after")->state, State::dead);
}

TEST_P(Expiry, LeavesALeasedMessageToItsConsumer) {
  const Queue q = queue();
  push(q, {.key = "k", .expire = 1min});
  const Delivery delivery = claim_one(q);
  clock().advance(1h);
  EXPECT_EQ(find(q, "k")->state, State::leased);
  EXPECT_EQ(must(q.extend(delivery.receipt(), 1h)), Outcome::done);
  EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
  EXPECT_EQ(expired(q), 0u);
  EXPECT_EQ(must(q.stats()).counters.acked, 1u);
}

TEST_P(Expiry, ComesWhenALeasedMessageComesBackTooLate) {
  const Queue q = queue();
  for (const char* key : {"released", "retried", "ran out"}) push(q, {.key = key, .expire = 1min});
  const std::vector<Delivery> deliveries = claim(q, 3, 2min);
  ASSERT_EQ(deliveries.size(), 3u);
  clock().advance(1min + 59s);
  EXPECT_EQ(must(q.release(deliveries[0].receipt())), Outcome::done);
  EXPECT_EQ(must(q.retry(deliveries[1].receipt(), 1h)), Outcome::done);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(expired(q), 2u);
  clock().advance(1s);
  EXPECT_TRUE(nothing_due(q));
  EXPECT_EQ(expired(q), 3u);
  EXPECT_EQ(must(q.ack(deliveries[2].receipt())), Outcome::stale);
}

TEST_P(Expiry, IsNotMovedByARetry) {
  const Queue q = queue();
  push(q, {.key = "k", .expire = 10min});
  const Time end = find(q, "k")->expire_at.value();
  EXPECT_EQ(must(q.retry(claim_one(q).receipt(), 5min)), Outcome::done);
  EXPECT_EQ(find(q, "k")->expire_at, end);
  clock().advance(10min);
  EXPECT_FALSE(find(q, "k"));
}

TEST_P(Expiry, MovesWithTheDueTime) {
  const Queue q = queue();
  push(q, {.key = "k", .due = in(1h), .expire = 10min});
  EXPECT_EQ(must(q.reschedule("k", in(2h))), Outcome::rescheduled);
  EXPECT_EQ(find(q, "k")->expire_at, find(q, "k")->due + 10min);
  const Push later{.key = "k", .payload = "y", .due = in(3h), .if_exists = IfExists::later};
  EXPECT_EQ(must(q.push(later)), Outcome::moved);
  EXPECT_EQ(find(q, "k")->expire_at, find(q, "k")->due + 10min);
  clock().advance(3h);
  EXPECT_EQ(claim_one(q).key(), "k");
}

TEST_P(Expiry, AtATimeIsNotMovedAndMustStayAfterTheDueTime) {
  const Queue q = queue();
  const Time end = clock().now() + 2h;
  push(q, {.key = "k", .due = in(1h), .expire_at = end});
  EXPECT_EQ(must(q.reschedule("k", in(90min))), Outcome::rescheduled);
  EXPECT_EQ(find(q, "k")->expire_at, end);
  const auto late = q.reschedule("k", at(end));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::invalid_argument);
  expect_names(late.error(), {"due time", "expires"});
  const Push later{.key = "k", .payload = "y", .due = in(3h), .if_exists = IfExists::later};
  ASSERT_FALSE(q.push(later));
  EXPECT_EQ(find(q, "k")->due, clock().now() + 90min);
}

TEST_P(Expiry, OfAReplacedMessageIsThatOfTheNewPush) {
  const Queue q = queue();
  push(q, {.key = "k", .due = in(1h), .expire = 10min});
  const Push never{.key = "k", .payload = "y", .if_exists = IfExists::replace};
  EXPECT_EQ(must(q.push(never)), Outcome::replaced);
  EXPECT_FALSE(find(q, "k")->expire_at);
  const Push kept{.key = "k", .payload = "z", .if_exists = IfExists::keep, .expire = 1s};
  EXPECT_EQ(must(q.push(kept)), Outcome::kept);
  EXPECT_FALSE(find(q, "k")->expire_at);
}

TEST_P(Expiry, OfTheQueueIsForPushesThatNameNone) {
  const Queue q = queue();
  push(q, {.key = "before"});
  EXPECT_EQ(must(q.configure({.expire = 1h})).expire, 1h);
  push(q, {.key = "queue's"});
  push(q, {.key = "own", .expire = 1min});
  push(q, {.key = "at", .expire_at = clock().now() + 2min});
  EXPECT_EQ(find(q, "queue's")->expire, 1h);
  EXPECT_EQ(find(q, "own")->expire, 1min);
  (void)must(q.configure({.expire = 0ms}));
  push(q, {.key = "after"});
  EXPECT_FALSE(find(q, "before")->expire_at);
  EXPECT_FALSE(find(q, "after")->expire_at);
  clock().advance(1h);
  EXPECT_EQ(key_set(claim_all(q)), (std::multiset<std::string>{"before", "after"}));
  EXPECT_EQ(expired(q), 3u);
}

TEST_P(Expiry, GoesOnWhileTheQueueIsPaused) {
  const Queue q = queue();
  must(q.pause());
  push(q, {.key = "k", .expire = 1min});
  push(q, {.key = "other"});
  clock().advance(1min);
  EXPECT_EQ(expired(q), 1u);
  must(q.resume());
  EXPECT_EQ(claim_one(q).key(), "other");
}

TEST_P(Expiry, IsNoObstacleForAClaimByKey) {
  const Queue q = queue();
  push(q, {.key = "k", .due = in(1h), .expire = 1min});
  core::ClaimRequest request;
  request.queues = {"q"};
  request.keys = {"k"};
  request.any_state = true;
  request.lease = kLongLease;
  const auto claimed = deliveries(must(submit(rig().engine(), request)));
  ASSERT_EQ(claimed.size(), 1u);
  clock().advance(2h);
  EXPECT_EQ(must(q.release(claimed[0].receipt())), Outcome::done);
  EXPECT_TRUE(deliveries(must(submit(rig().engine(), request))).empty());
  EXPECT_EQ(expired(q), 1u);
}

TEST_P(Expiry, EndsManyTogether) {
  const Queue q = queue();
  std::vector<Push> pushes(300, Push{.payload = "x", .expire = 1s});
  pushes.push_back({.key = "last", .payload = "x"});
  for (const auto& pushed : must(q.push(pushes))) EXPECT_EQ(must(pushed), Outcome::pushed);
  clock().advance(1s);
  EXPECT_EQ(claim_one(q).key(), "last");
  EXPECT_EQ(expired(q), 300u);
}

TEST_P(Expiry, ThatIsWrongIsRefused) {
  const Queue q = queue();
  const auto refused = [&](const Push& message, std::initializer_list<std::string_view> names) {
    const auto pushed = q.push(message);
    ASSERT_FALSE(pushed) << "was taken";
    EXPECT_EQ(pushed.error().code, ErrorCode::invalid_argument) << pushed.error().message;
    expect_names(pushed.error(), names);
  };
  const Time now = clock().now();
  refused({.key = "k", .expire = 0ms}, {"expire", "0s", "36525d"});
  if (!is_by(By::command_line)) {  // its flags take no such words
    refused({.key = "k", .expire = -1ms}, {"expire", "36525d"});
    refused({.key = "k", .expire = 1s, .expire_at = now + 1s}, {"expire 1s", "expire_at"});
  }
  refused({.key = "k", .expire = Millis(core::kMaxDelayMs + 1)}, {"expire", "36525d"});
  refused({.key = "k", .due = at(now + 1h), .expire_at = now + 1h}, {"expire_at", "due time"});
  refused({.key = "k", .due = in(1h), .expire_at = now + 1h}, {"expire_at", "due time"});
  EXPECT_FALSE(find(q, "k"));
}

class ExpiryReopened : public Expiry {};
INSTANTIATE_TEST_SUITE_P(On, ExpiryReopened, testing::ValuesIn(those(durable_engines())),
                         EngineName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExpiryReopened);

TEST_P(ExpiryReopened, IsKept) {
  const Queue q = queue();
  (void)must(q.configure({.remember = 1h, .expire = 2h, .on_expiry = OnExpiry::end}));
  push(q, {.key = "a", .due = in(1h), .expire = 1min});
  push(q, {.key = "b"});
  push(q, {.key = "retried", .expire = 3h});
  const auto before = find(q, "a");
  (void)must(q.retry(claim(q, 2).back().receipt(), 1h));
  const auto retried = find(q, "retried");
  rig().reopen();
  expect_same(before, find(queue(), "a"));
  expect_same(retried, find(queue(), "retried"));
  EXPECT_EQ(must(queue().stats()).settings.expire, 2h);
  rig().close();
  clock().advance(1h + 1min);
  rig().open();
  EXPECT_EQ(find(queue(), "a")->settlement->how, Ending::expired);
  rig().reopen();
  EXPECT_EQ(find(queue(), "a")->settlement->how, Ending::expired);
  EXPECT_EQ(expired(queue()), 1u);
}

}  // namespace
}  // namespace tarry::contract
