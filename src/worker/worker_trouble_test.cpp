// A worker whose leases run out, or whose store is in trouble.
#include <gtest/gtest.h>
#include <tarry/worker.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/worker_rig.h"

namespace tarry {
namespace {

using namespace std::chrono_literals;
using core::ClaimRequest;
using core::ExtendRequest;
using core::Reply;
using core::SettleAction;
using core::SettleRequest;
using test::claimed;
using test::outcomes;

Error away_for_now() { return {ErrorCode::unavailable, "nobody there"}; }

// A lease that is long enough for a handler to begin even on a busy machine. The worker extends it
// when a third of it has passed.
constexpr Millis kLongEnough{3'000};

class WorkerTroubleTest : public test::WorkerRig {
 protected:
  // The handler of "a" waits at the gate; another message could be handled beside it.
  void start_with_one_at_the_gate() {
    start({.concurrency = 2}, [this](const Delivery&, const std::stop_token&) {
      gate.pass();
      return ack();
    });
    hand_out({"a"});
    gate.wait_for(1);
  }
  // Handles one message; the handler passes the gate, and reports when its token is signalled.
  void work_until_told(std::promise<void>& told) {
    start({}, [this, &told](const Delivery&, const std::stop_token& token) {
      const std::stop_callback on_stop(token, [&] { told.set_value(); });
      gate.pass();
      return ack();
    });
    hand_out({"a"}, kLongEnough);
  }
};

// -- leases

TEST_F(WorkerTroubleTest, ExtendsTheLeaseThatTheStoreGaveWhileTheHandlerRuns) {
  start({.lease = 1h}, [this](const Delivery&, const std::stop_token& token) {
    gate.pass();
    return token.stop_requested() ? bury("lost") : ack();
  });
  hand_out({"a"}, kLongEnough);  // the engine's lease counts, not the requested one
  gate.wait_for(1);
  for (int i = 0; i < 3; ++i) {
    const auto asked = next<ExtendRequest>();
    ASSERT_EQ(asked.request.items.size(), 1u);
    EXPECT_EQ(core::view(asked.request.bytes, asked.request.items[0].receipt), "receipt-a");
    EXPECT_EQ(asked.request.items[0].lease, kLongEnough);
    // An extension that fails because the store is away does not lose the claim yet.
    if (i == 1) {
      answer(asked.ticket, away_for_now());
    } else {
      answer(asked.ticket, Reply(outcomes(1, Outcome::done)));
    }
  }
  gate.open();
  EXPECT_EQ(settlements(1, Outcome::done)[0].second.action, SettleAction::ack);
  EXPECT_TRUE(finish());
}

TEST_F(WorkerTroubleTest, ALostClaimIsToldToItsHandlerAndNotSettled) {
  std::promise<void> told;
  work_until_told(told);
  const auto asked = next<ExtendRequest>();
  gate.wait_for(1);  // without this wait, the claim could be lost before its handler begins
  answer(asked.ticket, Reply(outcomes(1, Outcome::stale)));
  told.get_future().get();
  gate.open();
  (void)next<ClaimRequest>();
  EXPECT_EQ(fake.engine().untaken(), 0u);
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().stale, 1u);
  EXPECT_EQ(worker->stats().delivered, 1u);
}

TEST_F(WorkerTroubleTest, AHandlerIsToldOfItsLeasesEndAlsoWhereTheStoreIsSilent) {
  std::promise<void> told;
  work_until_told(told);
  const auto asked = next<ExtendRequest>();
  EXPECT_EQ(told.get_future().wait_for(test::kPatience), std::future_status::ready);
  answer(asked.ticket, away_for_now());
  gate.open();
  EXPECT_EQ(settlements(1, Outcome::done)[0].second.action, SettleAction::ack);
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().run_out, 0u);
}

TEST_F(WorkerTroubleTest, LeasesAreExtendedHoweverLongAStopCallbackTakes) {
  const auto slow = std::make_shared<test::Gate>();
  start({}, [this, slow](const Delivery&, const std::stop_token& token) {
    const std::stop_callback on_stop(token, [&] { slow->pass(); });
    gate.pass();
    return ack();
  });
  hand_out({"a"}, kLongEnough);
  gate.wait_for(1);
  stop.request_stop();
  slow->wait_for(1);
  answer(next<ExtendRequest>().ticket, Reply(outcomes(1, Outcome::done)));
  slow->open();
  gate.open();
  EXPECT_EQ(settlements(1, Outcome::done)[0].second.action, SettleAction::ack);
  EXPECT_TRUE(finish());
}

TEST_F(WorkerTroubleTest, LeasesAreExtendedHoweverLongOnOutageTakes) {
  const auto slow = std::make_shared<test::Gate>();
  WorkerOptions options{.concurrency = 2};
  options.on_outage = [slow](const std::optional<Error>&) { slow->pass(); };
  start(options, [this](const Delivery&, const std::stop_token&) {
    gate.pass();
    return ack();
  });
  hand_out({"a"}, kLongEnough);
  gate.wait_for(1);
  answer(next<ClaimRequest>().ticket, away_for_now());
  slow->wait_for(1);
  answer(next<ExtendRequest>().ticket, Reply(outcomes(1, Outcome::done)));
  slow->open();
  gate.open();
  EXPECT_EQ(settlements(1, Outcome::done)[0].second.action, SettleAction::ack);
  EXPECT_TRUE(finish());
}

TEST_F(WorkerTroubleTest, AStoreThatCannotExtendIsAskedOnceAndStillGetsTheVerdict) {
  start({}, [this](const Delivery&, const std::stop_token& token) {
    gate.pass();
    return token.stop_requested() ? bury("lost") : ack();
  });
  hand_out({"a"}, kLongEnough);
  core::ItemsReply refused = outcomes(1, Outcome::done);
  refused.items[0].error = Error{ErrorCode::unsupported, "leases live with the connection"};
  answer(next<ExtendRequest>().ticket, Reply(refused));
  gate.open();
  EXPECT_EQ(settlements(1, Outcome::done)[0].second.action, SettleAction::ack);
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().acked, 1u);
}

