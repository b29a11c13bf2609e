// One worker on several queues: its counts, and the limit of its drain.
#include <gtest/gtest.h>
#include <tarry/clock.h>
#include <tarry/store.h>
#include <tarry/worker.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/limits.h"
#include "support/worker_rig.h"

namespace tarry {
namespace {

using namespace std::chrono_literals;

Verdict ack_at_once(const Delivery&, const std::stop_token&) { return ack(); }

// -- on a scripted store

class WorkerQueuesTest : public test::WorkerRig {
 protected:
  Queue queue(std::string_view name) { return fake.store().queue(name); }
};

TEST_F(WorkerQueuesTest, EachQueueHasItsOwnClaimHandlerAndConcurrency) {
  start({{queue("orders"), ack_at_once, {.concurrency = 3, .lease = 9s}},
         {queue("mails"), ack_at_once, {.concurrency = 1, .prefetch = 4}}});
  std::map<std::string, core::ClaimRequest> claims;
  for (int i = 0; i < 2; ++i) {
    auto asked = next<core::ClaimRequest>();
    ASSERT_EQ(asked.request.queues.size(), 1u);
    claims.emplace(asked.request.queues[0], asked.request);
  }
  EXPECT_EQ(claims.at("orders").max, 3u);
  EXPECT_EQ(claims.at("orders").lease, Millis(9s));
  EXPECT_EQ(claims.at("mails").max, 5u);
  EXPECT_EQ(claims.at("mails").lease, std::nullopt);
  EXPECT_TRUE(finish());
}

TEST_F(WorkerQueuesTest, OneQueueThatCanNoLongerBeServedEndsAll) {
  start({{queue("a"), ack_at_once, {}}, {queue("b"), ack_at_once, {}}});
  const auto first = next<core::ClaimRequest>();
  (void)next<core::ClaimRequest>();
  answer(first.ticket, Error{ErrorCode::io_error, "fdatasync failed"});
  const Result<void> result = running.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "fdatasync failed");
}

TEST_F(WorkerQueuesTest, NoQueueOneTwiceAndBadOptionsAreNamed) {
  struct Case {
    std::vector<QueueWork> queues;
    std::string names;
  };
  const std::vector<Case> cases = {
      {{}, "at least one queue"},
      {{{queue("a"), ack_at_once, {}}, {queue("a"), ack_at_once, {}}}, "\"a\" is given twice"},
      {{{queue("a"), ack_at_once, {}}, {queue("b"), nullptr, {}}}, "empty, of queue \"b\""},
      {{{queue("a"), ack_at_once, {.drain = 25h}}}, "drain 1d1h must be from 0s to 24h"},
      {{{queue("a"), ack_at_once, {.drain = -1ms}}}, "drain -1ms must be"},
  };
  for (const Case& each : cases) {
    const Result<void> result = Worker(each.queues).run({});
    ASSERT_FALSE(result) << each.names;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(result.error().message.find(each.names), std::string::npos) << result.error().message;
  }
}

TEST_F(WorkerQueuesTest, WhatWasThrownIsKeptBounded) {
  start({}, [](const Delivery& delivery, const std::stop_token&) -> Verdict {
    if (delivery.key() == "number") throw 7;
    throw std::runtime_error(delivery.key() == "long" ? std::string(300, 'x') : "no such order");
  });
  for (const auto& [key, said] : std::vector<std::pair<std::string, std::string>>{
           {"short", "no such order"},
           {"long", std::string(core::kMaxReason, 'x')},
           {"number", "an exception that is no std::exception"}}) {
    hand_out({key});
    EXPECT_EQ(settlements(1, Outcome::done)[0].second.action, core::SettleAction::retry);
    EXPECT_EQ(worker->stats().last_error, said);
  }
  EXPECT_TRUE(finish());
  EXPECT_EQ(worker->stats().thrown, 3u);
  EXPECT_EQ(worker->stats().retried, 3u);
}

TEST_F(WorkerQueuesTest, CountsWhatRunsWhatWaitsAndWhatRanOut) {
  std::promise<void> told;
  start({.prefetch = 2}, [&](const Delivery&, const std::stop_token& token) {
    const std::stop_callback on_stop(token, [&] { told.set_value(); });
    gate.pass();
    return ack();
  });
  core::ClaimReply three = test::claimed({"a", "b", "c"}, 1h);
  three.items[0].lease_ms = 3'000;  // the handler begins within this lease, even on a busy machine
  answer(next<core::ClaimRequest>().ticket, core::Reply(three));
  gate.wait_for(1);
  EXPECT_EQ(worker->stats().in_flight, 1u);
  EXPECT_EQ(worker->stats().waiting, 2u);
  answer(next<core::ExtendRequest>().ticket, core::Reply(test::outcomes(1, Outcome::stale)));
  told.get_future().get();
  EXPECT_EQ(worker->stats().run_out, 1u);
  stop.request_stop();
  EXPECT_EQ(settlements(2, Outcome::done).size(), 2u);
  EXPECT_EQ(worker->stats().waiting, 0u);
  gate.open();
  EXPECT_TRUE(running.get());
  EXPECT_EQ(worker->stats().in_flight, 0u);
  EXPECT_EQ(worker->stats().stale, 1u);
}

TEST(WorkerDrain, AfterItALeaseIsExtendedNoMoreAndOthersGetTheMessage) {
  for (const bool bounded : {true, false}) {
    const Store store = *tarry::open("memory:");
    const Queue queue = store.queue("q");
    ASSERT_TRUE(queue.push({.key = "k"}));
    std::stop_source stop;
    WorkerOptions options{.lease = 2s};  // it is extended in time on a busy machine, too
    if (bounded) options.drain = 0ms;
    std::size_t redelivered = 0;
    Worker worker(queue, options, [&](const Delivery&, const std::stop_token&) {
      stop.request_stop();
      redelivered = queue.claim({.wait = bounded ? Millis(30s) : Millis(5s)}).value_or({}).size();
      return ack();
    });
    EXPECT_TRUE(worker.run(stop.get_token()));
    EXPECT_EQ(redelivered, bounded ? 1u : 0u);
    EXPECT_EQ(worker.stats().stale, bounded ? 1u : 0u);
  }
}

// -- on a real store, whose clock the test moves

class WorkerWithAClock : public testing::Test {
 protected:
  ManualClock clock;
  Store store = *tarry::open("memory:?shards=2", {.clock = clock});
  std::stop_source stop;
};

TEST_F(WorkerWithAClock, HandlersByQueueAndNoMoreAtOnceThanTheTotal) {
  constexpr int kEach = 50;
  std::mutex mutex;
  std::map<std::string, int> seen;
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  std::vector<QueueWork> work;
  for (const std::string name : {"a", "b", "c"}) {
    for (int i = 0; i < kEach; ++i) ASSERT_TRUE(store.queue(name).push({.due = in(1h)}));
    work.push_back({store.queue(name),
                    [&, name](const Delivery& delivery, const std::stop_token&) {
                      const int running = ++now;
                      int before = most;
                      while (running > before && !most.compare_exchange_weak(before, running)) {
                      }
                      std::this_thread::yield();
                      const std::lock_guard lock(mutex);
                      EXPECT_EQ(delivery.queue(), name);
                      ++seen[name];
                      if (seen["a"] + seen["b"] + seen["c"] == 3 * kEach) stop.request_stop();
                      --now;
                      return ack();
                    },
                    {.concurrency = 4}});
  }
  Worker worker(std::move(work), 2);
  clock.advance(1h + 20ms);
  EXPECT_TRUE(worker.run(stop.get_token()));
  for (const auto& [name, times] : seen) EXPECT_EQ(times, kEach) << name;
  EXPECT_LE(most, 2);
  EXPECT_EQ(worker.stats().acked, 3u * kEach);
  EXPECT_EQ(worker.stats("b")->acked, std::uint64_t{kEach});
  EXPECT_EQ(worker.stats("d"), std::nullopt);
  EXPECT_EQ(worker.stats().lateness_p50, 20ms);
  EXPECT_EQ(worker.stats().lateness_max, 20ms);
}

TEST_F(WorkerWithAClock, AQueueWhoseHandlersHangKeepsNoOtherFromItsTurn) {
  test::Gate gate;
  ASSERT_TRUE(store.queue("slow").push({.key = "1"}));
  ASSERT_TRUE(store.queue("quick").push({.key = "2"}));
  std::promise<void> quick;
  Worker worker({{store.queue("slow"),
                  [&](const Delivery&, const std::stop_token&) {
                    gate.pass();
                    return ack();
                  },
                  {}},
                 {store.queue("quick"),
                  [&](const Delivery&, const std::stop_token&) {
                    quick.set_value();
                    return ack();
                  },
                  {}}},
                2);
  auto running = std::async(std::launch::async, [&] { return worker.run(stop.get_token()); });
  gate.wait_for(1);
  EXPECT_EQ(quick.get_future().wait_for(test::kPatience), std::future_status::ready);
  gate.open();
  stop.request_stop();
  EXPECT_TRUE(running.get());
}

TEST_F(WorkerWithAClock, WhatIsStoppedBeforeItsTurnGoesBack) {
  test::Gate gate;
  Worker worker({{store.queue("a"),
                  [&](const Delivery&, const std::stop_token&) {
                    gate.pass();
                    return ack();
                  },
                  {.concurrency = 3}}},
                1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(store.queue("a").push(Push{}));
  auto running = std::async(std::launch::async, [&] { return worker.run(stop.get_token()); });
  gate.wait_for(1);
  stop.request_stop();
  gate.open();
  EXPECT_TRUE(running.get());
  EXPECT_EQ(worker.stats().acked, 1u);
  EXPECT_EQ(store.queue("a").stats()->ready, 2u);
}

TEST_F(WorkerWithAClock, AnExceptionIsTriedAgainAfterTheBackoffOfTheQueue) {
  Queue queue = store.queue("q");
  ASSERT_TRUE(queue.configure({.backoff_min = 60s, .backoff_max = 60s}));
  ASSERT_TRUE(queue.push({.key = "k"}));
  std::vector<std::uint32_t> attempts;
  Worker first(queue, {}, [&](const Delivery& delivery, const std::stop_token&) -> Verdict {
    attempts.push_back(delivery.attempt());
    stop.request_stop();
    throw std::runtime_error("not yet");
  });
  EXPECT_TRUE(first.run(stop.get_token()));
  EXPECT_EQ(queue.get("k")->state, State::scheduled);
  clock.advance(60s);
  stop = std::stop_source();
  Worker second(queue, {}, [&](const Delivery& delivery, const std::stop_token&) {
    attempts.push_back(delivery.attempt());
    stop.request_stop();
    return ack();
  });
  EXPECT_TRUE(second.run(stop.get_token()));
  EXPECT_EQ(attempts, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(first.stats().last_error, "not yet");
}

TEST_F(WorkerWithAClock, ItsLatenessIsOfFirstAttempts) {
  Queue queue = store.queue("q");
  ASSERT_TRUE(queue.push({.key = "k"}));
  Worker worker(queue, {}, [&](const Delivery& delivery, const std::stop_token&) {
    stop.request_stop();
    return delivery.attempt() == 1 ? retry(0ms) : ack();
  });
  clock.advance(20ms);
  EXPECT_TRUE(worker.run(stop.get_token()));
  clock.advance(1h);
  stop = std::stop_source();
  EXPECT_TRUE(worker.run(stop.get_token()));
  EXPECT_EQ(worker.stats().acked, 1u);
  EXPECT_EQ(worker.stats().lateness_max, 20ms);
}

TEST_F(WorkerWithAClock, AHandlerWhoseLeaseRanOutIsToldAndItsVerdictIsStale) {
  Queue queue = store.queue("q");
  ASSERT_TRUE(queue.push({.key = "k"}));
  Worker worker(queue, {.lease = 50ms}, [&](const Delivery&, const std::stop_token& token) {
    std::promise<void> told;
    const std::stop_callback on_stop(token, [&] { told.set_value(); });
    clock.advance(1h);  // moves the store's time; the worker's next extension comes too late
    told.get_future().get();
    stop.request_stop();
    return ack();
  });
  EXPECT_TRUE(worker.run(stop.get_token()));
  EXPECT_EQ(worker.stats().stale, 1u);
  EXPECT_EQ(worker.stats().run_out, 1u);
  EXPECT_EQ(queue.get("k")->state, State::ready);
}

}  // namespace
}  // namespace tarry
