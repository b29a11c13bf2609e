// A worker in its ordinary course, and how it stops.
#include <gtest/gtest.h>
#include <tarry/worker.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "support/worker_rig.h"

namespace tarry {
namespace {

using namespace std::chrono_literals;
using core::ClaimRequest;
using core::Reply;
using core::SettleAction;
using core::SettleRequest;
using test::claimed;
using test::outcomes;

class WorkerTest : public test::WorkerRig {};

// -- the ordinary course

TEST_F(WorkerTest, ClaimsRunsTheHandlerAndAcks) {
  std::promise<std::string> seen;
  start({.lease = 9s}, [&](const Delivery& delivery, const std::stop_token&) {
    seen.set_value(std::string(delivery.key()) + "=" + std::string(delivery.payload()));
    return ack();
  });
  const auto asked = next<ClaimRequest>();
  EXPECT_EQ(asked.request.queues, std::vector<std::string>{"q"});
  EXPECT_EQ(asked.request.max, 1u);
  EXPECT_EQ(asked.request.lease, Millis(9s));
  EXPECT_GE(asked.request.wait, 1s);
  EXPECT_LE(asked.request.wait, 1h);
  answer(asked.ticket, Reply(claimed({"a"})));
  EXPECT_EQ(seen.get_future().get(), "a=payload-a");

  const auto settled = settlements(1, Outcome::done);
  EXPECT_EQ(settled[0].first, "receipt-a");
  EXPECT_EQ(settled[0].second.action, SettleAction::ack);
  const auto again = next<ClaimRequest>();
  EXPECT_TRUE(finish());
  EXPECT_EQ(fake.engine().withdrawn(1), std::vector<core::Ticket>{again.ticket});
  const WorkerStats stats = worker->stats();
  EXPECT_EQ(stats.delivered, 1u);
  EXPECT_EQ(stats.acked, 1u);
  EXPECT_EQ(stats.retried + stats.buried + stats.released + stats.stale, 0u);
}

TEST_F(WorkerTest, VerdictsBecomeSettlements) {
  start({.concurrency = 1}, [](const Delivery& delivery, const std::stop_token&) -> Verdict {
    if (delivery.key() == "retry") return retry();
    if (delivery.key() == "later") return retry(10s);
    if (delivery.key() == "bury") return bury("bad");
    if (delivery.key() == "release") return {.action = Action::release};
    if (delivery.key() == "throw") throw std::runtime_error("oh");
    if (delivery.key() == "throw 7") throw 7;
    return bury(std::string(300, 'x'));
  });
  struct Case {
    std::string key;
    SettleAction action;
    std::optional<Millis> delay;
    std::size_t reason;  // the reason's size in bytes
  };
  const std::size_t oh = std::string_view("the handler threw: oh").size();
  const std::size_t number =
      std::string_view("the handler threw: an exception that is no std::exception").size();
  for (const Case& each :
       {Case{"retry", SettleAction::retry, {}, 0}, Case{"later", SettleAction::retry, 10s, 0},
        Case{"bury", SettleAction::bury, {}, 3}, Case{"release", SettleAction::release, {}, 0},
        Case{"throw", SettleAction::retry, {}, oh},
        Case{"throw 7", SettleAction::retry, {}, number},
        Case{"long", SettleAction::bury, {}, core::kMaxReason}}) {
    hand_out({each.key});
    const auto item = settlements(1, Outcome::done)[0].second;
    EXPECT_EQ(item.action, each.action) << each.key;
    EXPECT_EQ(item.delay, each.delay) << each.key;
    EXPECT_EQ(item.reason.size, each.reason) << each.key;
  }
  EXPECT_TRUE(finish());
  const WorkerStats stats = worker->stats();
  EXPECT_EQ(stats.delivered, 7u);
  EXPECT_EQ(stats.retried, 4u);
  EXPECT_EQ(stats.buried, 2u);
  EXPECT_EQ(stats.released, 1u);
}

TEST_F(WorkerTest, AnEmptyClaimIsFollowedByTheNext) {
  start({}, [](const Delivery&, const std::stop_token&) { return ack(); });
  for (int i = 0; i < 3; ++i) hand_out({});
  (void)next<ClaimRequest>();
  EXPECT_TRUE(finish());
}

TEST_F(WorkerTest, RunsAsManyHandlersAtOnceAsItWasToldAndClaimsNoMore) {
  start({.concurrency = 3}, [this](const Delivery&, const std::stop_token&) {
    gate.pass();
    return ack();
  });
  const auto first = next<ClaimRequest>();
  EXPECT_EQ(first.request.max, 3u);
  answer(first.ticket, Reply(claimed({"a", "b"})));
  gate.wait_for(2);
  const auto second = next<ClaimRequest>();
  EXPECT_EQ(second.request.max, 1u);
  answer(second.ticket, Reply(claimed({"c"})));
  gate.wait_for(3);
  EXPECT_EQ(fake.engine().untaken(), 0u);
  gate.open();
  EXPECT_EQ(settlements(3, Outcome::done).size(), 3u);
  EXPECT_GE(next<ClaimRequest>().request.max, 1u);
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().acked, 3u);
}

TEST_F(WorkerTest, WhileOneSettlementIsUnderWayTheNextGathers) {
  start({.concurrency = 3}, [this](const Delivery& delivery, const std::stop_token&) {
    if (delivery.key() != "a") gate.pass();
    return ack();
  });
  hand_out({"a", "b", "c"});
  const auto first = next<SettleRequest>();
  EXPECT_EQ(first.request.items.size(), 1u);
  gate.open();
  // A claim for all three places shows that the worker has all three verdicts.
  for (auto claim = next<ClaimRequest>(); claim.request.max < 3; claim = next<ClaimRequest>()) {
    answer(claim.ticket, Reply(claimed({})));
  }
  answer(first.ticket, Reply(outcomes(1, Outcome::done)));
  const auto second = next<SettleRequest>();
  EXPECT_EQ(second.request.items.size(), 2u);
  answer(second.ticket, Reply(outcomes(2, Outcome::done)));
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().acked, 3u);
}