TEST_F(WorkerTroubleTest, WhatWasClaimedAheadAndLostIsNotBegun) {
  start({.concurrency = 1, .prefetch = 1},
        [this](const Delivery& delivery, const std::stop_token&) {
          if (delivery.key() == "a") gate.pass();
          return ack();
        });
  const auto claim = next<ClaimRequest>();
  EXPECT_EQ(claim.request.max, 2u);
  core::ClaimReply both = claimed({"a", "b"}, 1h);
  both.items[1].lease_ms = 3;
  answer(claim.ticket, Reply(both));
  gate.wait_for(1);
  const auto extend = next<ExtendRequest>();
  ASSERT_EQ(extend.request.items.size(), 1u);
  EXPECT_EQ(core::view(extend.request.bytes, extend.request.items[0].receipt), "receipt-b");
  answer(extend.ticket, Reply(outcomes(1, Outcome::stale)));
  EXPECT_EQ(next<ClaimRequest>().request.max, 1u);  // the place of "b" is free again
  gate.open();
  EXPECT_EQ(settlements(1, Outcome::done)[0].first, "receipt-a");
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().delivered, 1u);
  EXPECT_EQ(worker->stats().stale, 1u);
}

TEST_F(WorkerTroubleTest, WhatWaitedBeyondItsLeaseWhileTheStoreWasAwayIsNotBegun) {
  start({.concurrency = 1, .prefetch = 1},
        [this](const Delivery& delivery, const std::stop_token&) {
          if (delivery.key() == "a") gate.pass();
          return ack();
        });
  // Answers extensions as they arrive, so that none is outstanding when the lease runs out.
  std::atomic<int> extends = 0;
  fake.engine().respond([&](const core::Request& request) -> std::optional<Result<Reply>> {
    if (!std::holds_alternative<ExtendRequest>(request)) return std::nullopt;
    ++extends;
    return away_for_now();
  });
  constexpr Millis kLease{20};
  core::ClaimReply both = claimed({"a", "b"}, 1h);
  both.items[1].lease_ms = kLease.count();
  answer(next<ClaimRequest>().ticket, Reply(both));
  gate.wait_for(1);
  // The clock is read after the answer, so the worker counts the lease from an earlier time.
  const auto handed_out = std::chrono::steady_clock::now();
  while (extends == 0 || std::chrono::steady_clock::now() < handed_out + kLease) {
    std::this_thread::yield();
  }
  gate.open();
  std::map<std::string, SettleAction> settled;
  while (settled.size() < 2) {
    const auto asked = next<SettleRequest>();
    core::ItemsReply reply = outcomes(asked.request.items.size(), Outcome::done);
    for (std::size_t i = 0; i < reply.items.size(); ++i) {
      settled[receipt(asked.request, i)] = asked.request.items[i].action;
      if (receipt(asked.request, i) == "receipt-b") reply.items[i].outcome = Outcome::stale;
    }
    answer(asked.ticket, Reply(reply));
  }
  EXPECT_EQ(settled, (std::map<std::string, SettleAction>{{"receipt-a", SettleAction::ack},
                                                          {"receipt-b", SettleAction::release}}));
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().delivered, 1u);
  EXPECT_EQ(worker->stats().stale, 1u);
  EXPECT_EQ(worker->stats().waiting, 0u);
}

