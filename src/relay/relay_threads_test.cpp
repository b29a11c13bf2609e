#include "relay/relay_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tarry/store.h>

#include "support/scripted_sink.h"
#include "support/scripted_store.h"

namespace tarry::relay {
namespace {

RelayThreadsOptions threads_options(std::uint32_t threads) {
  RelayThreadsOptions options;
  options.name = "orders";
  options.threads = threads;
  options.relay.queues = {"q"};
  options.relay.in_flight = 100;
  options.relay.breaker = {.failures = 3, .least = Millis(1), .most = Millis(5)};
  return options;
}

using Rule = std::function<std::optional<Answer>(const Delivery&)>;

RelayThreads::MakeSink sinks(Rule rule) {
  return [rule = std::move(rule)] {
    return Result<std::unique_ptr<Sink>>(std::make_unique<ScriptedSink>(rule));
  };
}

TEST(CrewTest, AllItsThreadsTakePartAndTheSumIsWhatWasThere) {
  auto opened = open("memory:");
  ASSERT_TRUE(opened);
  const Queue queue = opened->queue("q");
  constexpr std::uint32_t kThreads = 3;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t holding = 0;
  bool go_on = false;
  // The sinks confirm nothing before every thread has a message, which shows that each thread has
  // claimed.
  const auto make = sinks([&](const Delivery&) {
    std::unique_lock lock(mutex);
    ++holding;
    changed.notify_all();
    changed.wait(lock, [&] { return go_on || holding >= kThreads; });
    go_on = true;
    return confirmed();
  });
  RelayThreadsOptions options = threads_options(kThreads);
  // One message per thread, so that no thread can take another's.
  options.relay.in_flight = kThreads;
  options.relay.batch = 1;
  std::vector<std::string> keys;
  std::vector<Push> pushes;
  for (int i = 0; i < 30; ++i) keys.push_back("k" + std::to_string(i));
  for (const std::string& key : keys) pushes.push_back({.key = key});
  ASSERT_TRUE(queue.push(pushes));
  std::promise<Result<void>> ended;
  RelayThreads::Hooks hooks;
  hooks.on_end = [&](const Result<void>& how) { ended.set_value(how); };
  auto threads = RelayThreads::make(queue.engine(), options, make, hooks);
  ASSERT_TRUE(threads);
  (*threads)->start();
  while ((*threads)->stats().acked < keys.size()) std::this_thread::yield();
  (*threads)->stop();
  EXPECT_TRUE(ended.get_future().get());
  EXPECT_EQ((*threads)->stats().confirmed, keys.size());
  EXPECT_EQ((*threads)->stats().in_flight, 0u);
  std::uint64_t lags = 0;
  for (const std::uint64_t count : (*threads)->stats().lags.counts) lags += count;
  EXPECT_EQ(lags, keys.size());
  EXPECT_EQ(queue.stats()->counters.acked, keys.size());
}

TEST(CrewTest, SaysWhenTheStoreGoesAndWhenItIsBack) {
  test::ScriptedStore fake;
  std::atomic<bool> is_away{true};
  fake.engine().respond([&](const core::Request&) -> std::optional<Result<core::Reply>> {
    if (is_away) return Error{ErrorCode::unavailable, "nobody is there"};
    return core::Reply(core::ClaimReply());
  });
  std::promise<std::string> went;
  std::promise<void> came;
  RelayThreads::Hooks hooks;
  hooks.on_outage = [&](const std::optional<Error>& outage) {
    outage ? went.set_value(outage->message) : came.set_value();
  };
  auto threads = RelayThreads::make(fake.engine(), threads_options(3),
                                    sinks([](const Delivery&) { return confirmed(); }), hooks);
  ASSERT_TRUE(threads);
  (*threads)->start();
  EXPECT_EQ(went.get_future().get(), "nobody is there");
  is_away = false;
  came.get_future().get();
  (*threads)->stop();
  threads->reset();
}

TEST(CrewTest, SaysOnceThatMessagesFailOrAreRefusedAndWhy) {
  auto opened = open("memory:");
  ASSERT_TRUE(opened);
  const Queue queue = opened->queue("q");
  ASSERT_TRUE(queue.configure({.max_attempts = 2, .backoff_min = Millis(1)}));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.push({.key = std::to_string(i)}));
  ASSERT_TRUE(queue.push({.key = "poison-1"}));
  ASSERT_TRUE(queue.push({.key = "poison-2"}));
  std::map<Mishap, int> told;
  std::string why_failed;
  std::string why_refused;
  RelayThreads::Hooks hooks;
  hooks.on_mishap = [&](Mishap mishap, const std::string& reason) {
    ++told[mishap];
    (mishap == Mishap::refused ? why_refused : why_failed) = reason;
  };
  RelayThreadsOptions options = threads_options(1);
  options.relay.breaker.failures = 1'000;
  auto threads = RelayThreads::make(queue.engine(), options, sinks([](const Delivery& delivery) {
                                      return delivery.key().starts_with("poison")
                                                 ? refused("answered 404")
                                                 : try_again("answered 500");
                                    }),
                                    hooks);
  ASSERT_TRUE(threads);
  (*threads)->start();
  while (queue.stats()->dead < 5) std::this_thread::yield();
  (*threads)->stop();
  threads->reset();
  EXPECT_EQ(why_failed, "answered 500");
  EXPECT_EQ(why_refused, "answered 404");
  EXPECT_EQ(told, (std::map<Mishap, int>{{Mishap::failed, 1}, {Mishap::refused, 1}}));
}

TEST(CrewTest, ThreadsBearItsNameAndANumber) {
  test::ScriptedStore fake;
  RelayThreadsOptions options = threads_options(1);
  options.name = "order-timeouts-of-all-shops";
  std::atomic<bool> claimed = false;
  fake.engine().respond([&](const core::Request& request) -> std::optional<Result<core::Reply>> {
    if (std::holds_alternative<core::SettleRequest>(request)) {
      return core::Reply(test::outcomes(1, Outcome::done));
    }
    if (!claimed.exchange(true)) return core::Reply(test::claimed({"a"}));
    return std::nullopt;
  });
  std::promise<std::string> told;
  RelayThreads::Hooks hooks;
  // This hook runs on the thread of a relay.
  hooks.on_breaker = [&](bool open, const std::string&) {
    if (!open) return;
    std::array<char, 16> name{};
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
    told.set_value(name.data());
  };
  options.relay.breaker = {.failures = 1, .least = Millis(600'000), .most = Millis(600'000)};
  auto threads = RelayThreads::make(fake.engine(), options,
                                    sinks([](auto&) { return sink_down("away"); }), hooks);
  ASSERT_TRUE(threads);
  (*threads)->start();
  EXPECT_EQ(told.get_future().get(), "order-timeout-0");
  (*threads)->stop();
  threads->reset();
}

TEST(CrewTest, TheSinkIsDownOnceNoThreadHandsOnAndBackOnceOneDoes) {
  auto opened = open("memory:");
  ASSERT_TRUE(opened);
  const Queue queue = opened->queue("q");
  std::atomic<bool> away{true};
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> told;
  RelayThreads::Hooks hooks;
  hooks.on_breaker = [&](bool open, const std::string& why) {
    EXPECT_TRUE(!open || why == "gone fishing") << why;
    const std::lock_guard lock(mutex);
    told.push_back(open);
    changed.notify_all();
  };
  auto threads = RelayThreads::make(queue.engine(), threads_options(2), sinks([&](const Delivery&) {
                                      return away ? sink_down("gone fishing") : confirmed();
                                    }),
                                    hooks);
  ASSERT_TRUE(threads);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(queue.push({.key = std::to_string(i)}));
  (*threads)->start();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !told.empty(); });
  lock.unlock();
  away = false;
  while ((*threads)->stats().acked < 50) std::this_thread::yield();
  lock.lock();
  changed.wait(lock, [&] { return told.size() % 2 == 0; });
  for (std::size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i], i % 2 == 0);
  lock.unlock();
  EXPECT_GE((*threads)->stats().openings, 1u);
}

