#include <gtest/gtest.h>
#include <tarry/worker.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "support/scripted_engine.h"
#include "support/scripted_store.h"

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

Error transient() { return {ErrorCode::unavailable, "nobody there"}; }

// What handlers and the test tell each other.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  // Throws when they do not come.
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, test::kPatience, [&] { return waiting_ >= count; })) {
      throw std::runtime_error("the handlers did not begin");
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

class WorkerTest : public testing::Test {
 public:
  ~WorkerTest() override {
    gate.open();
    if (running.valid()) {
      stop.request_stop();
      fake.engine().close();
      running.wait();
    }
  }

 protected:
  void start(WorkerOptions options, Handler handler) {
    worker = std::make_unique<Worker>(fake.store().queue("q"), options, std::move(handler));
    running = std::async(std::launch::async, [this] { return worker->run(stop.get_token()); });
  }

  Result<void> finish() {
    stop.request_stop();
    return running.get();
  }

  template <typename R>
  auto next() {
    return fake.engine().next<R>();
  }
  void answer(core::Ticket ticket, Result<Reply> reply) {
    fake.engine().answer(ticket, std::move(reply));
  }
  // Hands the messages to the claim that waits.
  void hand_out(const std::vector<std::string>& keys, Millis lease = 30s) {
    answer(next<ClaimRequest>().ticket, Reply(claimed(keys, lease)));
  }
  static std::string receipt(const SettleRequest& request, std::size_t i) {
    return std::string(core::view(request.bytes, request.items.at(i).receipt));
  }
  // Until that many messages are settled: their settlements, all answered with `outcome`.
  std::vector<std::pair<std::string, core::SettleItem>> settlements(std::size_t count,
                                                                    Outcome outcome) {
    std::vector<std::pair<std::string, core::SettleItem>> all;
    while (all.size() < count) {
      const auto asked = next<SettleRequest>();
      for (std::size_t i = 0; i < asked.request.items.size(); ++i) {
        all.emplace_back(receipt(asked.request, i), asked.request.items[i]);
      }
      answer(asked.ticket, Reply(outcomes(asked.request.items.size(), outcome)));
    }
    return all;
  }

  test::ScriptedStore fake;
  Gate gate;
  std::stop_source stop;
  std::unique_ptr<Worker> worker;
  std::future<Result<void>> running;
};

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
    std::size_t reason;
  };
  for (const Case& each :
       {Case{"retry", SettleAction::retry, {}, 0}, Case{"later", SettleAction::retry, 10s, 0},
        Case{"bury", SettleAction::bury, {}, 3}, Case{"release", SettleAction::release, {}, 0},
        Case{"throw", SettleAction::retry, {}, 0}, Case{"throw 7", SettleAction::retry, {}, 0},
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
  // Claims for all three places say that all three verdicts are in.
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

// -- leases

TEST_F(WorkerTest, ExtendsTheLeaseThatTheStoreGaveWhileTheHandlerRuns) {
  start({.lease = 1h}, [this](const Delivery&, const std::stop_token& token) {
    gate.pass();
    return token.stop_requested() ? bury("lost") : ack();
  });
  hand_out({"a"}, 30ms);  // the engine's word on the lease counts, not what was asked
  gate.wait_for(1);
  for (int i = 0; i < 3; ++i) {
    const auto asked = next<ExtendRequest>();
    ASSERT_EQ(asked.request.items.size(), 1u);
    EXPECT_EQ(core::view(asked.request.bytes, asked.request.items[0].receipt), "receipt-a");
    EXPECT_EQ(asked.request.items[0].lease, Millis(30));
    // A store that is away for a while loses nothing yet.
    if (i == 1) {
      answer(asked.ticket, transient());
    } else {
      answer(asked.ticket, Reply(outcomes(1, Outcome::done)));
    }
  }
  gate.open();
  EXPECT_EQ(settlements(1, Outcome::done)[0].second.action, SettleAction::ack);
  EXPECT_TRUE(finish());
}

TEST_F(WorkerTest, ALostClaimIsToldToItsHandlerAndNotSettled) {
  std::promise<void> told;
  start({}, [&](const Delivery&, const std::stop_token& token) {
    const std::stop_callback on_stop(token, [&] { told.set_value(); });
    gate.pass();
    return ack();
  });
  hand_out({"a"}, 3ms);
  const auto asked = next<ExtendRequest>();
  gate.wait_for(1);  // lost any sooner, it would not be begun
  answer(asked.ticket, Reply(outcomes(1, Outcome::stale)));
  told.get_future().get();
  gate.open();
  (void)next<ClaimRequest>();
  EXPECT_EQ(fake.engine().untaken(), 0u);
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().stale, 1u);
  EXPECT_EQ(worker->stats().delivered, 1u);
}

TEST_F(WorkerTest, AStoreThatCannotExtendIsAskedOnceAndStillGetsTheVerdict) {
  start({}, [this](const Delivery&, const std::stop_token& token) {
    gate.pass();
    return token.stop_requested() ? bury("lost") : ack();
  });
  hand_out({"a"}, 3ms);
  core::ItemsReply refused = outcomes(1, Outcome::done);
  refused.items[0].error = Error{ErrorCode::unsupported, "leases live with the connection"};
  answer(next<ExtendRequest>().ticket, Reply(refused));
  gate.open();
  EXPECT_EQ(settlements(1, Outcome::done)[0].second.action, SettleAction::ack);
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().acked, 1u);
}