TEST_F(WorkerTroubleTest, AnAnswerThatWasUnderWayForAsLongAsItsLeaseBeginsNothing) {
  std::promise<void> released_a;  // keeps the ack of "b" out of the request that releases "a"
  start({.concurrency = 2}, [&](const Delivery&, const std::stop_token&) {
    released_a.get_future().wait();
    return ack();
  });
  core::ClaimReply both = claimed({"a", "b"}, 1h);
  both.begun_at = base::BootClock::now() - 1min;
  both.items[0].lease_ms = Millis(1min).count();
  answer(next<ClaimRequest>().ticket, Reply(both));
  const auto released = settlements(1, Outcome::done);
  EXPECT_EQ(released[0].first, "receipt-a");
  EXPECT_EQ(released[0].second.action, SettleAction::release);
  released_a.set_value();
  EXPECT_EQ(settlements(1, Outcome::done)[0].first, "receipt-b");
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().delivered, 1u);
}

// -- a store in trouble

TEST_F(WorkerTroubleTest, AsksAgainWhenTheStoreIsAwayForAWhile) {
  start({}, [](const Delivery&, const std::stop_token&) { return ack(); });
  for (const ErrorCode code :
       {ErrorCode::unavailable, ErrorCode::unknown_outcome, ErrorCode::no_space}) {
    answer(next<ClaimRequest>().ticket, Error{code, "not now"});
  }
  hand_out({"a"});
  EXPECT_EQ(settlements(1, Outcome::done)[0].first, "receipt-a");
  EXPECT_TRUE(finish());
}

TEST_F(WorkerTroubleTest, TellsOnceOfAnOutageAndOnceOfItsEnd) {
  std::vector<std::string> told;
  WorkerOptions options;
  options.on_outage = [&](const std::optional<Error>& outage) {
    told.push_back(outage ? outage->message : "over");
  };
  start(options, [](const Delivery&, const std::stop_token&) { return ack(); });
  for (const char* message : {"away", "still away", "away yet"}) {
    answer(next<ClaimRequest>().ticket, Error{ErrorCode::unavailable, message});
  }
  hand_out({"a"});
  EXPECT_EQ(settlements(1, Outcome::done)[0].first, "receipt-a");
  EXPECT_TRUE(finish());
  EXPECT_EQ(told, (std::vector<std::string>{"away", "over"}));
}

TEST_F(WorkerTroubleTest, KeepsAVerdictUntilTheStoreHasTakenIt) {
  start({}, [](const Delivery&, const std::stop_token&) { return bury("bad"); });
  hand_out({"a"});
  answer(next<SettleRequest>().ticket, away_for_now());
  core::ItemsReply lost = outcomes(1, Outcome::done);
  lost.items[0].error = Error{ErrorCode::unknown_outcome, "the answer was lost"};
  answer(next<SettleRequest>().ticket, Reply(lost));
  answer(next<SettleRequest>().ticket, Reply(core::ItemsReply{}));  // has no result for the item
  const auto settled = settlements(1, Outcome::done);
  EXPECT_EQ(settled[0].first, "receipt-a");
  EXPECT_EQ(settled[0].second.action, SettleAction::bury);
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().buried, 1u);
  EXPECT_EQ(worker->stats().stale, 0u);
}

