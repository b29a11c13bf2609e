#include "engines/embedded/threads/commit_thread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engines/embedded/journal/journal_format.h"
#include "engines/embedded/reading/record_reads.h"
#include "storage/memory_storage.h"
#include "support/disks/faulty_storage.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

constexpr std::chrono::seconds kPatience{60};  // a wait that lasts this long has failed

// A clock by which each sync takes twenty hours, and nothing else takes any time. So a wait in vain
// would also take twenty hours.
class SlowSyncs final : public timing::Clock {
 public:
  [[nodiscard]] timing::Instant now() const override { return timing::ManualClock::kStart; }
  [[nodiscard]] std::uint64_t boot_id() const override { return 1; }
  [[nodiscard]] std::chrono::nanoseconds monotonic() const override {
    return std::chrono::hours(20 * (1 + syncs_));
  }
  void count(std::string_view call) { syncs_ += call.starts_with("sync_data") ? 1 : 0; }

 private:
  std::atomic<int> syncs_{0};
};

// A file that can be read only while its gate is open. It counts reads; nothing is written to it.
class GatedFile final : public storage::File {
 public:
  static constexpr std::uint64_t kApart = 8192;  // two records are two reads
  static constexpr std::uint64_t kRecord = 100;

  static std::vector<RecordPlace> places(std::uint64_t count) {
    std::vector<RecordPlace> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back({7, Position(7, i * kApart, kRecord)});
    return all;
  }
  static std::string record_at(std::uint64_t offset) {
    return std::string(kRecord, static_cast<char>('a' + offset / kApart % 26));
  }

  void open(bool opens) {
    const std::scoped_lock lock(mutex_);
    open_ = opens;
    changed_.notify_all();
  }
  /// The number of reads that have begun.
  [[nodiscard]] std::size_t reads() const {
    const std::scoped_lock lock(mutex_);
    return reads_;
  }
  [[nodiscard]] bool wait_for_reads(std::size_t count) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return reads_ >= count; });
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
    std::unique_lock lock(mutex_);
    ++reads_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    const std::string record = record_at(offset);
    std::ranges::copy(record, into.begin());
    return record.size();
  }
  Result<void> write_at(std::uint64_t, std::string_view) override { return {}; }
  Result<void> write_at(std::uint64_t, std::span<const std::string_view>) override { return {}; }
  Result<void> sync_data() override { return {}; }
  Result<void> allocate(std::uint64_t) override { return {}; }
  Result<void> truncate(std::uint64_t) override { return {}; }
  Result<std::uint64_t> size() const override { return std::uint64_t{1} << 30; }
  void will_need(std::uint64_t, std::uint64_t) const override {}

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::size_t reads_ = 0;
  bool open_ = true;
};

class CommitThreadTest : public testing::Test {
 protected:
  void make(const timing::Clock& clock, SyncPolicy policy) {
    files.add(1, directory->open(segment_name(1), storage::OpenMode::create_new).value());
    committer.emplace(policy, *directory, files, clock, &reads);
    thread.emplace(
        *committer, reads, clock, answers, [this] { ++failures; }, [this] { ++ends; },
        GroupCommitDelay(std::chrono::hours(100)));
  }
  void start_slow() {
    faults->watch([this](std::string_view call) { slow.count(call); });
    start(slow);
  }
  void start(const timing::Clock& clock) {
    make(clock, SyncPolicy::always);
    thread->start();
  }
  void TearDown() override {
    if (thread) thread->stop();
  }

