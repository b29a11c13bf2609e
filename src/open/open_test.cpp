// tarry::open with real engines: memory: and file: stores through the public API.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <tarry/store.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "open/open_with.h"
#include "open/store_tools.h"
#include "support/no_threads.h"
#include "support/payload_limit.h"
#include "support/scripted_engine.h"
#include "support/temp_directory.h"

namespace tarry {
namespace {

using namespace std::chrono_literals;

Store opened(const std::string& url, OpenOptions options = {}) {
  Result<Store> store = tarry::open(url, std::move(options));
  if (!store) throw std::runtime_error(url + ": " + store.error().message);
  return *std::move(store);
}

// -- memory:

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

// -- file:

class OpenFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name = "store") const {
    return (std::filesystem::path(directory.path()) / name).string();
  }
  storage::TempDirectory directory;
};

TEST_F(OpenFile, WhatWasPushedIsThereTheNextTime) {
  ManualClock clock;
  {
    const Store store = opened("file:" + path(), {.clock = clock});
    ASSERT_TRUE(store.queue("q").push({.key = "k", .payload = "body", .due = in(1h)}));
  }
  const Store store = opened("file:" + path(), {.clock = clock});
  const auto info = store.queue("q").get("k");
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->payload, "body");
  EXPECT_EQ(info->due, clock.now() + 1h);
  EXPECT_EQ(info->state, State::scheduled);
}

// If the store kept a value that no reader knows, it could never be opened again.
TEST_F(OpenFile, EnumeratorsThatAreNoneAreRefused) {
  const auto refused = [](const auto& result, std::string_view named) {
    if (result) return ::testing::AssertionFailure() << "accepted";
    if (result.error().code == ErrorCode::invalid_argument &&
        result.error().message.find(named) != std::string::npos) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << result.error().message;
  };
  {
    const Store store = opened("file:" + path());
    const Queue q = store.queue("q");
    EXPECT_TRUE(refused(q.configure({.if_exists = static_cast<IfExists>(9)}), "if_exists 9"));
    EXPECT_FALSE(q.stats());  // and no queue was made
    EXPECT_TRUE(
        refused(q.push({.key = "k", .if_exists = static_cast<IfExists>(99)}), "if_exists 99"));
    ASSERT_TRUE(q.push({.key = "k"}));
    EXPECT_TRUE(refused(q.list({.state = static_cast<State>(5)}), "state 5"));
    const auto claimed = q.claim();
    ASSERT_EQ(claimed->size(), 1u);
    const std::string receipt((*claimed)[0].receipt());
    const std::vector<Settle> items = {{.receipt = receipt, .action = static_cast<Action>(4)},
                                       {.receipt = receipt, .action = Action::ack}};
    const auto settled = q.settle(items);
    EXPECT_TRUE(refused((*settled)[0], "action 4"));
    EXPECT_EQ((*settled)[1]->outcome, Outcome::done);
  }
  EXPECT_EQ(opened("file:" + path()).queue("q").stats()->settings, QueueSettings());
}

// When `close` returns, all callbacks have run, on whichever thread they were called.
TEST_F(OpenFile, AllThatWasAskedIsAnsweredWhenCloseReturns) {
  for (int round = 0; round < 20; ++round) {
    Store store = opened("file:" + directory.path() + "/" + std::to_string(round));
    const Queue orders = store.queue("orders");
    std::atomic<int> answered{0};
    for (int i = 0; i < 200; ++i) {
      orders.push({.payload = "body"}, [&answered](const Result<Pushed>& pushed) {
        EXPECT_TRUE(pushed);
        ++answered;
      });
    }
    store.close();
    EXPECT_EQ(answered.load(), 200);
  }
}

TEST_F(OpenFile, PathsArePercentDecoded) {
  (void)opened("file:" + path("a%20b%3Fc"));
  EXPECT_TRUE(std::filesystem::is_directory(path("a b?c")));
  const auto found = tools::inspect_store(*tools::path_of_store("file:" + path("a%20b%3Fc")), true);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->shards, 1u);
  EXPECT_EQ(found->per_shard.at(0).messages, 0u);
  EXPECT_TRUE(found->per_shard.at(0).problems.empty());
}

TEST_F(OpenFile, WhatHadBegunEndsWhereAThreadIsMissing) {
  ASSERT_TRUE(opened("file:" + path()).queue("q").push({.key = "k"}));
  std::optional<test::NoThreads> none;
  // At that moment the engine has its first thread, but not the threads of its shards.
  const auto refused = tarry::open("file:" + path(), {.progress = [&none](auto, auto) {
                                     if (!none) none.emplace();
                                   }});
  none.reset();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable) << refused.error().message;
  EXPECT_TRUE(opened("file:" + path()).queue("q").get("k"));
}

