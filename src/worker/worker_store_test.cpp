// A worker on a real store.
#include <gtest/gtest.h>
#include <tarry/metrics.h>
#include <tarry/store.h>
#include <tarry/worker.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace tarry {
namespace {

using namespace std::chrono_literals;

class WorkerOnAStore : public testing::Test {
 protected:
  void push(int count) {
    std::vector<std::string> keys;
    for (int i = 0; i < count; ++i) keys.push_back("key:" + std::to_string(i));
    std::vector<Push> batch;
    for (const std::string& key : keys) batch.push_back({.key = key, .payload = key});
    const auto results = queue.push(batch);
    ASSERT_TRUE(results) << results.error().message;
  }

  Store store = *tarry::open("memory:?shards=2");
  Queue queue = store.queue("q");
};

TEST_F(WorkerOnAStore, DeliversEachMessageOnce) {
  constexpr int kCount = 500;
  push(kCount);
  std::mutex mutex;
  std::map<std::string, int> seen;
  std::stop_source stop;
  Worker worker(queue, {.concurrency = 4, .prefetch = 10},
                [&](const Delivery& delivery, const std::stop_token&) {
                  const std::lock_guard lock(mutex);
                  ++seen[std::string(delivery.payload())];
                  if (seen.size() == kCount) stop.request_stop();
                  return ack();
                });
  EXPECT_TRUE(worker.run(stop.get_token()));
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kCount));
  for (const auto& [key, times] : seen) EXPECT_EQ(times, 1) << key;
  const WorkerStats stats = worker.stats();
  EXPECT_EQ(stats.delivered, static_cast<std::uint64_t>(kCount));
  EXPECT_EQ(stats.acked, static_cast<std::uint64_t>(kCount));
  const auto left = queue.stats();
  EXPECT_EQ(left->scheduled + left->ready + left->leased + left->dead, 0u);
  EXPECT_EQ(left->counters.acked, static_cast<std::uint64_t>(kCount));
}

TEST_F(WorkerOnAStore, AHandlerMayOwnWhatCanOnlyBeMoved) {
  push(20);
  std::stop_source stop;
  auto left = std::make_unique<std::atomic<int>>(20);
  std::vector<QueueWork> work;
  work.push_back({queue,
                  [left = std::move(left), &stop](const Delivery&, const std::stop_token&) {
                    if (--*left == 0) stop.request_stop();
                    return ack();
                  },
                  {.concurrency = 3}});
  const QueueWork copy = work.front();  // the copy has the same handler
  Worker worker({copy});
  EXPECT_TRUE(worker.run(stop.get_token()));
  EXPECT_EQ(worker.stats().acked, 20u);
}

TEST_F(WorkerOnAStore, ItsClaimsCountInTheMetrics) {
  const Metrics metrics(store);
  ASSERT_TRUE(queue.push({.key = "k"}));
  std::stop_source stop;
  Worker worker(queue, {}, [&](const Delivery&, const std::stop_token&) {
    stop.request_stop();
    return ack();
  });
  ASSERT_TRUE(worker.run(stop.get_token()));
  EXPECT_EQ(metrics.lateness().at("q").count(), 1u);
}

TEST_F(WorkerOnAStore, OnAStoreThatIsClosedItDoesNotBegin) {
  Worker worker(queue, {}, [](const Delivery&, const std::stop_token&) { return ack(); });
  store.close();
  const auto ended = worker.run({});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::closed);
  EXPECT_EQ(ended.error().message, "the store of queue \"q\" is closed");
}