  // A job of one batch, answered to one caller.
  CommitJob job(const std::string& name) {
    auto sealed = std::make_shared<SealedBatch>();
    sealed->number = ++number;
    sealed->segment = 1;
    if (number == 1) sealed->segment_header = "header";
    sealed->bytes = name;
    sealed->offset = number == 1 ? 6 : end;
    end = sealed->offset + name.size();
    CommitJob job;
    job.batches.push_back(std::move(sealed));
    job.tasks.emplace_back([this, name](const CommitOutcome& outcome) {
      const std::scoped_lock lock(mutex);
      told.push_back(outcome.failure == nullptr ? name : name + " failed");
      changed.notify_all();
    });
    return job;
  }
  // Commits one job of two callers.
  void commit_two() {
    CommitJob both = job("a");
    CommitJob more = job("b");
    both.batches.push_back(more.batches[0]);
    both.tasks.push_back(std::move(more.tasks[0]));
    thread->commit(std::move(both));
    wait_for(2);
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, kPatience, [&] { return told.size() >= count; }));
  }

  /// Tries the condition again and again, for about kPatience.
  template <typename Condition>
  void wait_until(Condition condition) {
    constexpr std::chrono::milliseconds kPause(1);
    std::unique_lock lock(pause_mutex);
    for (int tries = kPatience / kPause; !condition(); --tries) {
      ASSERT_GT(tries, 0);
      pause.wait_for(lock, kPause);
    }
  }

  std::mutex pause_mutex;
  std::condition_variable pause;
  std::shared_ptr<storage::Faults> faults = std::make_shared<storage::Faults>();
  std::unique_ptr<storage::Directory> directory =
      std::make_unique<storage::FaultyDirectory>(storage::MemoryDisk().root(), faults);
  SegmentFiles files;
  std::shared_ptr<GatedFile> gated = std::make_shared<GatedFile>();
  timing::ManualClock standing;
  SlowSyncs slow;
  core::AnswerThread answers;
  RecordReads reads{files, *directory};
  std::optional<Committer> committer;
  std::optional<CommitThread> thread;
  std::uint64_t number = 0;
  std::uint64_t end = 0;
  std::atomic<int> failures{0};
  std::atomic<int> ends{0};
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> told;
};

TEST_F(CommitThreadTest, DoesWhatThereIsBeforeItStops) {
  start(standing);
  std::vector<std::string> all;
  for (int i = 0; i < 200; ++i) {
    all.push_back(std::to_string(i));
    thread->commit(job(all.back()));
  }
  thread->stop();
  EXPECT_EQ(told, all);
  EXPECT_EQ(committer->durable(), 200u);
  EXPECT_EQ(ends, 1);
  thread->stop();
  EXPECT_EQ(ends, 1);
}

TEST_F(CommitThreadTest, WhatTakesNoWaitingIsDoneAtOnce) {
  make(standing, SyncPolicy::os);
  committer->run(job("opens"));  // a segment, whose name is synced
  thread->start();
  CommitJob next = job("next");
  std::thread::id by;
  next.answers.emplace_back([&](const CommitOutcome&) { by = std::this_thread::get_id(); });
  thread->commit(std::move(next));
  EXPECT_EQ(by, std::this_thread::get_id());
  EXPECT_EQ(told, (std::vector<std::string>{"opens", "next"}));
}

TEST_F(CommitThreadTest, WhatAnotherThreadWroteIsSyncedSoon) {
  make(standing, SyncPolicy::every_100ms);
  committer->run(job("opens"));
  ASSERT_EQ(committer->durable(), 1u);
  thread->start();
  for (std::uint64_t written = 2; written < 5; ++written) {
    CommitJob next = job("next");
    std::thread::id by;
    next.answers.emplace_back([&](const CommitOutcome&) { by = std::this_thread::get_id(); });
    thread->commit(std::move(next));
    EXPECT_EQ(by, std::this_thread::get_id());
    wait_until([&] { return committer->durable() >= written; });
  }
}

// Under every policy, an answer that rests on no new record waits only for earlier jobs.
TEST_F(CommitThreadTest, AJobWithoutRecordsIsDoneAtOnce) {
  start(standing);
  thread->commit(job("a"));
  wait_for(1);
  std::thread::id by;
  const auto ask = [&] {
    std::promise<void> told;
    CommitJob next;
    next.answers.emplace_back([&](const CommitOutcome&) {
      by = std::this_thread::get_id();
      told.set_value();
    });
    thread->commit(std::move(next));
    told.get_future().wait();
    return by == std::this_thread::get_id();
  };
  // The thread gives the committer back a moment after the last answer.
  wait_until(ask);
  EXPECT_EQ(committer->syncs(), 1u);
}

// Three callers share a sync. Then each sends its next request on its own, and they share the next
// sync too.
TEST_F(CommitThreadTest, WaitsForCallersWhoComeBackAtOnce) {
  start_slow();
  CommitJob first = job("a");
  for (const char* name : {"b", "c"}) {
    CommitJob more = job(name);
    first.batches.push_back(more.batches[0]);
    first.tasks.push_back(std::move(more.tasks[0]));
  }
  thread->commit(std::move(first));
  wait_for(3);
  EXPECT_EQ(committer->syncs(), 1u);
  for (const char* name : {"a", "b", "c"}) thread->commit(job(name));
  wait_for(6);
  EXPECT_EQ(committer->syncs(), 2u);
  EXPECT_EQ(told, (std::vector<std::string>{"a", "b", "c", "a", "b", "c"}));
}

