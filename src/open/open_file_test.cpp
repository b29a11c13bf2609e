// tarry::open with file: stores.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <tarry/store.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "open/store_tools.h"
#include "support/no_threads.h"
#include "support/opened_store.h"
#include "support/payload_limit.h"
#include "support/temp_directory.h"

namespace tarry {
namespace {

using namespace std::chrono_literals;
using test::opened;

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

}  // namespace
}  // namespace tarry
