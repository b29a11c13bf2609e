// The embedded engine driven through its contract: behaviour that only this engine has (journal,
// restart, rolls, cleaning). Behaviour shared by all engines is tested in tests/contract/.
#include "engines/embedded/embedded_engine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>
#include <map>

#include "core/rules/validation.h"
#include "engines/embedded/journal/journal_format.h"
#include "engines/embedded/store/store_files.h"
#include "engines/embedded/tools/inspect.h"
#include "storage/posix_storage.h"
#include "support/embedded/requests.h"
#include "support/temp_directory.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

using core::ClaimReply;
using core::ItemsReply;
using core::PushReply;

core::Reply ask(core::Engine& engine, core::Request request) {
  std::promise<Result<core::Reply>> promise;
  auto future = promise.get_future();
  engine.submit(std::move(request),
                [&promise](Result<core::Reply> reply) { promise.set_value(std::move(reply)); });
  auto reply = future.get();
  EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
  return std::move(reply).value();
}

QueueStats stats(core::Engine& engine, const std::string& queue) {
  auto reply = ask(engine, core::StatsRequest{queue});
  return std::get<StoreStats>(reply).queues.at(0);
}

std::uint64_t conserved(const QueueStats& s) {
  const QueueCounters& c = s.counters;
  return s.scheduled + s.ready + s.leased + s.dead + c.acked + c.cancelled + c.replaced +
         c.expired + c.purged + c.moved_away;
}

class EmbeddedEngine : public testing::TestWithParam<std::uint32_t> {
 protected:
  std::unique_ptr<core::Engine> open(std::uint64_t segment_bytes = 64 << 10) {
    EmbeddedOptions options;
    options.path = directory_.path() + "/store";
    options.shards = GetParam();
    options.segment_bytes = segment_bytes;
    options.clock = clock_;
    options.log = [](std::string_view line) { std::cerr << line << "\n"; };
    auto engine = open_embedded(options);
    EXPECT_TRUE(engine) << (engine ? "" : engine.error().message);
    return engine ? std::move(*engine) : nullptr;
  }

  storage::TempDirectory directory_;
  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
};

TEST_P(EmbeddedEngine, PushesAndHandsOutWhenDue) {
  auto engine = open();
  ask(*engine, test::push("q", {"a", "b"}, in(std::chrono::seconds(10))));
  auto early = ask(*engine, test::claim("q", 10));
  EXPECT_TRUE(std::get<ClaimReply>(early).items.empty());
  clock_->advance(10'000);
  auto reply = ask(*engine, test::claim("q", 10));
  const auto& claimed = std::get<ClaimReply>(reply);
  ASSERT_EQ(claimed.items.size(), 2u);
  EXPECT_EQ(core::view(claimed.bytes, claimed.items[0].payload), "payload");
  auto settled = ask(*engine, test::settle(test::receipts_of(claimed)));
  for (const auto& item : std::get<ItemsReply>(settled).items) {
    EXPECT_EQ(item.outcome, Outcome::done);
  }
  EXPECT_EQ(stats(*engine, "q").counters.acked, 2u);
}

// The store is written in version 1 until it is upgraded, so that the older program can still open
// it.
TEST_P(EmbeddedEngine, AStoreOfVersion1StaysOneUntilItIsUpgraded) {
  const std::string path = directory_.path() + "/store";
  const StoreIdentity older{1, GetParam(), 7, 11};
  const auto files = storage::open_directory(path, true).value();
  ASSERT_TRUE(write_identity(*files, older));
  const auto versions = [&] {
    std::map<std::string, std::uint32_t> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.path().extension() != ".seg") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      found[entry.path().string()] = decode_segment_header(bytes).header.version;
    }
    return found;
  };
  const auto pushed_at = [](core::Engine& engine, std::string_view key) {
    core::GetRequest get;
    get.queue = "q";
    get.keys.push_back(core::append(get.bytes, key));
    const auto reply = ask(engine, std::move(get));
    return std::get<core::GetReply>(reply).items.at(0).value().pushed;
  };

  auto engine = open();
  EXPECT_FALSE(engine->capabilities().push_times);
  ask(*engine, test::push("q", "old"));
  EXPECT_FALSE(pushed_at(*engine, "old"));
  engine.reset();
  const auto before = versions();
  EXPECT_FALSE(before.empty());
  for (const auto& [name, version] : before) EXPECT_EQ(version, 1u) << name;

  ASSERT_TRUE(raise_version(*files, older, kFormatVersion));
  engine = open();
  EXPECT_TRUE(engine->capabilities().push_times);
  ask(*engine, test::push("q", "new"));
  EXPECT_EQ(pushed_at(*engine, "new"), Time(Millis(clock_->now().realtime_ms)));
  EXPECT_FALSE(pushed_at(*engine, "old"));
  engine.reset();
  std::size_t newer = 0;
  for (const auto& [name, version] : versions()) {
    if (before.contains(name)) {
      EXPECT_EQ(version, 1u) << name;
    } else {
      newer += version == kFormatVersion ? 1 : 0;
    }
  }
  EXPECT_GE(newer, 1u) << "no segment holds records of two versions";
  engine = open();
  EXPECT_TRUE(pushed_at(*engine, "new"));
  EXPECT_FALSE(pushed_at(*engine, "old"));
}