// If the shard would have to wait for room, no other caller can come.
TEST_F(CommitThreadTest, AFullSlotIsNotKeptForCallers) {
  start_slow();
  commit_two();
  thread->commit(job(std::string(33 << 20, 'c')));  // one of the two callers
  wait_for(3);
  EXPECT_EQ(told.size(), 3u);
}

// A stop does not wait for the callers' next requests.
TEST_F(CommitThreadTest, StopsWhileItWaitsForCallers) {
  start_slow();
  commit_two();
  thread->commit(job("c"));
  thread->stop();
  EXPECT_EQ(told.back(), "c");
}

TEST_F(CommitThreadTest, ReadsAheadWhileAnotherThreadCommits) {
  make(standing, SyncPolicy::os);
  committer->run(job("opens"));
  files.add(7, gated);
  thread->start();
  CommitJob next = job("next");
  next.answers.emplace_back([&](const CommitOutcome&) {
    thread->ask_ahead(GatedFile::places(1));
    EXPECT_TRUE(gated->wait_for_reads(1));
  });
  thread->commit(std::move(next));
  EXPECT_EQ(told.size(), 2u);
}

TEST_F(CommitThreadTest, AJobDoesNotWaitForAllThatIsToBeReadAhead) {
  start(standing);
  files.add(7, gated);
  gated->open(false);
  thread->ask_ahead(GatedFile::places(300));
  ASSERT_TRUE(gated->wait_for_reads(1));
  CommitJob next = job("next");
  std::size_t reads = 0;
  next.tasks.emplace_back([&](const CommitOutcome&) { reads = gated->reads(); });
  thread->commit(std::move(next));
  gated->open(true);
  EXPECT_TRUE(gated->wait_for_reads(300)) << "what was left is read afterwards";
  thread->stop();
  EXPECT_GT(reads, 0u);
  EXPECT_LT(reads, 300u);
}

TEST_F(CommitThreadTest, StopsAmidWhatIsToBeReadAhead) {
  start(standing);
  files.add(7, gated);
  gated->open(false);
  thread->ask_ahead(GatedFile::places(1'000));
  ASSERT_TRUE(gated->wait_for_reads(1));
  std::thread stopping([&] { thread->stop(); });
  thread->ask_ahead(GatedFile::places(1'000));  // before the stop or after it
  gated->open(true);
  stopping.join();
  EXPECT_EQ(ends, 1);
  const std::size_t reads = gated->reads();
  thread->ask_ahead(GatedFile::places(1));
  EXPECT_EQ(gated->reads(), reads);
}

// Mainly for ThreadSanitizer: claims find records that were read ahead, or read them themselves.
TEST_F(CommitThreadTest, WhatIsFetchedIsRightWhateverIsReadAheadMeanwhile) {
  make(standing, SyncPolicy::os);
  committer->run(job("opens"));
  files.add(7, gated);
  thread->start();
  const auto places = GatedFile::places(600);
  for (std::size_t round = 0; round < 100; ++round) {
    thread->ask_ahead(places);
    for (std::size_t at = 0; at < places.size(); at += 100) {
      CommitJob next = job("next");
      next.answers.emplace_back([&](const CommitOutcome&) {
        const auto some = std::span(places).subspan(at, 100);
        const auto found = reads.fetch(some);
        for (std::size_t i = 0; i < some.size(); ++i) {
          EXPECT_EQ(found[i], GatedFile::record_at(some[i].position.offset()));
        }
      });
      thread->commit(std::move(next));
    }
  }
  thread->stop();
  EXPECT_EQ(told.size(), 601u);
}

TEST_F(CommitThreadTest, AFailureIsToldAndFailsWhatFollows) {
  start(standing);
  thread->commit(job("a"));
  wait_for(1);
  EXPECT_EQ(failures, 0);
  faults->arm({.fail_at = 1});
  thread->commit(job("b"));
  wait_for(2);
  thread->commit(job("c"));
  thread->stop();
  EXPECT_EQ(told, (std::vector<std::string>{"a", "b failed", "c failed"}));
  EXPECT_GT(failures, 0);
  EXPECT_EQ(committer->durable(), 1u);
}

}  // namespace
}  // namespace tarry::embedded