TEST_F(OpenFile, AChildOfTheProcessDoesNotUseIt) {
  std::optional<Store> store = opened("file:" + path());
  const Queue q = store->queue("q");
  ASSERT_TRUE(q.push({.key = "k"}));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // ends a child that hangs, so that the test fails instead of hanging
    const auto refused = q.push({.key = "l"});
    const bool good =
        !refused && refused.error().code == ErrorCode::misuse &&
        refused.error().message.find(std::to_string(::getppid())) != std::string::npos;
    store->close();
    store.reset();
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(q.push({.key = "m"}));
  store.reset();
  EXPECT_EQ(opened("file:" + path()).queue("q").stats()->ready, 2u);
}

TEST_F(OpenFile, AChildsCallbackIsToldSo) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a forked child gets no thread there";
#endif
#endif
  const Store store = opened("file:" + path());
  const Queue q = store.queue("q");
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    std::promise<bool> told;
    const auto caller = std::this_thread::get_id();
    q.purge([&](const Result<std::uint64_t>& purged) {
      told.set_value(!purged && purged.error().code == ErrorCode::misuse &&
                     std::this_thread::get_id() != caller);
    });
    ::_exit(told.get_future().get() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(OpenFile, ASecondHolderIsToldOfTheFirst) {
  const Store store = opened("file:" + path(), {.holder = "the first one"});
  const auto second = tarry::open("file:" + path());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  EXPECT_NE(second.error().message.find("the first one"), std::string::npos)
      << second.error().message;
}

TEST_F(OpenFile, ShardsAreFixedAtTheBeginning) {
  (void)opened("file:" + path() + "?shards=2");
  (void)opened("file:" + path());
  const auto other = tarry::open("file:" + path() + "?shards=3");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
}

TEST_F(OpenFile, APayloadMayBeAsLongAsItsLimit) {
  const Store store = opened("file:" + path() + "?max_payload=10B");
  testing::expect_ten_bytes_at_most(store);
}

TEST_F(OpenFile, SegmentsAreOfTheSizeThatWasAskedFor) {
  constexpr std::size_t kSegment = 64 << 10;
  const Store store = opened("file:" + path() + "?sync=os&segment=64KiB");
  const std::string payload(16 << 10, 'p');
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.queue("q").push({.payload = payload}));
  std::size_t segments = 0;
  for (const auto& file : std::filesystem::directory_iterator(path() + "/shard-000")) {
    if (file.path().extension() != ".seg") continue;
    ++segments;
    EXPECT_LE(file.file_size(), kSegment) << file.path();
  }
  EXPECT_GE(segments, 40 * payload.size() / kSegment);
}

TEST_F(OpenFile, AShardThatIsMissingIsDamage) {
  (void)opened("file:" + path() + "?shards=2");
  std::filesystem::remove_all(path() + "/shard-001");
  for (const Progress& progress : {Progress(), Progress([](std::uint64_t, std::uint64_t) {})}) {
    const auto store = tarry::open("file:" + path(), {.progress = progress});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::damaged);
    EXPECT_NE(store.error().message.find("shard-001"), std::string::npos) << store.error().message;
  }
}

TEST_F(OpenFile, IsNotMadeWhereOnlyWhatIsThereIsWanted) {
  std::filesystem::create_directory(path("empty"));
  for (const char* name : {"empty", "missing"}) {
    const auto store = tarry::open("file:" + path(name), {.create = false});
    ASSERT_FALSE(store) << name;
    EXPECT_EQ(store.error().code, ErrorCode::not_found);
    EXPECT_NE(store.error().message.find(path(name)), std::string::npos) << store.error().message;
  }
  EXPECT_TRUE(std::filesystem::is_empty(path("empty")));
  EXPECT_FALSE(std::filesystem::exists(path("missing")));

  std::ofstream(path("empty/thesis")) << "precious";
  EXPECT_EQ(tarry::open("file:" + path("empty"), {.create = false}).error().code,
            ErrorCode::invalid_argument);
  (void)opened("file:" + path());
  EXPECT_TRUE(tarry::open("file:" + path(), {.create = false}));
  EXPECT_TRUE(tarry::open("memory:", {.create = false}));
}