TEST_P(EmbeddedEngine, OneQueueTooManyIsNotMade) {
  EmbeddedOptions options;
  options.shards = GetParam();
  options.limits.max_queues = 2;
  auto engine = std::move(open_embedded(options)).value();
  const auto pushed = [&](const char* queue) {
    const auto reply = ask(*engine, test::push(queue, "k"));
    const core::PushResult& item = std::get<PushReply>(reply).items.at(0);
    return item.error ? std::string(to_string(item.error->code)) + ": " + item.error->message
                      : std::string(to_string(item.outcome));
  };
  core::ConfigureRequest made;
  for (const char* queue : {"one", "two"}) {
    made.queue = queue;
    ask(*engine, made);
  }
  EXPECT_EQ(pushed("three"), "no_space: the store has its limit of 2 queues; none was made");
  EXPECT_EQ(pushed("two"), "pushed");
  ask(*engine, core::RemoveRequest{"one", false});
  EXPECT_EQ(pushed("three"), "pushed");
}

TEST_P(EmbeddedEngine, KeepsEverythingAcrossRestarts) {
  std::map<std::string, std::int64_t> due;
  {
    auto engine = open();
    for (int i = 0; i < 3000; ++i) {
      const std::string key = "key-" + std::to_string(i);
      auto reply = ask(*engine, test::push("q", {key}, in(std::chrono::seconds(10 + i))));
      due[key] = std::get<PushReply>(reply).items[0].due_ms;
    }
  }
  auto engine = open();
  EXPECT_EQ(stats(*engine, "q").scheduled, 3000u);
  clock_->advance(4'000'000);
  auto reply = ask(*engine, test::claim("q", 10'000));
  const auto& claimed = std::get<ClaimReply>(reply);
  ASSERT_EQ(claimed.items.size(), 3000u);
  for (const auto& item : claimed.items) {
    const std::string key(core::view(claimed.bytes, item.key));
    EXPECT_EQ(due.at(key), item.due_ms);
  }
}

TEST_P(EmbeddedEngine, CleansWhileLongDelayedMessagesStay) {
  const std::string payload(100, 'x');
  std::vector<std::string> keep;
  for (int i = 0; i < 100; ++i) keep.push_back("keep-" + std::to_string(i));
  auto engine = open(256 << 10);
  ask(*engine, test::push("q", keep, in(std::chrono::hours(24)), payload));
  std::uint64_t most = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> keys;
    for (int i = 0; i < 256; ++i) keys.push_back(std::to_string(round) + "-" + std::to_string(i));
    ask(*engine, test::push("q", keys, Due(), payload));
    std::size_t got = 0;
    int tries = 0;
    while (got < keys.size() && ++tries < 100) {
      auto reply = ask(*engine, test::claim("q", 300));
      const auto& claimed = std::get<ClaimReply>(reply);
      got += claimed.items.size();
      ask(*engine, test::settle(test::receipts_of(claimed)));
    }
    ASSERT_EQ(got, keys.size());
    auto all = ask(*engine, core::StatsRequest{});
    most = std::max(most, std::get<StoreStats>(all).disk_bytes);
  }
  const QueueStats before = stats(*engine, "q");
  EXPECT_EQ(before.scheduled, 100u);
  EXPECT_EQ(before.counters.acked, 60u * 256);
  EXPECT_EQ(conserved(before), before.counters.accepted);
  EXPECT_LE(most, GetParam() * (4u * (256u << 10)));
  engine.reset();

  auto inspection = inspect(directory_.path() + "/store", true);
  ASSERT_TRUE(inspection);
  for (const ShardInspection& shard : inspection->per_shard) {
    EXPECT_EQ(shard.problems, std::vector<std::string>());
    EXPECT_TRUE(shard.clean);
  }
  engine = open(256 << 10);
  const QueueStats after = stats(*engine, "q");
  EXPECT_EQ(after.scheduled, 100u);
  EXPECT_EQ(after.counters, before.counters);
}

TEST_P(EmbeddedEngine, LeasesAndReceiptsSurviveARestart) {
  auto engine = open();
  ask(*engine, test::push("q", "a"));
  auto reply = ask(*engine, test::claim("q", 1));
  const auto claimed = std::get<ClaimReply>(reply);
  ASSERT_EQ(claimed.items.size(), 1u);
  engine.reset();
  engine = open();
  EXPECT_EQ(stats(*engine, "q").leased, 1u);
  auto settled = ask(*engine, test::settle(test::receipts_of(claimed)));
  EXPECT_EQ(std::get<ItemsReply>(settled).items[0].outcome, Outcome::done);
}

// Each run stands for a command of a shell script, which opens and closes the store by itself.
TEST_P(EmbeddedEngine, ShortRunsLeaveFewFiles) {
  const auto files = [this] {
    std::map<std::string, std::string> found;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(directory_.path() + "/store")) {
      if (entry.path().extension() != ".seg") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      found[entry.path()].assign(std::istreambuf_iterator<char>(file), {});
    }
    return found;
  };
  for (int run = 0; run < 40; ++run) {
    ask(*open(), test::push("q", {std::to_string(run)}, in(std::chrono::hours(1))));
  }
  EXPECT_LE(files().size(), GetParam());
  const auto before = files();
  for (int run = 0; run < 10; ++run) EXPECT_EQ(stats(*open(), "q").scheduled, 40u);
  EXPECT_EQ(files(), before) << "who only looks changes nothing";
}

