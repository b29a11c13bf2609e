// Waiting claims: what answers them, which of them is answered, and how they end without messages.
#include <future>
#include <map>
#include <stop_token>

#include "contract.h"

namespace tarry::contract {
namespace {

class Waiting : public Contract {
 protected:
  void SetUp() override {
    Contract::SetUp();
    if (!IsSkipped()) (void)must(queue().configure({}));  // the queue exists
  }
};
TARRY_ON_ALL_ENGINES(Waiting);

const ClaimOptions kWaits{.max = 10, .lease = kLongLease, .wait = 30min};

TEST_P(Waiting, IsAnsweredAtOnceWhereSomethingIsDue) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  EXPECT_EQ(must(queue().claim(kWaits)).size(), 1u);
}

TEST_P(Waiting, IsAnsweredByAPush) {
  const auto waiting = waiting_claim(queue(), kWaits);
  EXPECT_FALSE(waiting.ready());
  (void)must(queue().push({.key = "k", .payload = "x"}));
  EXPECT_EQ(keys_of(must(waiting.get())), std::vector<std::string>{"k"});
}

TEST_P(Waiting, IsAnsweredByTheClock) {
  (void)must(queue().push({.key = "k", .payload = "x", .due = in(5min)}));
  const auto waiting = waiting_claim(queue(), kWaits);
  clock().advance(5min - 1ms);
  EXPECT_EQ(must(queue().stats()).waiting_claims >= 1, true);
  EXPECT_FALSE(waiting.ready());
  clock().advance(1ms);
  const std::vector<Delivery> claimed = must(waiting.get());
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].lateness(), 0ms);
}

TEST_P(Waiting, IsAnsweredByAPushThatFallsDueSooner) {
  (void)must(queue().push({.key = "late", .payload = "x", .due = in(20min)}));
  const auto waiting = waiting_claim(queue(), kWaits);
  (void)must(queue().push({.key = "soon", .payload = "x", .due = in(1min)}));
  clock().advance(1min);
  EXPECT_EQ(keys_of(must(waiting.get())), std::vector<std::string>{"soon"});
}

TEST_P(Waiting, IsAnsweredByALeaseRunningOut) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  (void)claim_one(queue(), 1min);
  const auto waiting = waiting_claim(queue(), kWaits);
  clock().advance(1min);
  const std::vector<Delivery> claimed = must(waiting.get());
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].attempt(), 2u);
}

TEST_P(Waiting, IsAnsweredByRelease) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  const Delivery delivery = claim_one(queue());
  const auto waiting = waiting_claim(queue(), kWaits);
  EXPECT_EQ(must(queue().release(delivery.receipt())), Outcome::done);
  EXPECT_EQ(must(waiting.get()).size(), 1u);
}

TEST_P(Waiting, IsAnsweredByARetryWithoutDelay) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  const Delivery delivery = claim_one(queue());
  const auto waiting = waiting_claim(queue(), kWaits);
  EXPECT_EQ(must(queue().retry(delivery.receipt(), 0ms)), Outcome::done);
  EXPECT_EQ(must(waiting.get()).size(), 1u);
}

TEST_P(Waiting, IsAnsweredByRevive) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  EXPECT_EQ(must(queue().bury(claim_one(queue()).receipt())), Outcome::done);
  const auto waiting = waiting_claim(queue(), kWaits);
  EXPECT_EQ(must(queue().revive()), 1u);
  EXPECT_EQ(must(waiting.get()).size(), 1u);
}

TEST_P(Waiting, IsAnsweredByReschedulingToNow) {
  (void)must(queue().push({.key = "k", .payload = "x", .due = in(10h)}));
  const auto waiting = waiting_claim(queue(), kWaits);
  EXPECT_EQ(must(queue().reschedule("k", in(0s))), Outcome::rescheduled);
  EXPECT_EQ(must(waiting.get()).size(), 1u);
}

TEST_P(Waiting, IsAnsweredByReschedulingToSooner) {
  (void)must(queue().push({.key = "k", .payload = "x", .due = in(10h)}));
  const auto waiting = waiting_claim(queue(), kWaits);
  EXPECT_EQ(must(queue().reschedule("k", in(1min))), Outcome::rescheduled);
  clock().advance(1min);
  EXPECT_EQ(must(waiting.get()).size(), 1u);
}