TEST_F(WorkerOnAStore, WhatItReleasesComesAgainAndCountsNoAttempt) {
  push(1);
  std::stop_source stop;
  std::vector<std::uint32_t> attempts;
  Worker worker(queue, {}, [&](const Delivery& delivery, const std::stop_token&) {
    attempts.push_back(delivery.attempt());
    if (attempts.size() == 1) return release();
    stop.request_stop();
    return ack();
  });
  EXPECT_TRUE(worker.run(stop.get_token()));
  EXPECT_EQ(attempts, (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(worker.stats().released, 1u);
}

TEST_F(WorkerOnAStore, RetriesUntilItIsDoneAndBuriesWhatIsHopeless) {
  push(3);
  std::stop_source stop;
  std::atomic<int> ended{0};
  std::atomic<int> calls{0};
  Worker worker(queue, {.concurrency = 2}, [&](const Delivery& delivery, const std::stop_token&) {
    ++calls;
    if (delivery.key() == "key:2") {
      if (++ended == 3) stop.request_stop();
      return bury("hopeless");
    }
    if (delivery.attempt() < 3) return retry(0ms);
    if (++ended == 3) stop.request_stop();
    return ack();
  });
  EXPECT_TRUE(worker.run(stop.get_token()));
  EXPECT_EQ(calls, 7);
  EXPECT_EQ(worker.stats().retried, 4u);
  EXPECT_EQ(worker.stats().acked, 2u);
  EXPECT_EQ(worker.stats().buried, 1u);
  EXPECT_EQ(queue.get("key:2")->state, State::dead);
  EXPECT_EQ(queue.get("key:2")->reason, "hopeless");
}

TEST_F(WorkerOnAStore, IsWokenByWhatIsPushedWhileItWaits) {
  std::promise<std::string> seen;
  std::stop_source stop;
  Worker worker(queue, {}, [&](const Delivery& delivery, const std::stop_token&) {
    seen.set_value(std::string(delivery.key()));
    return ack();
  });
  auto running = std::async(std::launch::async, [&] { return worker.run(stop.get_token()); });
  while (true) {
    const auto stats = queue.stats();
    if (stats && stats->waiting_claims == 1) break;
    // Makes the queue, so that its statistics can show the waiting claim.
    ASSERT_TRUE(queue.configure({.max_attempts = 5}));
  }
  ASSERT_TRUE(queue.push({.key = "late", .due = in(20ms)}));
  EXPECT_EQ(seen.get_future().get(), "late");
  stop.request_stop();
  EXPECT_TRUE(running.get());
  EXPECT_EQ(queue.stats()->waiting_claims, 0u);
}

TEST_F(WorkerOnAStore, WhatItHadNotBegunIsThereForTheNextAttemptNotCounted) {
  push(5);
  std::stop_source stop;
  Worker worker(queue, {.concurrency = 1, .prefetch = 4},
                [&](const Delivery&, const std::stop_token&) {
                  stop.request_stop();
                  return ack();
                });
  EXPECT_TRUE(worker.run(stop.get_token()));
  EXPECT_EQ(worker.stats().delivered, 1u);
  const auto claimed = queue.claim({.max = 10});
  ASSERT_EQ(claimed->size(), 4u);
  for (const Delivery& delivery : *claimed) EXPECT_EQ(delivery.attempt(), 1u);
}

TEST_F(WorkerOnAStore, HoldsItsLeaseWhileTheHandlerRuns) {
  ASSERT_TRUE(queue.push({.key = "slow"}));
  std::stop_source stop;
  std::promise<std::size_t> redelivered;
  Worker worker(queue, {.lease = 2s}, [&](const Delivery&, const std::stop_token&) {
    // Another consumer waits for the message, for longer than the lease.
    redelivered.set_value(queue.claim({.wait = 3s}).value_or({}).size());
    stop.request_stop();
    return ack();
  });
  EXPECT_TRUE(worker.run(stop.get_token()));
  EXPECT_EQ(redelivered.get_future().get(), 0u);
  EXPECT_EQ(worker.stats().acked, 1u);
  EXPECT_EQ(queue.stats()->counters.run_outs, 0u);
}

TEST_F(WorkerOnAStore, EndsWhenTheStoreIsClosed) {
  push(1);
  std::promise<void> begun;
  Worker worker(queue, {.concurrency = 3}, [&](const Delivery&, const std::stop_token&) {
    begun.set_value();
    return ack();
  });
  auto running = std::async(std::launch::async, [&] { return worker.run({}); });
  begun.get_future().get();
  store.close();
  EXPECT_TRUE(running.get());
}

TEST_F(WorkerOnAStore, AnIllFormedQueueEndsItWithTheStoresWord) {
  Worker worker(store.queue("a b"), {},
                [](const Delivery&, const std::stop_token&) { return ack(); });
  const Result<void> result = worker.run({});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(result.error().message.find("\"a b\""), std::string::npos);
}

}  // namespace
}  // namespace tarry