TEST(CrewTest, AStoreThatIsOfNoUseEndsAllOfThem) {
  test::ScriptedStore fake;
  fake.engine().respond([](const core::Request& request) -> std::optional<Result<core::Reply>> {
    if (!std::holds_alternative<core::ClaimRequest>(request)) return std::nullopt;
    return Result<core::Reply>(Error{ErrorCode::permission_denied, "not you"});
  });
  std::promise<Result<void>> ended;
  RelayThreads::Hooks hooks;
  hooks.on_end = [&](const Result<void>& how) { ended.set_value(how); };
  auto threads = RelayThreads::make(fake.engine(), threads_options(3),
                                    sinks([](auto&) { return confirmed(); }), hooks);
  ASSERT_TRUE(threads);
  (*threads)->start();
  const auto how = ended.get_future().get();
  ASSERT_FALSE(how);
  EXPECT_EQ(how.error().message, "not you");
}

TEST(CrewTest, ASinkThatCannotBeMadeIsTheError) {
  test::ScriptedStore fake;
  const auto threads = RelayThreads::make(
      fake.engine(), threads_options(2),
      [] { return Result<std::unique_ptr<Sink>>(Error{ErrorCode::invalid_argument, "no sink"}); },
      {});
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().message, "no sink");
}

TEST(CrewOptionsCheck, EachThreadNeedsItsPart) {
  EXPECT_TRUE(check(threads_options(kMaxThreads)));
  const auto says = [](const RelayThreadsOptions& options) {
    const auto checked = check(options);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(says(threads_options(0)), "threads 0 must be from 1 to 64");
  EXPECT_EQ(says(threads_options(65)), "threads 65 must be from 1 to 64");
  RelayThreadsOptions options = threads_options(4);
  options.relay.in_flight = 3;
  EXPECT_EQ(says(options),
            "threads 4 must not be more than in_flight, which is 3: each needs one at least");
  options = threads_options(4);
  options.relay.rate = 3;
  EXPECT_EQ(says(options),
            "threads 4 must not be more than rate, which is 3: each needs one at least");
}

}  // namespace
}  // namespace tarry::relay