TEST_P(Waiting, IsAnsweredByAPushWithEarlier) {
  (void)must(queue().push({.key = "k", .payload = "x", .due = in(10h)}));
  const auto waiting = waiting_claim(queue(), kWaits);
  (void)must(queue().push({.key = "k", .payload = "y", .if_exists = IfExists::earlier}));
  const std::vector<Delivery> claimed = must(waiting.get());
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].payload(), "x");
}

TEST_P(Waiting, IsAnsweredByResume) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  must(queue().pause());
  const auto waiting = waiting_claim(queue(), kWaits);
  EXPECT_FALSE(waiting.ready());
  must(queue().resume());
  EXPECT_EQ(must(waiting.get()).size(), 1u);
}

TEST_P(Waiting, IsAnsweredWhenAPauseEnds) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  must(queue().pause(clock().now() + 5min));
  const auto waiting = waiting_claim(queue(), kWaits);
  clock().advance(5min);
  EXPECT_EQ(must(waiting.get()).size(), 1u);
}

TEST_P(Waiting, IsAnsweredWhenAPauseIsSetToEndNow) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  must(queue().pause());
  const auto waiting = waiting_claim(queue(), kWaits);
  must(queue().pause(clock().now()));
  EXPECT_EQ(must(waiting.get()).size(), 1u);
}

TEST_P(Waiting, IsNotAnsweredWhilePaused) {
  const auto waiting = waiting_claim(queue(), kWaits);
  must(queue().pause());
  (void)must(queue().push({.key = "k", .payload = "x"}));
  EXPECT_EQ(must(queue().stats()).ready, 1u);
  EXPECT_FALSE(waiting.ready());
  must(queue().resume());
  EXPECT_EQ(must(waiting.get()).size(), 1u);
}

TEST_P(Waiting, IsAnsweredOnAQueueThatIsMadeLater) {
  Pending<std::vector<Delivery>> waiting;
  queue("later").claim(kWaits, waiting.callback());
  (void)must(queue("later").push({.key = "k", .payload = "x"}));
  EXPECT_EQ(keys_of(must(waiting.get())), std::vector<std::string>{"k"});
}

TEST_P(Waiting, EndsEmptyWhenItsTimeIsOver) {
  (void)must(queue().push({.key = "k", .payload = "x", .due = in(1h)}));
  const auto waiting = waiting_claim(queue(), {.max = 10, .lease = {}, .wait = 10s});
  clock().advance(10s - 1ms);
  (void)must(queue().stats());
  EXPECT_FALSE(waiting.ready());
  clock().advance(1ms);
  EXPECT_TRUE(must(waiting.get()).empty());
  wait_until("no waiting claim", [&] { return must(queue().stats()).waiting_claims == 0; });
  // A message that falls due later is there for the next claim.
  clock().advance(1h);
  EXPECT_EQ(claim_one(queue()).attempt(), 1u);
}

TEST_P(Waiting, TwoForOneMessageOnlyOneGetsIt) {
  const ClaimOptions options{.max = 1, .lease = kLongLease, .wait = 10s};
  const auto one = waiting_claim(queue(), options);
  const auto other = waiting_claim(queue(), options);
  (void)must(queue().push({.key = "k", .payload = "x"}));
  wait_until("one answer", [&] { return one.ready() || other.ready(); });
  clock().advance(10s);
  const std::size_t handed = must(one.get()).size() + must(other.get()).size();
  EXPECT_EQ(handed, 1u);
  EXPECT_EQ(must(queue().stats()).leased, 1u);
}

TEST_P(Waiting, ManyForManyMessagesEachGetsOne) {
  std::vector<Pending<std::vector<Delivery>>> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.push_back(waiting_claim(queue(), {.max = 1, .lease = kLongLease, .wait = 1h}));
  }
  for (int i = 0; i < 8; ++i) {
    (void)must(queue().push({.key = "k" + std::to_string(i), .payload = "x"}));
  }
  std::multiset<std::string> keys;
  for (const auto& claim : waiting) {
    for (const Delivery& delivery : must(claim.get())) keys.emplace(delivery.key());
  }
  EXPECT_EQ(keys.size(), 8u);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 8u);
}

