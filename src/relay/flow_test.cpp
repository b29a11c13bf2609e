#include "relay/flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/scripted_store.h"

namespace tarry::relay {
namespace {

using core::SettleAction;

// A flow whose clock is a number. The test plays the store and the sink.
class FlowTest : public ::testing::Test {
 protected:
  static RelayOptions some_options() {
    RelayOptions options;
    options.queues = {"q"};
    options.in_flight = 10;
    options.batch = 4;
    options.breaker = {.failures = 2, .least = Millis(100), .most = Millis(1'000)};
    return options;
  }
  void begin(const RelayOptions& options) { flow.emplace(options, 1); }

  template <typename T>
  T step() {
    Flow::Step next = flow->next(now);
    if (T* what = std::get_if<T>(&next)) return std::move(*what);
    ADD_FAILURE() << "another step: " << next.index();
    return {};
  }
  using Settled = std::vector<std::pair<std::string, SettleAction>>;
  Settled settlements() {
    const auto request = step<core::SettleRequest>();
    Settled all;
    for (const core::SettleItem& item : request.items) {
      all.emplace_back(core::view(request.bytes, item.receipt), item.action);
      reasons.emplace_back(core::view(request.bytes, item.reason));
      delays.push_back(item.delay);
    }
    flow->settled(test::outcomes(all.size(), Outcome::done), now);
    return all;
  }
  void deliver(const std::vector<std::string>& keys, std::uint32_t attempt = 1,
               Millis lease = Millis(30'000)) {
    auto reply = std::make_shared<core::ClaimReply>(test::claimed(keys, lease));
    for (core::ClaimedItem& item : reply->items) {
      item.attempt = attempt;
      item.id = ++last_id;
    }
    flow->claimed(std::shared_ptr<const core::ClaimReply>(std::move(reply)), now);
  }
  // Delivers these messages for a claim, and expects that the flow hands them to the sink.
  std::vector<Flow::JobId> hand_on(const std::vector<std::string>& keys, std::uint32_t attempt = 1,
                                   Millis lease = Millis(30'000)) {
    step<core::ClaimRequest>();
    deliver(keys, attempt, lease);
    std::vector<Flow::JobId> ids;
    for (const Flow::Job& job : step<Flow::HandOn>().jobs) {
      ids.push_back(job.id);
      leases.push_back(job.lease);
    }
    return ids;
  }
  void answer(Flow::JobId id, Answer answer) { flow->answered(id, std::move(answer), now); }

  std::optional<Flow> flow;
  Moment now{1'000'000};
  std::uint64_t last_id = 0;
  std::vector<std::string> reasons;
  std::vector<std::optional<Millis>> delays;
  std::vector<std::shared_ptr<const LeaseEnd>> leases;
};

TEST_F(FlowTest, AcksOnlyWhatIsConfirmedAndInTheOrderGiven) {
  begin(some_options());
  const auto claim = step<core::ClaimRequest>();
  EXPECT_EQ(claim.max, 4u);
  EXPECT_GT(claim.wait, Millis(1'000));
  deliver({"a", "b"});
  const auto handed = step<Flow::HandOn>();
  ASSERT_EQ(handed.jobs.size(), 2u);
  EXPECT_EQ(handed.jobs[0].delivery.key(), "a");
  EXPECT_EQ(handed.jobs[1].delivery.key(), "b");
  EXPECT_EQ(step<core::ClaimRequest>().max, 4u);
  step<Flow::Wait>();  // the sink has confirmed nothing, so nothing is acked
  answer(handed.jobs[1].id, confirmed());
  EXPECT_EQ(settlements(), (Settled{{"receipt-b", SettleAction::ack}}));
  EXPECT_EQ(flow->stats().in_flight, 1u);
  EXPECT_EQ(flow->stats().acked, 1u);
}

TEST_F(FlowTest, InFlightIsBounded) {
  RelayOptions options = some_options();
  options.in_flight = 5;
  begin(options);
  const auto first = hand_on({"a", "b", "c", "d"});
  EXPECT_EQ(step<core::ClaimRequest>().max, 1u);
  deliver({"e"});
  step<Flow::HandOn>();
  step<Flow::Wait>();
  answer(first[0], confirmed());
  settlements();
  EXPECT_EQ(step<core::ClaimRequest>().max, 1u);
}

TEST_F(FlowTest, SoIsItsMemory) {
  RelayOptions options = some_options();
  options.in_flight_bytes = 1'000;
  begin(options);
  EXPECT_EQ(step<core::ClaimRequest>().max_bytes, 1'000u);
  const auto deliver_of = [&](const std::vector<std::size_t>& sizes) {
    core::ClaimReply all = test::claimed(std::vector<std::string>(sizes.size(), "k"));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      all.items[i].payload = core::append(all.bytes, std::string(sizes[i], 'x'));
    }
    auto reply = std::make_shared<const core::ClaimReply>(std::move(all));
    const std::weak_ptr<const core::ClaimReply> watched = reply;
    flow->claimed(std::move(reply), now);
    return watched;
  };
  deliver_of({600});
  const auto first = step<Flow::HandOn>().jobs;
  EXPECT_EQ(step<core::ClaimRequest>().max_bytes, 400u);
  // The last message of a claim may be larger than the room.
  const auto reply = deliver_of({300, 1'000'000});
  auto others = step<Flow::HandOn>().jobs;
  EXPECT_TRUE(reply.expired());
  EXPECT_EQ(others[1].delivery.payload().size(), 1'000'000u);
  EXPECT_EQ(others[1].delivery.key(), "k");
  EXPECT_EQ(others[1].delivery.receipt(), "receipt-k");
  step<Flow::Wait>();
  answer(others[1].id, confirmed());
  settlements();
  EXPECT_EQ(step<core::ClaimRequest>().max_bytes, 100u);
  deliver_of({});
  answer(first[0].id, confirmed());
  answer(others[0].id, confirmed());
  settlements();
  // A claim without held messages always has room for one message of any size.
  EXPECT_EQ(step<core::ClaimRequest>().max_bytes, 1'000u);
}

TEST_F(FlowTest, FailuresAreRetriedRefusalsBuried) {
  begin(some_options());
  const auto ids = hand_on({"a", "b", "c"});
  answer(ids[0], try_again("busy", Millis(7'000)));
  answer(ids[1], refused("no such exchange"));
  answer(ids[2], unknown("the connection broke"));
  EXPECT_EQ(settlements(), (Settled{{"receipt-a", SettleAction::retry},
                                    {"receipt-b", SettleAction::bury},
                                    {"receipt-c", SettleAction::retry}}));
  EXPECT_EQ(reasons,
            (std::vector<std::string>{"busy", "no such exchange", "the connection broke"}));
  EXPECT_EQ(delays[0], Millis(7'000));
  EXPECT_EQ(delays[2], std::nullopt);
  EXPECT_EQ(flow->stats().last_error, "the connection broke");
}

TEST_F(FlowTest, ALimitOfItsOwnBuriesWithTheSinksError) {
  RelayOptions options = some_options();
  options.max_attempts = 3;
  begin(options);
  const auto ids = hand_on({"a"}, 3);
  step<core::ClaimRequest>();
  answer(ids[0], try_again("HTTP 500"));
  EXPECT_EQ(settlements(), (Settled{{"receipt-a", SettleAction::bury}}));
  EXPECT_EQ(reasons[0], "HTTP 500");
}

TEST_F(FlowTest, AnOutageCostsNoAttempt) {
  begin(some_options());
  const auto ids = hand_on({"a", "b", "c"}, 10);
  step<core::ClaimRequest>();
  answer(ids[0], sink_down("connection refused"));
  EXPECT_EQ(flow->stats().breaker, BreakerState::open);
  step<Flow::Withdraw>();
  answer(ids[1], try_again("connection reset"));
  answer(ids[2], sink_down("connection refused"));
  deliver({"d"}, 10);  // this answer and the withdrawal have crossed
  EXPECT_EQ(settlements(), (Settled{{"receipt-a", SettleAction::release},
                                    {"receipt-b", SettleAction::release},
                                    {"receipt-c", SettleAction::release},
                                    {"receipt-d", SettleAction::release}}));
  EXPECT_EQ(reasons, std::vector<std::string>(4));  // a release must not have a reason
  const auto until = step<Flow::Wait>().until;
  ASSERT_TRUE(until);
  now = *until;
  EXPECT_EQ(step<core::ClaimRequest>().max, 1u);
  deliver({"a"}, 10);
  const auto trial = step<Flow::HandOn>().jobs;
  step<Flow::Wait>();  // no second claim while the trial runs
  answer(trial[0].id, confirmed());
  EXPECT_EQ(settlements(), (Settled{{"receipt-a", SettleAction::ack}}));
  EXPECT_EQ(flow->stats().breaker, BreakerState::closed);
  EXPECT_EQ(step<core::ClaimRequest>().max, 4u);
  EXPECT_EQ(flow->stats().released, 4u);
}

TEST_F(FlowTest, WhatTheSinkWantsLaterComesLaterWhileItIsDownToo) {
  begin(some_options());
  const auto ids = hand_on({"a", "b", "c"});
  step<core::ClaimRequest>();
  answer(ids[0], sink_down("connection refused"));
  step<Flow::Withdraw>();
  answer(ids[1], try_again("HTTP 429", Millis(20'000)));
  answer(ids[2], try_again("HTTP 500"));
  EXPECT_EQ(settlements(), (Settled{{"receipt-a", SettleAction::release},
                                    {"receipt-b", SettleAction::retry},
                                    {"receipt-c", SettleAction::release}}));
  EXPECT_EQ(delays[1], Millis(20'000));
}

TEST_F(FlowTest, ATrialThatFailsByItselfIsRetried) {
  begin(some_options());
  const auto ids = hand_on({"a"});
  step<core::ClaimRequest>();
  answer(ids[0], sink_down("refused"));
  step<Flow::Withdraw>();
  deliver({});
  settlements();
  now = *step<Flow::Wait>().until;
  const auto trial = hand_on({"a"});
  answer(trial[0], try_again("HTTP 500"));
  EXPECT_EQ(flow->stats().breaker, BreakerState::open);
  EXPECT_EQ(settlements(), (Settled{{"receipt-a", SettleAction::retry}}));
}

TEST_F(FlowTest, WhatIsOneMessagesAloneHoldsNobodyUp) {
  begin(some_options());
  const auto ids = hand_on({"a", "b", "c"});
  step<core::ClaimRequest>();
  answer(ids[0], not_yet("answered 403"));
  answer(ids[1], not_yet("answered 409", Millis(7'000)));
  answer(ids[2], not_yet("answered 403"));
  EXPECT_EQ(flow->stats().breaker, BreakerState::closed);
  EXPECT_EQ(settlements(), (Settled{{"receipt-a", SettleAction::retry},
                                    {"receipt-b", SettleAction::retry},
                                    {"receipt-c", SettleAction::retry}}));
  EXPECT_EQ(delays, (std::vector<std::optional<Millis>>{{}, Millis(7'000), {}}));
  EXPECT_EQ(flow->stats().failed, 3u);
  EXPECT_EQ(flow->mishaps(Mishap::failed).count, 3u);
}

TEST_F(FlowTest, ATrialThatIsAnsweredFindsTheSinkBack) {
  begin(some_options());
  const auto ids = hand_on({"a", "b"});
  step<core::ClaimRequest>();
  answer(ids[0], sink_down("refused"));
  step<Flow::Withdraw>();
  deliver({});
  answer(ids[1], not_yet("answered 403"));  // this answer is from before the outage
  EXPECT_EQ(flow->stats().breaker, BreakerState::open);
  EXPECT_EQ(settlements(),
            (Settled{{"receipt-a", SettleAction::release}, {"receipt-b", SettleAction::release}}));
  now = *step<Flow::Wait>().until;
  const auto trial = hand_on({"a"});
  answer(trial[0], not_yet("answered 403"));
  EXPECT_EQ(flow->stats().breaker, BreakerState::closed);
  EXPECT_EQ(settlements(), (Settled{{"receipt-a", SettleAction::retry}}));
}

TEST_F(FlowTest, LeasesAreExtendedUntilTheAnswer) {
  begin(some_options());
  const auto ids = hand_on({"slow", "quick"}, 1, Millis(9'000));
  step<core::ClaimRequest>();
  EXPECT_EQ(step<Flow::Wait>().until, now + Moment(3'000));
  answer(ids[1], confirmed());
  settlements();
  now += Moment(3'000);
  const auto extend = step<core::ExtendRequest>();
  ASSERT_EQ(extend.items.size(), 1u);
  EXPECT_EQ(core::view(extend.bytes, extend.items[0].receipt), "receipt-slow");
  EXPECT_EQ(extend.items[0].lease, Millis(9'000));
  flow->extended(Error{ErrorCode::unavailable, "away"}, now);
  EXPECT_EQ(step<Flow::Wait>().until, now + Moment(900));
  now += Moment(900);
  step<core::ExtendRequest>();
  flow->extended(test::outcomes(1, Outcome::stale), now);
  step<Flow::Wait>();
  answer(ids[0], confirmed());  // too late: another consumer may have the message
  step<Flow::Wait>();
  EXPECT_EQ(flow->stats().stale, 1u);
  EXPECT_EQ(flow->stats().acked, 1u);
}

TEST_F(FlowTest, TheSinkIsToldHowLongEachLeaseHolds) {
  begin(some_options());
  hand_on({"a", "b"}, 1, Millis(9'000));
  ASSERT_EQ(leases.size(), 2u);
  EXPECT_FALSE(leases[0]->is_over(now + Moment(8'999)));
  EXPECT_TRUE(leases[0]->is_over(now + Moment(9'000)));
  const Moment sent = now += Moment(3'000);
  step<core::ExtendRequest>();
  now += Moment(4'000);
  core::ItemsReply reply = test::outcomes(2, Outcome::done);
  reply.items[1].outcome = Outcome::stale;
  flow->extended(reply, now);
  std::vector<bool> over;
  for (const auto& lease : leases) over.push_back(lease->is_over(sent + Moment(8'999)));
  // The extended lease counts from when the extension was sent.
  EXPECT_EQ(std::ranges::count(over, false), 1);
  for (const auto& lease : leases) EXPECT_TRUE(lease->is_over(sent + Moment(9'000)));
  EXPECT_EQ(std::ranges::count_if(leases, [&](const auto& l) { return l->is_over(now); }), 1);
}

TEST_F(FlowTest, LeasesCountFromWhenTheyBeganHoweverLateTheAnswerComes) {
  begin(some_options());
  step<core::ClaimRequest>();
  auto reply = std::make_shared<core::ClaimReply>(test::claimed({"a", "b"}, Millis(9'000)));
  reply->begun_at = base::BootClock::time_point(now - Moment(5'000));
  reply->items[1].lease_ms = 5'000;
  flow->claimed(std::shared_ptr<const core::ClaimReply>(std::move(reply)), now);
  const auto jobs = step<Flow::HandOn>().jobs;
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].delivery.key(), "a");
  EXPECT_FALSE(jobs[0].lease->is_over(now + Moment(3'999)));
  EXPECT_TRUE(jobs[0].lease->is_over(now + Moment(4'000)));
  EXPECT_EQ(settlements(), (Settled{{"receipt-b", SettleAction::release}}));
  EXPECT_EQ(step<core::ExtendRequest>().items.size(), 1u);
}

TEST_F(FlowTest, WhatIsTooLateIsGivenBackAndTheSinkIsNotAtFault) {
  begin(some_options());
  const auto ids = hand_on({"a", "b", "c"});
  for (const Flow::JobId id : ids) answer(id, too_late());
  EXPECT_EQ(settlements(), (Settled{{"receipt-a", SettleAction::release},
                                    {"receipt-b", SettleAction::release},
                                    {"receipt-c", SettleAction::release}}));
  EXPECT_EQ(flow->stats().breaker, BreakerState::closed);
  EXPECT_EQ(flow->stats().failed, 0u);
}

TEST_F(FlowTest, TheRateIsKept) {
  RelayOptions options = some_options();
  options.rate = 20;
  begin(options);
  EXPECT_EQ(step<core::ClaimRequest>().max, 2u);
  deliver({"a", "b"});
  step<Flow::HandOn>();
  EXPECT_EQ(step<Flow::Wait>().until, now + Moment(50));
  now += Moment(50);
  EXPECT_EQ(step<core::ClaimRequest>().max, 1u);
}

TEST_F(FlowTest, AStoreThatIsAwayIsAskedAgain) {
  begin(some_options());
  step<core::ClaimRequest>();
  flow->claimed(Error{ErrorCode::unavailable, "nobody there"}, now);
  EXPECT_EQ(step<Flow::Wait>().until, now + Moment(100));
  now += Moment(100);
  const auto ids = hand_on({"a"});
  answer(ids[0], confirmed());
  step<core::SettleRequest>();
  flow->settled(Error{ErrorCode::unknown_outcome, "connection lost"}, now);
  step<core::ClaimRequest>();
  now += Moment(100);
  EXPECT_EQ(settlements(), (Settled{{"receipt-a", SettleAction::ack}}));
}

TEST_F(FlowTest, WhatTheStoreDoesNotSettleIsToldOfInItsWords) {
  begin(some_options());
  const auto ids = hand_on({"a", "b"});
  answer(ids[0], refused("HTTP 404"));
  answer(ids[1], confirmed());
  step<core::SettleRequest>();
  core::ItemsReply reply = test::outcomes(2, Outcome::stale);
  reply.items[0].error = Error{ErrorCode::unsupported, "it has no place for the dead"};
  flow->settled(reply, now);
  EXPECT_EQ(flow->stats().stale, 2u);
  // A settlement that comes too late is not refused.
  EXPECT_EQ(flow->mishaps(Mishap::unsettled).count, 1u);
  EXPECT_EQ(flow->mishaps(Mishap::unsettled).reason, "it has no place for the dead");
  EXPECT_EQ(flow->mishaps(Mishap::refused).reason, "HTTP 404");
}

TEST_F(FlowTest, ARefusalOfTheStoreEndsIt) {
  begin(some_options());
  step<core::ClaimRequest>();
  flow->claimed(Error{ErrorCode::permission_denied, "not yours"}, now);
  step<Flow::Finished>();
  ASSERT_TRUE(flow->error());
  EXPECT_EQ(flow->error()->message, "not yours");
}

TEST_F(FlowTest, StopDrainsWithinItsBound) {
  begin(some_options());
  const auto ids = hand_on({"a", "b"});
  step<core::ClaimRequest>();
  flow->stop(now);
  step<Flow::Withdraw>();
  deliver({"c"});
  answer(ids[0], confirmed());
  EXPECT_EQ(settlements(),
            (Settled{{"receipt-c", SettleAction::release}, {"receipt-a", SettleAction::ack}}));
  EXPECT_EQ(step<Flow::Wait>().until, now + Moment(10'000));
  now += Moment(10'000);
  step<Flow::CloseSink>();
  // If closing the sink does not end the flow, the sink is abandoned.
  step<core::ExtendRequest>();
  flow->extended(test::outcomes(1, Outcome::done), now);
  EXPECT_EQ(step<Flow::Wait>().until, now + Moment(2'000));
  now += Moment(2'000);
  step<Flow::AbandonSink>();
  answer(ids[1], unknown("closed"));
  EXPECT_EQ(settlements(), (Settled{{"receipt-b", SettleAction::retry}}));
  step<Flow::Finished>();
  EXPECT_FALSE(flow->error());
}

TEST(RelayOptionsTest, BadOnesAreNamedWithTheirLimits) {
  RelayOptions options;
  options.queues = {"q"};
  EXPECT_TRUE(check(options));
  const auto told = [&](auto change) {
    RelayOptions bad = options;
    change(bad);
    const auto result = check(bad);
    return result ? std::string("accepted") : result.error().message;
  };
  EXPECT_EQ(told([](RelayOptions& o) { o.in_flight = 0; }), "in_flight 0 must be from 1 to 10000");
  EXPECT_EQ(told([](RelayOptions& o) { o.batch = 10'001; }), "batch 10001 must be from 1 to 10000");
  EXPECT_EQ(told([](RelayOptions& o) { o.rate = 1'000'001; }),
            "rate 1000001 must be from 0 to 1000000");
  EXPECT_EQ(told([](RelayOptions& o) { o.max_attempts = 0; }),
            "max_attempts 0 must be from 1 to 65535");
  EXPECT_EQ(told([](RelayOptions& o) { o.drain = std::chrono::hours(2); }),
            "drain 2h must be from 0s to 1h");
  EXPECT_EQ(told([](RelayOptions& o) { o.queues.clear(); }),
            "the number of queues 0 must be from 1 to 1000");
  EXPECT_NE(told([](RelayOptions& o) { o.queues = {"no spaces"}; }), "accepted");
  EXPECT_NE(told([](RelayOptions& o) { o.lease = Millis(0); }), "accepted");
  EXPECT_NE(told([](RelayOptions& o) { o.breaker.failures = 0; }), "accepted");
}

// -- patterns

// A flow whose queues are set by `serve`.
class SharedFlowTest : public FlowTest {
 protected:
  SharedFlowTest() {
    RelayOptions options = some_options();
    options.queues.clear();
    begin(options);
  }
  void serve(const std::vector<std::string>& names) {
    std::vector<Share> shares;
    for (const std::string& name : names) shares.push_back({name, {}});
    flow->serve(shares);
  }
  // The store answers a claim with no message.
  void deliver_nothing() { deliver({}); }
};

TEST_F(SharedFlowTest, ClaimsNothingBeforeItIsToldAndThenThat) {
  EXPECT_FALSE(step<Flow::Wait>().until);
  serve({"mails", "orders.eu", "orders.us"});
  const auto request = step<core::ClaimRequest>();
  EXPECT_EQ(request.queues, (std::vector<std::string>{"mails", "orders.eu", "orders.us"}));
  EXPECT_TRUE(request.shards.empty());
  EXPECT_EQ(flow->stats().queues, 3u);
}

TEST_F(SharedFlowTest, NamesTheShardsThatAreItsOwn) {
  flow->serve({{"a", {}}, {"b", {1, 3}}});
  const auto request = step<core::ClaimRequest>();
  EXPECT_EQ(request.queues, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.shards, (std::vector<std::vector<std::uint32_t>>{{}, {1, 3}}));
  deliver_nothing();
  flow->serve({{"a", {}}, {"b", {}}});
  EXPECT_TRUE(step<core::ClaimRequest>().shards.empty());
}

TEST_F(SharedFlowTest, WhatIsTakenFromItIsClaimedNoMore) {
  flow->serve({{"q", {0, 1}}});
  step<core::ClaimRequest>();
  flow->serve({{"q", {0}}});
  step<Flow::Withdraw>();
  deliver_nothing();
  EXPECT_EQ(step<core::ClaimRequest>().shards, (std::vector<std::vector<std::uint32_t>>{{0}}));
  flow->serve({});
  step<Flow::Withdraw>();
  deliver_nothing();
  EXPECT_FALSE(step<Flow::Wait>().until);
}

TEST_F(SharedFlowTest, AQueueThatComesEndsTheClaimThatWaitsWithoutIt) {
  serve({"a"});
  step<core::ClaimRequest>();
  serve({"a"});
  EXPECT_FALSE(step<Flow::Wait>().until);  // the queues are the same, so the claim goes on waiting
  serve({"a", "b"});
  step<Flow::Withdraw>();
  step<Flow::Wait>();
  deliver_nothing();
  EXPECT_EQ(step<core::ClaimRequest>().queues, (std::vector<std::string>{"a", "b"}));
}

TEST_F(SharedFlowTest, MoreQueuesThanAClaimMayNameTakeTurns) {
  std::vector<std::string> names;
  for (int i = 0; i < 2'500; ++i) names.push_back("q" + std::to_string(10'000 + i));
  serve(names);
  std::vector<std::string> asked;
  for (const std::size_t expected : {1'000u, 1'000u, 1'000u}) {
    const auto request = step<core::ClaimRequest>();
    EXPECT_EQ(request.queues.size(), expected);
    EXPECT_LE(request.wait, Millis(100));
    asked.insert(asked.end(), request.queues.begin(), request.queues.end());
    deliver_nothing();
  }
  std::ranges::sort(asked);
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  EXPECT_EQ(asked, names);
}

TEST_F(SharedFlowTest, TheTurnGoesOnWhereItWasWhenQueuesComeAndGo) {
  std::vector<std::string> names;
  for (int i = 0; i < 2'500; ++i) names.push_back("q" + std::to_string(10'000 + i));
  serve(names);
  step<core::ClaimRequest>();
  deliver_nothing();
  names.erase(names.begin());
  serve(names);
  EXPECT_EQ(step<core::ClaimRequest>().queues.front(), "q11000");
}

TEST_F(FlowTest, OnceAbandonedItTriesTheStoreOnceMoreAndEnds) {
  begin(some_options());
  const auto jobs = hand_on({"a", "b"});
  flow->stop(now);
  step<Flow::Wait>();
  for (const Flow::JobId job : jobs) flow->answered(job, confirmed(), now);
  step<core::SettleRequest>();
  flow->settled(Error{ErrorCode::unavailable, "away"}, now);
  // The flow waits and tries again, as long as it is not abandoned.
  EXPECT_TRUE(step<Flow::Wait>().until);
  flow->abandon();
  step<Flow::Finished>();
  EXPECT_EQ(flow->stats().stale, 2u);
}

TEST_F(FlowTest, EndsOnceTheLastLeaseThatItCouldNotSettleHasRunOut) {
  begin(some_options());
  const auto jobs = hand_on({"a"}, 1, Millis(1'000));
  flow->stop(now);
  step<Flow::Wait>();
  flow->answered(jobs.front(), confirmed(), now);
  step<core::SettleRequest>();
  flow->settled(Error{ErrorCode::unavailable, "away"}, now);
  now += Millis(1'001);
  step<Flow::Finished>();
  EXPECT_EQ(flow->stats().stale, 1u);
}

TEST(RelayOptionsCheck, TakesPatternsAndRefusesOthers) {
  RelayOptions options;
  options.queues = {"orders.*", "*"};
  EXPECT_TRUE(check(options));
  options.queues = {"a", "b", "a"};
  EXPECT_EQ(check(options).error().message, "queue \"a\" is named twice");
  options.queues = {"or*ders"};
  ASSERT_FALSE(check(options));
  EXPECT_EQ(check(options).error().message, "pattern \"or*ders\" may have a * at its end only");
}

}  // namespace
}  // namespace tarry::relay
