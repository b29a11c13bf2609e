#include "relay/relay.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/scripted_store.h"

namespace tarry::relay {
namespace {

// Answers from a thread of its own, as the test says; `down` once it is closed.
class ScriptedSink final : public Sink {
 public:
  explicit ScriptedSink(std::function<std::optional<Answer>(const Delivery&)> rule)
      : rule_(std::move(rule)), thread_([this] { run(); }) {}
  ~ScriptedSink() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void send(std::vector<Parcel> parcels) override {
    const std::lock_guard lock(mutex_);
    for (Parcel& parcel : parcels) parcels_.push_back(std::move(parcel));
    changed_.notify_all();
  }
  void close() override {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] std::string title() const override { return "scripted"; }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    std::vector<Parcel> kept;
    for (;;) {
      changed_.wait(lock,
                    [&] { return ended_ || !parcels_.empty() || (closed_ && !kept.empty()); });
      std::vector<Parcel> parcels = std::exchange(parcels_, {});
      const bool closed = closed_;
      if (closed) std::move(kept.begin(), kept.end(), std::back_inserter(parcels));
      if (closed) kept.clear();
      if (ended_ && parcels.empty()) return;
      lock.unlock();
      for (Parcel& parcel : parcels) {
        auto answer = rule_(parcel.delivery);
        if (!answer && closed) answer = unknown("closed");
        if (answer) {
          parcel.done(*std::move(answer));
        } else {
          kept.push_back(std::move(parcel));
        }
      }
      lock.lock();
    }
  }

  const std::function<std::optional<Answer>(const Delivery&)> rule_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Parcel> parcels_;
  bool closed_ = false;
  bool ended_ = false;
  std::thread thread_;
};

RelayOptions on_queue() {
  RelayOptions options;
  options.queues = {"q"};
  options.breaker = {.failures = 3, .least = Millis(1), .most = Millis(5)};
  return options;
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
    // Every tenth time the sink is down: nobody loses an attempt by it.
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
  std::stop_source stop;
  auto running = std::async(std::launch::async, [&] { return relay.run(stop.get_token()); });
  all_came.get_future().wait();
  stop.request_stop();
  EXPECT_TRUE(running.get());
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
  ASSERT_TRUE(queue.configure(patch));
  ASSERT_TRUE(queue.push({.key = "poison"}));
  std::promise<void> tried;
  ScriptedSink sink([&](const Delivery& delivery) -> std::optional<Answer> {
    if (delivery.attempt() == 3) tried.set_value();
    return try_again("HTTP 500");
  });
  Relay relay(queue.engine(), sink, on_queue(), 1);
  std::stop_source stop;
  auto running = std::async(std::launch::async, [&] { return relay.run(stop.get_token()); });
  tried.get_future().wait();
  stop.request_stop();
  EXPECT_TRUE(running.get());
  const auto message = queue.get("poison");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->state, State::dead);
  EXPECT_EQ(message->reason, "HTTP 500");
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
  std::stop_source stop;
  auto running = std::async(std::launch::async, [&] { return relay.run(stop.get_token()); });
  came.get_future().wait();
  stop.request_stop();
  EXPECT_TRUE(running.get());
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
