#include "relay/relay.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/scripted_sink.h"
#include "support/scripted_store.h"

namespace tarry::relay {
namespace {

RelayOptions on_queue() {
  RelayOptions options;
  options.queues = {"q"};
  options.breaker = {.failures = 3, .least = Millis(1), .most = Millis(5)};
  return options;
}

// Runs the relay on another thread, and stops it once `done` is set.
void run_until(Relay& relay, std::promise<void>& done) {
  std::stop_source stop;
  auto running = std::async(std::launch::async, [&] { return relay.run(stop.get_token()); });
  done.get_future().wait();
  stop.request_stop();
  EXPECT_TRUE(running.get());
}

TEST(RelayTest, EverythingDueReachesTheSinkAndIsAcked) {
  auto opened = open("memory:");
  ASSERT_TRUE(opened);
  const Queue queue = opened->queue("q");
  constexpr int kMessages = 2'000;
  std::mutex mutex;
  std::map<std::string, int> seen;
  std::promise<void> all_came;
  int sends = 0;
  std::size_t done = 0;
  ScriptedSink sink([&](const Delivery& delivery) -> std::optional<Answer> {
    const std::lock_guard lock(mutex);
    // Every tenth time the sink is down. This must not cost a message an attempt.
    if (++sends % 10 == 0) return sink_down("down");
    EXPECT_EQ(delivery.attempt(), 1u);
    ++seen[std::string(delivery.key())];
    if (++done == kMessages) all_came.set_value();
    return confirmed();
  });
  std::vector<Push> pushes(kMessages);
  std::vector<std::string> keys;
  for (int i = 0; i < kMessages; ++i) keys.push_back("k" + std::to_string(i));
  for (std::size_t i = 0; i < keys.size(); ++i) pushes[i].key = keys[i];
  ASSERT_TRUE(queue.push(pushes));

  Relay relay(queue.engine(), sink, on_queue(), 1);
  run_until(relay, all_came);
  EXPECT_EQ(seen.size(), keys.size());
  const RelayStats stats = relay.stats();
  EXPECT_EQ(stats.acked, keys.size());
  EXPECT_EQ(stats.confirmed, keys.size());
  EXPECT_GT(stats.openings, 0u);
  EXPECT_EQ(stats.retried + stats.buried + stats.stale, 0u);
  EXPECT_EQ(queue.stats()->counters.acked, keys.size());
}

TEST(RelayTest, DeadAfterTheQueuesAttemptsWithTheSinksReason) {
  auto opened = open("memory:");
  ASSERT_TRUE(opened);
  const Queue queue = opened->queue("q");
  SettingsPatch patch;
  patch.max_attempts = 3;
  patch.backoff_min = Millis(0);
  patch.backoff_max = Millis(0);
  patch.history = 2;
  ASSERT_TRUE(queue.configure(patch));
  ASSERT_TRUE(queue.push({.key = "poison"}));
  std::promise<void> tried;
  ScriptedSink sink([&](const Delivery& delivery) -> std::optional<Answer> {
    if (delivery.attempt() == 3) tried.set_value();
    return try_again("HTTP 500");
  });
  Relay relay(queue.engine(), sink, on_queue(), 1);
  run_until(relay, tried);
  const auto message = queue.get("poison");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->state, State::dead);
  EXPECT_EQ(message->reason, "HTTP 500");
  const auto history = queue.history("poison");
  ASSERT_TRUE(history);
  ASSERT_EQ(history->events.size(), 2u);
  EXPECT_EQ(history->events[0].by, "relay");
  EXPECT_EQ(history->events[1].reason, "HTTP 500");
}

TEST(RelayTest, ASinkThatNeverAnswersIsClosedWhenTheDrainIsOver) {
  auto opened = open("memory:");
  ASSERT_TRUE(opened);
  const Queue queue = opened->queue("q");
  ASSERT_TRUE(queue.push({.key = "k"}));
  std::promise<void> came;
  std::atomic<bool> first{true};
  ScriptedSink sink([&](const Delivery&) -> std::optional<Answer> {
    if (first.exchange(false)) came.set_value();
    return std::nullopt;
  });
  RelayOptions options = on_queue();
  options.drain = Millis(1);
  Relay relay(queue.engine(), sink, options, 1);
  run_until(relay, came);
  EXPECT_EQ(relay.stats().retried, 1u);
  EXPECT_EQ(queue.get("k")->attempt, 1u);
}

TEST(RelayTest, EndsWhenTheStoreIsClosed) {
  test::ScriptedStore fake;
  ScriptedSink sink([](const Delivery&) { return confirmed(); });
  Relay relay(fake.engine(), sink, on_queue(), 1);
  auto running = std::async(std::launch::async, [&] { return relay.run({}); });
  static_cast<void>(fake.engine().next<core::ClaimRequest>());
  fake.engine().close();
  EXPECT_TRUE(running.get());
}

}  // namespace
}  // namespace tarry::relay