TEST_P(Waiting, LeasesBeginWhenItIsAnswered) {
  (void)must(queue().push({.key = "k", .payload = "x", .due = in(5min)}));
  const auto waiting = waiting_claim(queue(), {.max = 1, .lease = 30s, .wait = 30min});
  clock().advance(5min);
  const Delivery delivery = must(waiting.get()).at(0);
  clock().advance(30s - 1ms);
  EXPECT_EQ(must(queue().ack(delivery.receipt())), Outcome::done);
}

TEST_P(Waiting, OnSeveralQueuesIsAnsweredByAnyOfThem) {
  for (const char* name : {"a", "b", "c"}) (void)must(queue(name).configure({}));
  const std::string_view names[] = {"a", "b", "c"};
  for (const char* pushed : {"c", "a", "b"}) {
    Pending<std::vector<Delivery>> waiting;
    store().claim(names, kWaits, waiting.callback());
    await_waiting(queue(pushed), 1);
    (void)must(queue(pushed).push({.key = "k", .payload = "x"}));
    const std::vector<Delivery> claimed = must(waiting.get());
    ASSERT_EQ(claimed.size(), 1u);
    EXPECT_EQ(claimed[0].queue(), pushed);
    EXPECT_EQ(must(queue("a").ack(claimed[0].receipt())), Outcome::done);
    wait_until("nothing waits", [&] { return must(queue("b").stats()).waiting_claims == 0; });
  }
}

TEST_P(Waiting, OnSeveralQueuesOneOfThemPausedIsAnsweredByTheOther) {
  for (const char* name : {"a", "b"}) (void)must(queue(name).configure({}));
  const std::string_view names[] = {"a", "b"};
  must(queue("a").pause());
  (void)must(queue("a").push({.key = "k", .payload = "x"}));
  Pending<std::vector<Delivery>> waiting;
  store().claim(names, kWaits, waiting.callback());
  await_waiting(queue("b"), 1);
  (void)must(queue("b").push({.key = "k", .payload = "x"}));
  const std::vector<Delivery> claimed = must(waiting.get());
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].queue(), "b");
}

TEST_P(Waiting, CanBeWithdrawn) {
  core::ClaimRequest request;
  request.queues = {"q"};
  request.max = 10;
  request.wait = 30min;
  core::Ticket ticket = 0;
  const auto waiting = submit_async(rig().engine(), std::move(request), ticket);
  ASSERT_NE(ticket, 0u);
  await_waiting(queue(), 1);
  rig().engine().withdraw(ticket);
  EXPECT_TRUE(std::get<core::ClaimReply>(must(waiting.get())).items.empty());
  wait_until("no waiting claim", [&] { return must(queue().stats()).waiting_claims == 0; });
  rig().engine().withdraw(ticket);  // a second withdrawal is ignored
  (void)must(queue().push({.key = "k", .payload = "x"}));
  EXPECT_EQ(claim_one(queue()).attempt(), 1u);
}

TEST_P(Waiting, AWithdrawnOneLosesNothingWhateverTheRace) {
  for (int i = 0; i < 30; ++i) {
    const std::string key = "k" + std::to_string(i);
    core::ClaimRequest request;
    request.queues = {"q"};
    request.wait = 30min;
    core::Ticket ticket = 0;
    const auto waiting = submit_async(rig().engine(), std::move(request), ticket);
    Pending<Pushed> pushed;
    queue().push({.key = key, .payload = "x"}, pushed.callback());
    rig().engine().withdraw(ticket);
    EXPECT_EQ(must(pushed.get()).outcome, Outcome::pushed);
    std::vector<Delivery> handed = deliveries(must(waiting.get()));
    // The claim either got the message or never began. If it had begun in between, the message was
    // released.
    while (handed.empty()) handed = must(queue().claim({.lease = kLongLease, .wait = 1h}));
    ASSERT_EQ(handed.size(), 1u);
    EXPECT_EQ(handed[0].key(), key);
    EXPECT_EQ(handed[0].attempt(), 1u);
    EXPECT_EQ(must(queue().ack(handed[0].receipt())), Outcome::done);
  }
}

ClaimOptions until(std::stop_token stop) {
  ClaimOptions options = kWaits;
  options.stop = std::move(stop);
  return options;
}

