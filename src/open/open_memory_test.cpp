// tarry::open with memory: stores, and handles through the public API.
#include <gtest/gtest.h>
#include <tarry/store.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "open/store_tools.h"
#include "support/no_threads.h"
#include "support/opened_store.h"

namespace tarry {
namespace {

using namespace std::chrono_literals;
using test::opened;

TEST(OpenMemory, HandsAMessageBackWhenItsTimeHasCome) {
  ManualClock clock;
  const Store store = opened("memory:", {.clock = clock});
  const Queue orders = store.queue("orders");
  const Time start = clock.now();
  const auto pushed = orders.push({.key = "order:42", .payload = "body", .due = in(31 * 24h)});
  ASSERT_TRUE(pushed) << pushed.error().message;
  EXPECT_EQ(pushed->outcome, Outcome::pushed);
  EXPECT_EQ(pushed->due, start + 31 * 24h);
  EXPECT_TRUE(orders.claim()->empty());
  clock.advance(31 * 24h);
  const auto claimed = orders.claim({.max = 10});
  ASSERT_TRUE(claimed) << claimed.error().message;
  ASSERT_EQ(claimed->size(), 1u);
  EXPECT_EQ((*claimed)[0].key(), "order:42");
  EXPECT_EQ((*claimed)[0].payload(), "body");
  EXPECT_EQ((*claimed)[0].attempt(), 1u);
  EXPECT_EQ(*orders.ack((*claimed)[0].receipt()), Outcome::done);
  EXPECT_EQ(*orders.ack((*claimed)[0].receipt()), Outcome::stale);
  const auto stats = store.stats();
  ASSERT_TRUE(stats);
  EXPECT_TRUE(tools::audit(*stats).balanced());
  EXPECT_EQ(orders.stats()->counters.acked, 1u);
}

TEST(OpenMemory, AManualClockCanBeAskedForInTheUrl) {
  const Store store = opened("memory:?clock=manual&shards=4");
  std::optional<ManualClock> clock = store.manual_clock();
  ASSERT_TRUE(clock);
  EXPECT_EQ(clock->now(), ManualClock().now());
  const Queue q = store.queue("q");
  ASSERT_TRUE(q.push({.key = "k", .due = in(30min)}));
  std::promise<std::string> key;
  q.claim({.wait = 1h}, [&](const Result<std::vector<Delivery>>& claimed) {
    key.set_value(claimed && claimed->size() == 1 ? std::string((*claimed)[0].key()) : "none");
  });
  clock->advance(30min);
  EXPECT_EQ(key.get_future().get(), "k");

  ManualClock own(Time(24h));
  EXPECT_EQ(opened("memory:?clock=manual", {.clock = own}).manual_clock()->now(), Time(24h));
  EXPECT_FALSE(opened("memory:").manual_clock());
}

TEST(OpenMemory, OptionsReachTheEngine) {
  const Store store = opened("memory:?max_payload=10B");
  const Queue q = store.queue("q");
  EXPECT_TRUE(q.push({.payload = "0123456789"}));
  const auto over = q.push({.payload = "0123456789a"});
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::too_large);
  EXPECT_NE(over.error().message.find("11"), std::string::npos) << over.error().message;
  EXPECT_NE(over.error().message.find("10"), std::string::npos) << over.error().message;
}

TEST(OpenMemory, TakesNoMoreThanItsCapacity) {
  const Store store = opened("memory:?capacity=1MiB");
  const Queue q = store.queue("q");
  const std::string payload(16 << 10, 'p');
  Result<Pushed> last = q.push({.payload = payload});
  std::size_t taken = 0;
  for (; last && taken < 200; ++taken) last = q.push({.payload = payload});
  ASSERT_FALSE(last) << taken << " of 16 KiB were taken";
  EXPECT_EQ(last.error().code, ErrorCode::no_space) << last.error().message;
  EXPECT_GT(taken, 0u);
  EXPECT_LT(taken, 64u);
}

TEST(OpenMemory, InABatchABadItemFailsAlone) {
  const Store store = opened("memory:");
  const std::string long_key(513, 'k');
  const std::vector<Push> batch = {{.key = "a"},
                                   {.key = long_key},
                                   {.key = "b", .due = in(-1s)},
                                   {.key = "a"},
                                   {.payload = "made"}};
  const auto results = store.queue("q").push(batch);
  ASSERT_TRUE(results) << results.error().message;
  ASSERT_EQ(results->size(), 5u);
  EXPECT_EQ((*results)[0]->outcome, Outcome::pushed);
  EXPECT_EQ((*results)[1].error().code, ErrorCode::too_large);
  EXPECT_EQ((*results)[2].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ((*results)[3]->outcome, Outcome::exists);
  EXPECT_EQ((*results)[4]->outcome, Outcome::pushed);
  EXPECT_FALSE((*results)[4]->key.empty());
}

TEST(OpenMemory, AnIllFormedQueueIsRefusedByEveryVerb) {
  const Store store = opened("memory:");
  const Queue q = store.queue("a b");
  const auto refused = [](const auto& result) {
    return !result && result.error().code == ErrorCode::invalid_argument &&
           result.error().message.find("\"a b\"") != std::string::npos;
  };
  EXPECT_TRUE(refused(q.push({.key = "k"})));
  EXPECT_TRUE(refused(q.cancel("k")));
  EXPECT_TRUE(refused(q.reschedule("k", in(1s))));
  EXPECT_TRUE(refused(q.get("k")));
  EXPECT_TRUE(refused(q.claim()));
  EXPECT_TRUE(refused(q.stats()));
  EXPECT_TRUE(refused(q.list()));
  EXPECT_TRUE(refused(q.configure({.lease = 1s})));
  EXPECT_TRUE(refused(q.pause()));
  EXPECT_TRUE(refused(q.resume()));
  EXPECT_TRUE(refused(q.purge()));
  EXPECT_TRUE(refused(q.revive()));
  EXPECT_TRUE(store.stats()->queues.empty());
}

TEST(OpenMemory, BlockingVerbsInACallbackAreMisuse) {
  const Store store = opened("memory:");
  const Queue q = store.queue("q");
  std::promise<ErrorCode> code;
  q.push({.key = "k"}, [&](const Result<Pushed>&) { code.set_value(q.get("k").error().code); });
  EXPECT_EQ(code.get_future().get(), ErrorCode::misuse);
}

TEST(OpenMemory, CallbacksRunOnTheExecutor) {
  std::promise<std::function<void()>> posted;
  const Store store =
      opened("memory:",
             {.executor = [&](std::function<void()> task) { posted.set_value(std::move(task)); }});
  std::thread::id ran_on;
  store.queue("q").push({.key = "k"},
                        [&](const Result<Pushed>&) { ran_on = std::this_thread::get_id(); });
  const std::function<void()> task = posted.get_future().get();
  EXPECT_EQ(ran_on, std::thread::id());
  task();
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(OpenMemory, CloseAnswersTheWaitingAndHandlesOutliveTheStore) {
  std::optional<Store> store = opened("memory:");
  const Queue q = store->queue("q");
  std::promise<ErrorCode> code;
  q.claim({.wait = 1h}, [&](const Result<std::vector<Delivery>>& claimed) {
    code.set_value(claimed ? ErrorCode::invalid_argument : claimed.error().code);
  });
  store.reset();
  EXPECT_EQ(code.get_future().get(), ErrorCode::closed);
  EXPECT_EQ(q.push({.key = "k"}).error().code, ErrorCode::closed);
}

TEST(OpenMemory, AStoreMayCloseWhileManyUseIt) {
  Store store = opened("memory:?shards=2");
  std::vector<std::thread> users;
  std::atomic<int> using_it{0};
  for (int i = 0; i < 4; ++i) {
    users.emplace_back([&, q = store.queue("q")] {
      for (bool counted = false;; counted = true) {
        const auto pushed = q.push({.payload = "x"});
        if (!pushed) {
          EXPECT_EQ(pushed.error().code, ErrorCode::closed);
          return;
        }
        if (!counted) ++using_it;
      }
    });
  }
  while (using_it < 4) std::this_thread::yield();
  store.close();
  for (std::thread& user : users) user.join();
}

// These calls must not compile: {"a", "b"} could also be one string_view, made from two pointers.
template <typename Q>
concept ReschedulesSeveral = requires(const Q& queue) { queue.reschedule({"a", "b"}, Due()); };
template <typename Q>
concept ReschedulesSeveralLater = requires(const Q& queue, Callback<Answer> done) {
  queue.reschedule({"a", "b"}, Due(), std::move(done));
};
template <typename Q>
concept AcksSeveral = requires(const Q& queue) { queue.ack({"a", "b"}); };
template <typename Q>
concept RetriesSeveral = requires(const Q& queue) { queue.retry({"a", "b"}); };
template <typename Q>
concept RetriesSeveralLater = requires(const Q& queue) { queue.retry({"a", "b"}, Millis(1)); };
template <typename Q>
concept ReleasesSeveral = requires(const Q& queue) { queue.release({"a", "b"}); };
template <typename Q>
concept BuriesSeveral = requires(const Q& queue) { queue.bury({"a", "b"}); };
template <typename Q>
concept BuriesSeveralForAReason = requires(const Q& queue) { queue.bury({"a", "b"}, "why"); };
static_assert(!ReschedulesSeveral<Queue>);
static_assert(!ReschedulesSeveralLater<Queue>);
static_assert(!AcksSeveral<Queue>);
static_assert(!RetriesSeveral<Queue>);
static_assert(!RetriesSeveralLater<Queue>);
static_assert(!ReleasesSeveral<Queue>);
static_assert(!BuriesSeveral<Queue>);
static_assert(!BuriesSeveralForAReason<Queue>);

// These calls must not compile: empty braces could mean one item or no items.
template <typename S>
concept SettlesEmptyBraces = requires(const S& settler) { settler.settle({}); };
template <typename Q>
concept PushesEmptyBraces = requires(const Q& queue) { queue.push({}); };
static_assert(!SettlesEmptyBraces<Queue>);
static_assert(!SettlesEmptyBraces<Store>);
static_assert(!PushesEmptyBraces<Queue>);

TEST(OpenMemory, MessagesInBracesAreOneOrABatch) {
  const Store store = opened("memory:");
  const Queue q = store.queue("q");
  const Push named{.key = "c"};
  EXPECT_EQ(q.push(Push{})->outcome, Outcome::pushed);
  EXPECT_EQ(q.push({.key = "a"})->key, "a");
  EXPECT_EQ(q.push({{.key = "b"}, named})->size(), 2u);
  EXPECT_EQ(q.push({Push{}, Push{}})->size(), 2u);
  EXPECT_EQ(q.push(std::span<const Push>())->size(), 0u);
  EXPECT_EQ(q.stats()->counters.accepted, 6u);
}

TEST(OpenMemory, KeysInBracesAreABatch) {
  const Store store = opened("memory:");
  const Queue q = store.queue("q");
  for (const char* key : {"a", "b", "c", "d"}) ASSERT_TRUE(q.push({.key = key}));
  const auto two = q.cancel({"a", "b"});
  ASSERT_TRUE(two);
  ASSERT_EQ(two->size(), 2u);
  EXPECT_EQ(*(*two)[0], Outcome::cancelled);
  EXPECT_EQ(*(*two)[1], Outcome::cancelled);
  std::promise<std::size_t> told;
  q.cancel({"c", "d"}, [&](const Result<std::vector<Result<Answer>>>& answers) {
    told.set_value(answers->size());
  });
  EXPECT_EQ(told.get_future().get(), 2u);
  EXPECT_EQ(q.stats()->counters.cancelled, 4u);
  EXPECT_EQ(q.get({"a", "b"})->size(), 2u);
  EXPECT_EQ(q.extend({"a", "b"})->size(), 2u);
  EXPECT_EQ(q.extend({"a", "b"}, 1s)->size(), 2u);
  std::promise<std::size_t> got;
  q.get({"a", "b"}, [&](const Result<std::vector<Result<MessageInfo>>>& found) {
    got.set_value(found->size());
  });
  EXPECT_EQ(got.get_future().get(), 2u);
  std::promise<std::size_t> extended;
  q.extend({"a", "b"}, 1s, [&](const Result<std::vector<Result<Answer>>>& answers) {
    extended.set_value(answers->size());
  });
  EXPECT_EQ(extended.get_future().get(), 2u);
}

TEST(OpenMemory, AStoreSettlesWithACallbackToo) {
  const Store store = opened("memory:");
  ASSERT_TRUE(store.queue("q").push({.key = "k"}));
  const auto claimed = store.queue("q").claim();
  const std::vector<Settle> items = {{.receipt = (*claimed)[0].receipt()}};
  std::promise<Outcome> told;
  store.settle(items, [&](const Result<std::vector<Result<Answer>>>& answers) {
    told.set_value((*answers)[0]->outcome);
  });
  EXPECT_EQ(told.get_future().get(), Outcome::done);
}

TEST(OpenMemory, WithoutThreadsThereIsNoStore) {
  for (const char* url : {"memory:", "http://127.0.0.1:1", "redis://127.0.0.1:1"}) {
    const test::NoThreads none;
    const auto store = tarry::open(url);
    ASSERT_FALSE(store) << url;
    EXPECT_EQ(store.error().code, ErrorCode::unavailable) << url;
    EXPECT_NE(store.error().message.find("thread"), std::string::npos) << store.error().message;
  }
  EXPECT_TRUE(tarry::open("memory:"));
}

TEST(OpenMemory, ACallbackClosesTheStoreWhereThereIsNoThreadForIt) {
  Store store = opened("memory:");
  const Queue q = store.queue("q");
  std::promise<void> asked;
  const test::NoThreads none;
  q.purge([&](const Result<std::uint64_t>&) {
    store.close();
    asked.set_value();
  });
  asked.get_future().get();
  store.close();
  EXPECT_EQ(q.purge().error().code, ErrorCode::closed);
}

}  // namespace
}  // namespace tarry