TEST_F(OpenFile, TheOperatorIsToldOfAClockThatWentBack) {
  const Time written = Time(Millis(1'900'000'000'000));
  {
    const Store store = opened("file:" + path(), {.clock = ManualClock(written)});
    ASSERT_TRUE(store.queue("q").push({.due = in(1h)}));
  }
  std::vector<std::string> lines;
  const auto log = [&lines](std::string_view line) { lines.emplace_back(line); };
  (void)opened("file:" + path(), {.clock = ManualClock(written - 1h), .log = log});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("3600000 ms less"), std::string::npos) << lines[0];
}

TEST_F(OpenFile, AClosedStoreMayBeOpenedAgainThoughHandlesLiveOn) {
  Store store = opened("file:" + path());
  const Queue old = store.queue("q");
  ASSERT_TRUE(old.push({.key = "k"}));
  store.close();
  const Store again = opened("file:" + path());
  EXPECT_EQ(old.get("k").error().code, ErrorCode::closed);
  EXPECT_TRUE(again.queue("q").get("k"));
}

// -- http: and errors

TEST(OpenWith, HttpGoesToTheOpenerItIsGiven) {
  static detail::RemoteUrl asked;
  detail::Openers openers{};
  openers.remote = [](const detail::RemoteUrl& url) -> detail::EngineResult {
    asked = url;
    return std::unique_ptr<core::Engine>(std::make_unique<test::ScriptedEngine>());
  };
  EXPECT_TRUE(detail::open_with("http://example.org:81", {}, &openers));
  EXPECT_EQ(asked.host, "example.org");
  EXPECT_EQ(asked.port, 81);

  const auto clocked = detail::open_with("http://h", {.clock = ManualClock()}, &openers);
  ASSERT_FALSE(clocked);
  EXPECT_EQ(clocked.error().code, ErrorCode::invalid_argument);
}

TEST(OpenWith, RedisGoesToTheOpenerItIsGivenAndMayHaveAClock) {
  static detail::RedisUrl asked;
  static bool clocked;
  detail::Openers openers{};
  openers.redis = [](const detail::RedisUrl& url, const OpenOptions& options) {
    asked = url;
    clocked = options.clock.has_value();
    return detail::EngineResult(std::make_unique<test::ScriptedEngine>());
  };
  EXPECT_TRUE(detail::open_with("redis://h:81/3", {.clock = ManualClock()}, &openers));
  EXPECT_EQ(asked.hosts.at(0).host, "h");
  EXPECT_EQ(asked.hosts.at(0).port, 81);
  EXPECT_EQ(asked.database, 3u);
  EXPECT_TRUE(clocked);
}

TEST(OpenWith, WhatIsNotBuiltInIsUnsupported) {
  for (const std::string scheme : {"http", "redis", "rediss"}) {
    const auto store = detail::open_with(scheme + "://127.0.0.1:7733", {}, nullptr);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::unsupported);
    EXPECT_EQ(store.error().message.find(scheme + ":"), 0u) << store.error().message;
    EXPECT_NE(store.error().message.find("tarry::tarry"), std::string::npos);
  }
}

TEST(OpenWith, AnOpenersErrorIsOpens) {
  detail::Openers openers{};
  openers.remote = [](const detail::RemoteUrl&) -> detail::EngineResult {
    return Unexpected(ErrorCode::unavailable, "nobody answers at h");
  };
  const auto store = detail::open_with("http://h", {}, &openers);
  EXPECT_EQ(store.error(), (Error{ErrorCode::unavailable, "nobody answers at h"}));
}

TEST(OpenWith, ABadUrlOpensNothing) {
  for (const std::string_view url : {"", "redis://h/x", "memory:?x=y", "file:", "http://h:0"}) {
    EXPECT_FALSE(tarry::open(url)) << url;
  }
}

// -- redis+sentinel:

TEST(OpenSentinel, WhatCannotBeOpenedIsOneClearLine) {
  const auto refused = [](const std::string& url) {
    const auto store = open(url);
    EXPECT_FALSE(store) << url;
    return store ? Error{} : store.error();
  };
  const Error file =
      refused("redis+sentinel://127.0.0.1:1?master=orders&sentinel_password_file=/no/such/file");
  EXPECT_EQ(file.code, ErrorCode::invalid_argument);
  EXPECT_EQ(file.message,
            "sentinel_password_file \"/no/such/file\" cannot be read: No such file or directory");
  const Error nobody = refused("redis+sentinel://127.0.0.1:1,127.0.0.1:2/3?master=orders");
  EXPECT_EQ(nobody.code, ErrorCode::unavailable);
  EXPECT_EQ(
      nobody.message,
      "no sentinel of master \"orders\" answers (127.0.0.1:1, 127.0.0.1:2): cannot connect to "
      "the sentinel at 127.0.0.1:2: Connection refused");
}

}  // namespace
}  // namespace tarry