TEST_F(WorkerTest, WhatWasClaimedAheadAndLostIsNotBegun) {
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
  EXPECT_EQ(next<ClaimRequest>().request.max, 1u);  // its place is free again
  gate.open();
  EXPECT_EQ(settlements(1, Outcome::done)[0].first, "receipt-a");
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().delivered, 1u);
  EXPECT_EQ(worker->stats().stale, 1u);
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
  // And it stays stopped.
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

// -- a store in trouble

TEST_F(WorkerTest, AsksAgainWhenTheStoreIsAwayForAWhile) {
  start({}, [](const Delivery&, const std::stop_token&) { return ack(); });
  for (const ErrorCode code :
       {ErrorCode::unavailable, ErrorCode::unknown_outcome, ErrorCode::no_space}) {
    answer(next<ClaimRequest>().ticket, Error{code, "not now"});
  }
  hand_out({"a"});
  EXPECT_EQ(settlements(1, Outcome::done)[0].first, "receipt-a");
  EXPECT_TRUE(finish());
}

TEST_F(WorkerTest, KeepsAVerdictUntilTheStoreHasTakenIt) {
  start({}, [](const Delivery&, const std::stop_token&) { return bury("bad"); });
  hand_out({"a"});
  answer(next<SettleRequest>().ticket, transient());
  core::ItemsReply lost = outcomes(1, Outcome::done);
  lost.items[0].error = Error{ErrorCode::unknown_outcome, "the answer was lost"};
  answer(next<SettleRequest>().ticket, Reply(lost));
  answer(next<SettleRequest>().ticket, Reply(core::ItemsReply{}));  // not a word on it
  const auto settled = settlements(1, Outcome::done);
  EXPECT_EQ(settled[0].first, "receipt-a");
  EXPECT_EQ(settled[0].second.action, SettleAction::bury);
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().buried, 1u);
  EXPECT_EQ(worker->stats().stale, 0u);
}

TEST_F(WorkerTest, GivesAVerdictUpWhenItsLeaseHasRunOut) {
  fake.engine().respond([](const core::Request& request) -> std::optional<Result<Reply>> {
    if (std::holds_alternative<SettleRequest>(request)) return transient();
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

TEST_F(WorkerTest, AVerdictThatTheStoreRefusesIsLeftToItsLease) {
  start({}, [](const Delivery&, const std::stop_token&) { return ack(); });
  hand_out({"a"});
  core::ItemsReply refused = outcomes(1, Outcome::done);
  refused.items[0].error = Error{ErrorCode::invalid_argument, "no"};
  answer(next<SettleRequest>().ticket, Reply(refused));
  hand_out({"b"});
  EXPECT_EQ(settlements(1, Outcome::done)[0].first, "receipt-b");
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().stale, 1u);
  EXPECT_EQ(worker->stats().acked, 1u);
}

TEST_F(WorkerTest, EndsWellWhenTheStoreIsClosed) {
  start({.concurrency = 2}, [this](const Delivery&, const std::stop_token&) {
    gate.pass();
    return ack();
  });
  hand_out({"a"});
  gate.wait_for(1);
  (void)next<ClaimRequest>();
  std::async(std::launch::async, [this] { fake.store().close(); }).get();
  gate.open();
  EXPECT_TRUE(running.get());
  EXPECT_EQ(worker->stats().stale, 1u);
}

TEST_F(WorkerTest, EndsWithTheErrorOfAStoreThatCanNoLongerBeUsed) {
  start({.concurrency = 2}, [this](const Delivery&, const std::stop_token&) {
    gate.pass();
    return ack();
  });
  hand_out({"a"});
  gate.wait_for(1);
  answer(next<ClaimRequest>().ticket, Error{ErrorCode::io_error, "fdatasync failed"});
  gate.open();
  EXPECT_EQ(settlements(1, Outcome::done)[0].first, "receipt-a");  // drained all the same
  const Result<void> result = running.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), (Error{ErrorCode::io_error, "fdatasync failed"}));
}

TEST_F(WorkerTest, EndsWithTheErrorOfASettlementOrAnExtension) {
  for (const bool settling : {true, false}) {
    stop = std::stop_source();
    Gate hold;
    start({}, [&](const Delivery&, const std::stop_token&) {
      if (!settling) hold.pass();
      return ack();
    });
    hand_out({"a"}, settling ? Millis(1h) : Millis(3));
    const Error broken{ErrorCode::damaged, "bytes do not check"};
    if (settling) {
      answer(next<SettleRequest>().ticket, broken);
    } else {
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