TEST_F(WorkerTest, LateSettlementsAreStale) {
  start({}, [](const Delivery&, const std::stop_token&) { return ack(); });
  hand_out({"a"});
  (void)settlements(1, Outcome::stale);
  (void)next<ClaimRequest>();
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().stale, 1u);
  EXPECT_EQ(worker->stats().acked, 0u);
}

// -- stopping

TEST_F(WorkerTest, StopLetsHandlersFinishAndReleasesWhatHadNotBegun) {
  std::promise<void> told;
  start({.concurrency = 1, .prefetch = 2}, [&](const Delivery&, const std::stop_token& token) {
    const std::stop_callback on_stop(token, [&] { told.set_value(); });
    gate.pass();
    return ack();
  });
  hand_out({"a", "b", "c"});
  gate.wait_for(1);
  stop.request_stop();
  told.get_future().get();
  const auto released = settlements(2, Outcome::done);
  EXPECT_EQ(released[0].first, "receipt-b");
  EXPECT_EQ(released[0].second.action, SettleAction::release);
  EXPECT_EQ(released[1].first, "receipt-c");
  EXPECT_EQ(released[1].second.action, SettleAction::release);
  gate.open();
  const auto acked = settlements(1, Outcome::done);
  EXPECT_EQ(acked[0].first, "receipt-a");
  EXPECT_EQ(acked[0].second.action, SettleAction::ack);
  EXPECT_TRUE(running.get());
  EXPECT_EQ(worker->stats().released, 2u);
  EXPECT_EQ(worker->stats().delivered, 1u);
}

TEST_F(WorkerTest, WhatAWithdrawnClaimStillBringsIsReleased) {
  fake.engine().answer_withdrawals(false);
  start({}, [](const Delivery&, const std::stop_token&) { return ack(); });
  const auto claim = next<ClaimRequest>();
  stop.request_stop();
  (void)fake.engine().withdrawn(1);
  answer(claim.ticket, Reply(claimed({"a"})));
  const auto released = settlements(1, Outcome::done);
  EXPECT_EQ(released[0].first, "receipt-a");
  EXPECT_EQ(released[0].second.action, SettleAction::release);
  EXPECT_TRUE(running.get());
  EXPECT_EQ(worker->stats().delivered, 0u);
  EXPECT_EQ(fake.engine().withdrawn().size(), 1u);
}

TEST_F(WorkerTest, AHandlerMayStopItsWorker) {
  start({}, [this](const Delivery&, const std::stop_token&) {
    worker->stop();
    return ack();
  });
  hand_out({"a"});
  (void)settlements(1, Outcome::done);
  EXPECT_TRUE(running.get());
  EXPECT_EQ(worker->stats().acked, 1u);
  // A worker that has stopped stays stopped.
  EXPECT_TRUE(worker->run({}));
}

TEST_F(WorkerTest, StoppedBeforeItRunsItClaimsNothing) {
  stop.request_stop();
  start({.concurrency = 4}, [](const Delivery&, const std::stop_token&) { return ack(); });
  EXPECT_TRUE(running.get());
  EXPECT_EQ(fake.engine().untaken(), 0u);
}

TEST_F(WorkerTest, TheDestructorStopsAndDrains) {
  start({}, [this](const Delivery&, const std::stop_token&) {
    gate.pass();
    return ack();
  });
  hand_out({"a"});
  gate.wait_for(1);
  auto destroyed = std::async(std::launch::async, [this] { worker.reset(); });
  gate.open();
  EXPECT_EQ(settlements(1, Outcome::done)[0].second.action, SettleAction::ack);
  destroyed.get();
  EXPECT_TRUE(running.get());
}

// -- misuse

TEST_F(WorkerTest, OptionsOutOfRangeAreNamed) {
  const Handler handler = [](const Delivery&, const std::stop_token&) { return ack(); };
  struct Case {
    WorkerOptions options;
    std::string names;
  };
  for (const Case& each :
       {Case{{.concurrency = 0}, "concurrency 0 must be from 1 to 1024"},
        Case{{.concurrency = 1'025}, "concurrency 1025"},
        Case{{.prefetch = 8'977}, "prefetch 8977 must be from 0 to 8976"},
        Case{{.lease = 0ms}, "lease 0s"}, Case{{.lease = 8 * 24h}, "lease 8d"}}) {
    const Result<void> result = Worker(fake.store().queue("q"), each.options, handler).run({});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(result.error().message.find(each.names), std::string::npos) << result.error().message;
  }
  const Result<void> empty = Worker(fake.store().queue("q"), {}, nullptr).run({});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::invalid_argument);
}

TEST_F(WorkerTest, RunsOnceAtATimeAndNotOnAThreadOfTheEngine) {
  start({}, [](const Delivery&, const std::stop_token&) { return ack(); });
  (void)next<ClaimRequest>();
  EXPECT_EQ(worker->run({}).error().code, ErrorCode::misuse);
  {
    const core::EngineThreadScope scope;
    Worker other(fake.store().queue("q"), {},
                 [](const Delivery&, const std::stop_token&) { return ack(); });
    EXPECT_EQ(other.run({}).error().code, ErrorCode::misuse);
  }
  EXPECT_TRUE(finish());
}

}  // namespace
}  // namespace tarry