TEST_F(WorkerTroubleTest, GivesAVerdictUpWhenItsLeaseHasRunOut) {
  fake.engine().respond([](const core::Request& request) -> std::optional<Result<Reply>> {
    if (std::holds_alternative<SettleRequest>(request)) return away_for_now();
    if (std::holds_alternative<ExtendRequest>(request)) {
      return Reply(outcomes(1, Outcome::done));
    }
    return std::nullopt;
  });
  start({}, [](const Delivery&, const std::stop_token&) { return ack(); });
  hand_out({"a"}, 50ms);
  (void)next<ClaimRequest>();
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().stale, 1u);
  EXPECT_EQ(worker->stats().acked, 0u);
}

TEST_F(WorkerTroubleTest, AVerdictThatTheStoreRefusesIsLeftToItsLeaseAndToldOf) {
  std::vector<Error> told;
  WorkerOptions options;
  options.on_refusal = [&](const Error& refusal) { told.push_back(refusal); };
  start(options, [](const Delivery&, const std::stop_token&) { return ack(); });
  hand_out({"a"});
  core::ItemsReply refused = outcomes(1, Outcome::done);
  refused.items[0].error = Error{ErrorCode::invalid_argument, "no"};
  answer(next<SettleRequest>().ticket, Reply(refused));
  hand_out({"b"});
  EXPECT_EQ(settlements(1, Outcome::done)[0].first, "receipt-b");
  hand_out({"c"});
  // A settlement that comes too late does not count as refused.
  EXPECT_EQ(settlements(1, Outcome::stale)[0].first, "receipt-c");
  EXPECT_TRUE(finish());
  EXPECT_EQ(told, (std::vector<Error>{{ErrorCode::invalid_argument, "no"}}));
  EXPECT_EQ(worker->stats().refused, 1u);
  EXPECT_EQ(worker->stats().stale, 2u);
  EXPECT_EQ(worker->stats().acked, 1u);
}

TEST_F(WorkerTroubleTest, EndsWellWhenTheStoreIsClosed) {
  start_with_one_at_the_gate();
  (void)next<ClaimRequest>();
  std::async(std::launch::async, [this] { fake.store().close(); }).get();
  gate.open();
  EXPECT_TRUE(running.get());
  EXPECT_EQ(worker->stats().stale, 1u);
}

TEST_F(WorkerTroubleTest, EndsWithTheErrorOfAStoreThatCanNoLongerBeUsed) {
  start_with_one_at_the_gate();
  answer(next<ClaimRequest>().ticket, Error{ErrorCode::io_error, "fdatasync failed"});
  gate.open();
  // The worker settles the message before it ends.
  EXPECT_EQ(settlements(1, Outcome::done)[0].first, "receipt-a");
  const Result<void> result = running.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), (Error{ErrorCode::io_error, "fdatasync failed"}));
}

TEST_F(WorkerTroubleTest, EndsWithTheErrorOfASettlementOrAnExtension) {
  for (const bool settling : {true, false}) {
    stop = std::stop_source();
    test::Gate hold;
    start({}, [&](const Delivery&, const std::stop_token&) {
      if (!settling) hold.pass();
      return ack();
    });
    hand_out({"a"}, settling ? Millis(1h) : kLongEnough);
    const Error broken{ErrorCode::damaged, "bytes do not check"};
    if (settling) {
      answer(next<SettleRequest>().ticket, broken);
    } else {
      hold.wait_for(1);
      answer(next<ExtendRequest>().ticket, broken);
      hold.open();
      answer(next<SettleRequest>().ticket, broken);
    }
    const Result<void> result = running.get();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), broken);
    EXPECT_EQ(worker->stats().stale, 1u);
    worker.reset();
  }
}

}  // namespace
}  // namespace tarry