TEST_P(EmbeddedEngine, AFileThatAnotherStoreHasTooIsNotWrittenOn) {
  ask(*open(), test::push("q", {"a", "b", "c", "d", "e", "f", "g", "h"}));
  const std::filesystem::path store = directory_.path() + "/store";
  const std::filesystem::path other = directory_.path() + "/other";
  std::filesystem::copy(
      store, other,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::create_hard_links);
  ask(*open(), test::push("q", {"i", "j", "k", "l", "m", "n", "o", "p"}));
  EXPECT_EQ(stats(*open(), "q").ready, 16u);
  const auto inspection = inspect(other, true);
  ASSERT_TRUE(inspection);
  std::uint64_t messages = 0;
  for (const ShardInspection& shard : inspection->per_shard) {
    EXPECT_EQ(shard.problems, std::vector<std::string>());
    messages += shard.messages;
  }
  EXPECT_EQ(messages, 8u);
}

TEST_P(EmbeddedEngine, ASecondOpeningIsRefusedAndNamesTheFirst) {
  auto engine = open();
  EmbeddedOptions options;
  options.path = directory_.path() + "/store";
  auto second = open_embedded(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  EXPECT_NE(second.error().message.find("pid "), std::string::npos) << second.error().message;
}

// Users lock the directory like this to keep two cron jobs from running at once: `flock DIRECTORY
// tarry ...`.
TEST_P(EmbeddedEngine, AStoreWhoseDirectoryIsLockedByHandOpens) {
  const std::string store = directory_.path() + "/store";
  std::filesystem::create_directory(store);
  const int fd = ::open(store.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
  ASSERT_TRUE(open()) << "a new one";
  ASSERT_TRUE(open());
  ::close(fd);
}

TEST_P(EmbeddedEngine, AStoreThatIsOpenIsHeldThoughItsLockFileWasRemoved) {
  EmbeddedOptions options;
  options.path = directory_.path() + "/store";
  for (const char* which : {"a new one", "one that was there"}) {
    auto engine = open();
    ASSERT_TRUE(engine);
    std::filesystem::remove(options.path + "/LOCK");
    for (int i = 0; i < 2; ++i) {
      const auto second = open_embedded(options);
      ASSERT_FALSE(second) << which;
      EXPECT_EQ(second.error().code, ErrorCode::conflict);
      EXPECT_NE(second.error().message.find("LOCK"), std::string::npos) << second.error().message;
    }
    const auto inspection = inspect(options.path, false);
    ASSERT_TRUE(inspection);
    EXPECT_NE(inspection->held_by.find("another process"), std::string::npos)
        << inspection->held_by;
  }
}

// A crash may come between STORE and the end of a salvage or a backup.
TEST_P(EmbeddedEngine, AMarkThatWasLeftOverGoesWhenTheStoreIsOpened) {
  open();
  const std::filesystem::path store = directory_.path() + "/store";
  for (const char* mark : {kSalvageName, kBackupName}) std::ofstream(store / mark) << "";
  open();
  for (const char* mark : {kSalvageName, kBackupName}) {
    EXPECT_FALSE(std::filesystem::exists(store / mark)) << mark;
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, EmbeddedEngine, testing::Values(1u, 4u));

}  // namespace
}  // namespace tarry::embedded