TEST_P(Waiting, ARequestToStopEndsItWithNothing) {
  std::stop_source stop;
  auto waiting =
      std::async(std::launch::async, [&] { return queue().claim(until(stop.get_token())); });
  await_waiting(queue(), 1);
  stop.request_stop();
  ASSERT_EQ(waiting.wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(must(waiting.get()).empty());
  wait_until("no waiting claim", [&] { return must(queue().stats()).waiting_claims == 0; });
  (void)must(queue().push({.key = "k", .payload = "x"}));
  EXPECT_EQ(claim_one(queue()).attempt(), 1u);
}

TEST_P(Waiting, ARequestToStopEndsOneWithACallback) {
  (void)must(queue("other").configure({}));
  const std::string_view names[] = {"q", "other"};
  std::stop_source stop;
  Pending<std::vector<Delivery>> waiting;
  store().claim(names, until(stop.get_token()), waiting.callback());
  await_waiting(queue("other"), 1);
  stop.request_stop();
  EXPECT_TRUE(must(waiting.get()).empty());
  wait_until("no waiting claim", [&] { return must(queue().stats()).waiting_claims == 0; });
}

TEST_P(Waiting, WhereAStopWasRequestedBeforeNothingIsClaimed) {
  (void)must(queue().push({.key = "k", .payload = "x"}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(must(queue().claim(until(stop.get_token()))).empty());
  Pending<std::vector<Delivery>> waiting;
  queue().claim(until(stop.get_token()), waiting.callback());
  EXPECT_TRUE(must(waiting.get()).empty());
  const MessageInfo info = find(queue(), "k").value();
  EXPECT_EQ(info.state, State::ready);
  EXPECT_EQ(info.tallies.claims, 0u);
}

TEST_P(Waiting, AStopThatIsNeverRequestedChangesNothing) {
  std::stop_source stop;
  (void)must(queue().push({.key = "a", .payload = "x"}));
  EXPECT_EQ(keys_of(must(queue().claim(until(stop.get_token())))), std::vector<std::string>{"a"});
  const auto waiting = waiting_claim(queue(), until(stop.get_token()));
  (void)must(queue().push({.key = "b", .payload = "x"}));
  EXPECT_EQ(keys_of(must(waiting.get())), std::vector<std::string>{"b"});
  stop.request_stop();  // too late for both claims
  EXPECT_EQ(must(queue().stats()).leased, 2u);
}

TEST_P(Waiting, AStoppedOneLosesNothingWhateverTheRace) {
  for (int i = 0; i < 30; ++i) {
    const std::string key = "k" + std::to_string(i);
    std::stop_source stop;
    Pending<std::vector<Delivery>> waiting;
    queue().claim(until(stop.get_token()), waiting.callback());
    Pending<Pushed> pushed;
    queue().push({.key = key, .payload = "x"}, pushed.callback());
    stop.request_stop();
    EXPECT_EQ(must(pushed.get()).outcome, Outcome::pushed);
    std::vector<Delivery> handed = must(waiting.get());
    while (handed.empty()) handed = must(queue().claim({.lease = kLongLease, .wait = 1h}));
    ASSERT_EQ(handed.size(), 1u);
    EXPECT_EQ(handed[0].key(), key);
    EXPECT_EQ(handed[0].attempt(), 1u);
    EXPECT_EQ(must(queue().ack(handed[0].receipt())), Outcome::done);
  }
}

TEST_P(Waiting, EndsWithClosedWhenTheStoreCloses) {
  const auto waiting = waiting_claim(queue(), kWaits);
  const Queue outlives = queue();
  store().close();
  const Result<std::vector<Delivery>> result = waiting.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::closed);
  const Result<Pushed> pushed = outlives.push({.payload = "x"});
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code, ErrorCode::closed);
  drop_rig();
}

// ---- how much one claim takes

class ClaimSize : public Contract {};
TARRY_ON_ALL_ENGINES(ClaimSize);

TEST_P(ClaimSize, IsAtMostMaxAndTheRestStays) {
  const Queue q = queue();
  for (int i = 0; i < 25; ++i) (void)must(q.push({.key = std::to_string(i), .payload = "x"}));
  EXPECT_EQ(claim(q, 10).size(), 10u);
  EXPECT_EQ(claim(q, 10).size(), 10u);
  EXPECT_EQ(claim(q, 10).size(), 5u);
  EXPECT_EQ(claim(q, 10).size(), 0u);
}

TEST_P(ClaimSize, IsOneByDefault) {
  const Queue q = queue();
  for (int i = 0; i < 3; ++i) (void)must(q.push({.key = std::to_string(i), .payload = "x"}));
  EXPECT_EQ(must(q.claim()).size(), 1u);
}

TEST_P(ClaimSize, IsAtMostMaxBytesOfPayload) {
  const Queue q = queue();
  const std::string payload(100, 'p');
  for (int i = 0; i < 7; ++i) {
    (void)must(q.push({.key = "{b}" + std::to_string(i), .payload = payload}));
  }
  EXPECT_EQ(must(q.claim({.max = 100, .max_bytes = 300, .lease = kLongLease})).size(), 3u);
  EXPECT_EQ(must(q.claim({.max = 100, .max_bytes = 299, .lease = kLongLease})).size(), 2u);
  EXPECT_EQ(must(q.claim({.max = 100, .max_bytes = 1000, .lease = kLongLease})).size(), 2u);
}

TEST_P(ClaimSize, IsAtMost64MiBOfPayloadByDefault) {
  const Queue q = queue();
  const std::string payload(1 << 20, 'p');
  for (int i = 0; i < 70; ++i) {
    (void)must(q.push({.key = "{b}" + std::to_string(i), .payload = payload}));
  }
  EXPECT_EQ(must(q.claim({.max = 100, .lease = kLongLease})).size(), 64u);
  EXPECT_EQ(must(q.claim({.max = 100, .lease = kLongLease})).size(), 6u);
}

TEST_P(ClaimSize, IsOneMessageEvenIfThatIsOverMaxBytes) {
  const Queue q = queue();
  const std::string payload(1000, 'p');
  for (int i = 0; i < 2; ++i) (void)must(q.push({.key = std::to_string(i), .payload = payload}));
  EXPECT_EQ(must(q.claim({.max = 100, .max_bytes = 1, .lease = kLongLease})).size(), 1u);
  EXPECT_EQ(must(q.claim({.max = 100, .max_bytes = 999, .lease = kLongLease})).size(), 1u);
}

TEST_P(ClaimSize, IsAtMostMaxBytesWhicheverShardsTheyLieIn) {
  const Queue q = queue();
  const std::string payload(100, 'p');
  for (int i = 0; i < 40; ++i) (void)must(q.push({.key = std::to_string(i), .payload = payload}));
  std::size_t left = 40;
  while (left > 0) {
    const auto some = must(q.claim({.max = 100, .max_bytes = 950, .lease = kLongLease}));
    ASSERT_GE(some.size(), 1u);
    ASSERT_LE(some.size(), 9u);
    left -= some.size();
  }
}

TEST_P(ClaimSize, HoldsOverSeveralQueuesAndNoneStarves) {
  const std::string_view names[] = {"a", "b", "c"};
  for (const std::string_view name : names) {
    for (int i = 0; i < 20; ++i) {
      (void)must(queue(name).push({.key = std::to_string(i), .payload = "x"}));
    }
  }
  std::map<std::string, int> served;
  for (int i = 0; i < 6; ++i) {
    const auto some = must(store().claim(names, {.max = 5, .lease = kLongLease}));
    EXPECT_EQ(some.size(), 5u);
    for (const Delivery& delivery : some) ++served[std::string(delivery.queue())];
  }
  // Thirty of the sixty messages were handed out, so each queue had its turns.
  for (const std::string_view name : names) EXPECT_GE(served[std::string(name)], 5) << name;
}

TEST_P(ClaimSize, OfSeveralQueuesTakesAllThatIsThere) {
  const std::string_view names[] = {"a", "b", "missing"};
  (void)must(queue("a").push({.key = "k", .payload = "a"}));
  (void)must(queue("b").push({.key = "k", .payload = "b"}));
  const auto claimed = must(store().claim(names, {.max = 100, .lease = kLongLease}));
  EXPECT_EQ(claimed.size(), 2u);
  for (const Delivery& delivery : claimed) EXPECT_EQ(delivery.queue(), delivery.payload());
}

}  // namespace
}  // namespace tarry::contract
