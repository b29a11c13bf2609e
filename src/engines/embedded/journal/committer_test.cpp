#include "engines/embedded/journal/committer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "engines/embedded/journal/begun_mark.h"
#include "engines/embedded/journal/journal_format.h"
#include "storage/posix_storage.h"
#include "support/disks/disk_files.h"
#include "support/disks/faulty_storage.h"
#include "support/disks/virtual_disk.h"
#include "support/temp_directory.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

class CommitterTest : public testing::Test {
 protected:
  void make(SyncPolicy policy) {
    directory = std::make_unique<storage::FaultyDirectory>(disk->root(), faults);
    committer = std::make_unique<Committer>(policy, *directory, files, clock);
  }

  void add_segment(std::uint64_t number) {
    std::shared_ptr<storage::File> file =
        directory->open(segment_name(number), storage::OpenMode::create_new).value();
    files.add(number, std::move(file));
  }

  // Makes the segment's next batch. The first batch of a segment also contains the segment's
  // header.
  std::shared_ptr<const SealedBatch> batch(std::uint64_t segment_number, std::string bytes) {
    auto sealed = std::make_shared<SealedBatch>();
    sealed->number = ++number;
    sealed->segment = segment_number;
    std::uint64_t& end = ends[segment_number];
    if (end == 0) {
      sealed->segment_header = "header";
      end = sealed->segment_header.size();
    }
    sealed->offset = end;
    end += bytes.size();
    sealed->bytes = std::move(bytes);
    return sealed;
  }

  CommitJob job(std::vector<std::shared_ptr<const SealedBatch>> batches,
                const std::string& name = "") {
    CommitJob job;
    job.batches = std::move(batches);
    job.tasks.emplace_back([this, name](const CommitOutcome& outcome) {
      told.push_back(name + (outcome.failure == nullptr ? " done" : " failed"));
      boot_ms = outcome.committed_boot_ms;
      written = read(*disk->copy());
      synced = read(*disk->synced_copy());
    });
    return job;
  }

  static std::map<std::string, std::string> read(storage::VirtualDisk& image) {
    std::map<std::string, std::string> found;
    const auto root = image.root();
    const std::vector<std::string> names = root->list().value();
    for (const std::string& name : names) found[name] = test::read_all(*root, name);
    return found;
  }

  std::string one = segment_name(1);
  std::string two = segment_name(2);
  std::unique_ptr<storage::VirtualDisk> disk = std::make_unique<storage::VirtualDisk>();
  std::shared_ptr<storage::Faults> faults = std::make_shared<storage::Faults>();
  std::unique_ptr<storage::Directory> directory;
  SegmentFiles files;
  timing::ManualClock clock;
  std::unique_ptr<Committer> committer;
  std::uint64_t number = 0;
  std::map<std::uint64_t, std::uint64_t> ends;
  std::vector<std::string> told;
  // The files' contents when the last task ran.
  std::map<std::string, std::string> written;
  std::map<std::string, std::string> synced;
  std::int64_t boot_ms = 0;
};

TEST_F(CommitterTest, AlwaysSyncsFileAndDirectoryBeforeTheFirstTask) {
  make(SyncPolicy::always);
  add_segment(1);
  committer->run(job({batch(1, "aa"), batch(1, "bb")}, "first"));
  EXPECT_EQ(told, std::vector<std::string>{"first done"});
  EXPECT_EQ(synced[one], "headeraabb");
  EXPECT_EQ(committer->durable(), 2u);
  EXPECT_EQ(committer->written(), 2u);
  committer->run(job({batch(1, "cc")}, "second"));
  EXPECT_EQ(synced[one], "headeraabbcc");
  EXPECT_EQ(committer->durable(), 3u);
  EXPECT_EQ(committer->syncs(), 2u);
}

TEST_F(CommitterTest, TasksRunInOrderAndWithoutBatchesToo) {
  make(SyncPolicy::always);
  auto both = job({}, "first");
  both.tasks.push_back(std::move(job({}, "second").tasks[0]));
  committer->run(std::move(both));
  committer->run(job({}, "third"));
  EXPECT_EQ(told, (std::vector<std::string>{"first done", "second done", "third done"}));
  EXPECT_EQ(committer->syncs(), 0u);
}

// A claim's work on bytes in RAM must not delay the next sync.
TEST_F(CommitterTest, WhatATaskLeavesIsAnAnswer) {
  make(SyncPolicy::always);
  const auto leaving = [this](const std::string& name) {
    CommitJob job;
    job.answers.emplace_back(
        [this, name](const CommitOutcome& /*durable*/) { told.push_back(name + " answer"); });
    job.tasks.emplace_back([this, name](const CommitOutcome& outcome) {
      told.push_back(name);
      if (outcome.answers == nullptr) return;
      outcome.answers->emplace_back([this, name](const CommitOutcome& later) {
        told.push_back(name + (later.answers == nullptr ? " rest" : " rest, not the last"));
      });
    });
    return job;
  };
  std::vector<CommitTask> aside;
  bool takes = false;
  committer->set_aside([&](std::vector<CommitTask>& answers) {
    if (takes) aside = std::move(answers);
    return takes;
  });
  committer->run(leaving("first"));
  EXPECT_EQ(told, (std::vector<std::string>{"first", "first answer", "first rest"}));
  takes = true;
  told.clear();
  committer->run(leaving("second"));
  EXPECT_EQ(told, (std::vector<std::string>{"second"}));
  ASSERT_EQ(aside.size(), 2u);
  for (CommitTask& answer : aside) answer(CommitOutcome());
  EXPECT_EQ(told, (std::vector<std::string>{"second", "second answer", "second rest"}));
}

TEST_F(CommitterTest, TasksLearnWhenItWasDone) {
  make(SyncPolicy::always);
  clock.advance(123);
  committer->run(job({}));
  EXPECT_EQ(boot_ms, timing::ManualClock::kStart.boottime_ms + 123);
}

TEST_F(CommitterTest, Every100MsAnswersAfterTheWriteAndSyncsLater) {
  make(SyncPolicy::every_100ms);
  add_segment(1);
  committer->run(job({batch(1, "aa")}));
  EXPECT_EQ(committer->durable(), 1u) << "the first time it is long ago";
  committer->run(job({batch(1, "bb")}, "x"));
  EXPECT_EQ(told.back(), "x done");
  EXPECT_EQ(written[one], "headeraabb");
  EXPECT_EQ(synced[one], "headeraa");
  EXPECT_EQ(committer->durable(), 1u);
  EXPECT_EQ(committer->written(), 2u);
  EXPECT_TRUE(committer->has_pending());
  committer->sync_pending();
  EXPECT_FALSE(committer->has_pending());
  EXPECT_EQ(committer->durable(), 2u);
  clock.advance(100);
  committer->run(job({batch(1, "cc")}));
  EXPECT_EQ(synced[one], "headeraabbcc") << "under load too";
}

TEST_F(CommitterTest, OsSyncsNamesButNotContents) {
  make(SyncPolicy::os);
  add_segment(1);
  committer->run(job({batch(1, "aa")}));
  EXPECT_EQ(written[one], "headeraa");
  ASSERT_TRUE(synced.contains(one)) << "the name, or the file could vanish";
  EXPECT_EQ(synced[one], "");
  EXPECT_EQ(committer->durable(), 0u);
  EXPECT_FALSE(committer->has_pending());
  auto last = job({batch(1, "bb")});
  last.sync = true;
  committer->run(std::move(last));
  EXPECT_EQ(synced[one], "headeraabb") << "asked for";
}

// Otherwise the header's seal would say "proven" about a segment that is not.
TEST_F(CommitterTest, ASegmentsHeaderIsWrittenAfterItsPredecessorWasSynced) {
  make(SyncPolicy::every_100ms);
  add_segment(1);
  add_segment(2);
  committer->run(job({batch(1, "aa")}));
  committer->run(job({batch(1, "bb")}));
  faults->arm({.fail_at = 2});  // after the sync, the header's write
  committer->run(job({batch(2, "cc")}, "x"));
  EXPECT_TRUE(faults->first_failed().starts_with("write_at")) << faults->first_failed();
  EXPECT_EQ(told.back(), "x failed");
  EXPECT_EQ(synced[one], "headeraabb");
}

TEST_F(CommitterTest, OneJobMayCloseASegmentAndOpenTheNext) {
  make(SyncPolicy::always);
  add_segment(1);
  add_segment(2);
  committer->run(job({batch(1, "aa"), batch(2, "bb")}));
  EXPECT_EQ(synced[one], "headeraa");
  EXPECT_EQ(synced[two], "headerbb");
  EXPECT_EQ(committer->durable(), 2u);
}

TEST_F(CommitterTest, SegmentsGoAfterTheSyncAndAfterTheTasks) {
  make(SyncPolicy::os);
  add_segment(1);
  add_segment(2);
  committer->run(job({batch(1, "aa")}));
  auto last = job({batch(2, "copy of aa")});
  last.remove_segments = {1};
  committer->run(std::move(last));
  EXPECT_EQ(synced[two], "headercopy of aa") << "whatever the policy";
  EXPECT_TRUE(written.contains(one)) << "tasks may read what was decided before";
  EXPECT_FALSE(test::has(*directory, one));
  EXPECT_EQ(files.get(1), nullptr);
  EXPECT_NE(files.get(2), nullptr);
}

// Under each policy, each call that can fail fails once. Then its job and every later job fail, and
// nothing is tried again.
TEST_F(CommitterTest, TheFirstFailureIsFinal) {
  for (const SyncPolicy policy : {SyncPolicy::always, SyncPolicy::every_100ms, SyncPolicy::os}) {
    for (std::uint64_t call = 1;; ++call) {
      disk = std::make_unique<storage::VirtualDisk>();
      ends.clear();
      number = 0;
      told.clear();
      faults->disarm();
      make(policy);
      add_segment(1);
      add_segment(2);
      faults->arm({.fail_at = call});
      committer->run(job({batch(1, "aa")}, "a"));
      auto b = job({batch(2, "bb")}, "b");
      b.sync = true;
      committer->run(std::move(b));
      if (faults->failed() == 0) break;
      const std::uint64_t calls = faults->calls();
      EXPECT_TRUE(committer->failed());
      EXPECT_EQ(told.back(), "b failed");
      const std::uint64_t durable = committer->durable();
      committer->run(job({batch(2, "cc")}, "c"));
      committer->sync_pending();
      EXPECT_EQ(told.back(), "c failed");
      EXPECT_EQ(faults->calls(), calls) << "nothing more reaches the disk";
      EXPECT_EQ(committer->durable(), durable);
      EXPECT_FALSE(committer->has_pending());
      // Data of a job that was answered is on the disk.
      const auto image = read(*disk->copy());
      if (told[0] == "a done") {
        EXPECT_EQ(image.at(one), "headeraa");
      }
    }
  }
}

TEST_F(CommitterTest, ASegmentThatCannotBeRemovedEndsIt) {
  make(SyncPolicy::always);
  add_segment(1);
  committer->run(job({batch(1, "aa")}));
  auto last = job({}, "x");
  last.remove_segments = {7};
  committer->run(std::move(last));
  EXPECT_EQ(told.back(), "x done");
  committer->run(job({}, "y"));
  EXPECT_EQ(told.back(), "y failed");
}

TEST_F(CommitterTest, StartsWhereRecoveryEnded) {
  make(SyncPolicy::always);
  committer->start_at(41, 0);
  EXPECT_EQ(committer->durable(), 41u);
  EXPECT_EQ(committer->written(), 41u);
}

// -- where the store is

// A directory that can be moved or removed, and files that can lose their names.
class PlaceTest : public testing::Test {
 protected:
  void make(SyncPolicy policy) {
    committer = std::make_unique<Committer>(policy, *directory, files, clock);
    file = std::shared_ptr<storage::File>(
        directory->open(segment_name(1), storage::OpenMode::create_new).value());
    files.add(1, file);
  }

  // The result of the next batch.
  std::string commit() {
    auto sealed = std::make_shared<SealedBatch>();
    sealed->number = ++number;
    sealed->segment = 1;
    sealed->offset = end;
    if (number == 1) {
      sealed->segment_header = "header";
      sealed->offset = end = sealed->segment_header.size();
    }
    sealed->bytes = "bytes";
    end += sealed->bytes.size();
    CommitJob job;
    job.batches.push_back(std::move(sealed));
    return run(std::move(job));
  }

  std::string look() { return run({}); }

  std::string run(CommitJob job) {
    std::string told = "done";
    job.tasks.emplace_back([&told](const CommitOutcome& outcome) {
      if (outcome.failure != nullptr) told = outcome.failure->message;
    });
    committer->run(std::move(job));
    return told;
  }

  storage::TempDirectory temp;
  const std::string path = temp.path() + "/store/shard-000";
  const std::string said = path + " was removed or moved while the store was open";
  std::unique_ptr<storage::Directory> directory = storage::open_directory(path, true).value();
  std::shared_ptr<storage::File> file;
  SegmentFiles files;
  timing::ManualClock clock;
  std::unique_ptr<Committer> committer;
  std::uint64_t number = 0;
  std::uint64_t end = 0;
};

TEST_F(PlaceTest, WhatIsSyncedIntoARemovedDirectoryIsNotAcknowledged) {
  make(SyncPolicy::always);
  EXPECT_EQ(commit(), "done");
  std::filesystem::remove_all(temp.path() + "/store");
  EXPECT_EQ(commit(), said);
  EXPECT_TRUE(committer->failed());
  EXPECT_EQ(committer->failure().code, ErrorCode::io_error);
}

TEST_F(PlaceTest, NorIntoASegmentWithoutAName) {
  make(SyncPolicy::always);
  EXPECT_EQ(commit(), "done");
  ASSERT_TRUE(directory->remove(segment_name(1)));
  EXPECT_EQ(commit(), said);
}

TEST_F(PlaceTest, NorIntoADirectoryThatWasMoved) {
  make(SyncPolicy::always);
  EXPECT_EQ(commit(), "done");
  std::filesystem::rename(temp.path() + "/store", temp.path() + "/aside");
  EXPECT_EQ(commit(), said);
}

// The committer looks at the directory even if it writes and syncs nothing, but not for every job.
TEST_F(PlaceTest, ItIsLookedAtTenTimesASecond) {
  make(SyncPolicy::os);
  EXPECT_EQ(commit(), "done");
  std::filesystem::remove_all(temp.path() + "/store");
  EXPECT_EQ(look(), "done");
  clock.advance(100);
  EXPECT_EQ(look(), said);
}

// -- the begun mark

TEST_F(CommitterTest, TheMarkNamesTheNewestSegmentThatIsSynced) {
  make(SyncPolicy::always);
  add_segment(1);
  add_segment(2);
  committer->run(job({batch(1, "a")}));
  EXPECT_TRUE(synced.contains(begun_name(1)));
  committer->run(job({batch(1, "b"), batch(2, "c")}));
  EXPECT_TRUE(synced.contains(begun_name(2)));
  EXPECT_FALSE(written.contains(begun_name(1)));
  const std::uint64_t before = faults->calls();
  committer->run(job({batch(2, "d")}));
  EXPECT_EQ(faults->calls(), before + 2) << "a write and a sync, and nothing more";
}

TEST_F(CommitterTest, TheMarkWaitsForASync) {
  make(SyncPolicy::os);
  add_segment(1);
  committer->run(job({batch(1, "a")}));
  EXPECT_FALSE(written.contains(begun_name(1)));
  CommitJob synced_job = job({batch(1, "b")});
  synced_job.sync = true;
  committer->run(std::move(synced_job));
  EXPECT_TRUE(synced.contains(begun_name(1)));
}

TEST_F(CommitterTest, WithoutRoomForAMarkItGoesOn) {
  make(SyncPolicy::always);
  add_segment(1);
  // The first call writes, the second syncs, and the third raises the mark.
  faults->arm({.fail_at = 3, .code = ErrorCode::no_space});
  committer->run(job({batch(1, "a")}, "a"));
  faults->disarm();
  committer->run(job({batch(1, "b")}, "b"));
  EXPECT_EQ(told, (std::vector<std::string>{"a done", "b done"}));
  EXPECT_TRUE(synced.contains(begun_name(1))) << "tried again with the next sync";
}

TEST_F(CommitterTest, MeasuresTheStepsOfWhatItMadeDurable) {
  make(SyncPolicy::always);
  add_segment(1);
  CommitJob answered = job({batch(1, "a")});
  answered.waits_since = clock.monotonic() - std::chrono::milliseconds(3);
  answered.answers.emplace_back([this](const CommitOutcome&) { clock.advance(7); });
  committer->run(std::move(answered));
  CommitJob read_only = job({});
  read_only.tasks.emplace_back([this](const CommitOutcome&) { clock.advance(100); });
  committer->run(std::move(read_only));
  faults->arm({.fail_at = 1});
  committer->run(job({batch(1, "b")}));

  CommitTimes times;
  committer->times().add_to(times);
  const auto count = [](const CommitTimes::Step& step) {
    return std::accumulate(step.counts.begin(), step.counts.end(), std::uint64_t{0});
  };
  EXPECT_EQ(count(times.gather), 1u);
  EXPECT_NEAR(times.gather.sum_seconds, 0.003, 1e-9);
  EXPECT_EQ(count(times.sync), 1u);
  EXPECT_EQ(count(times.answer), 1u);
  EXPECT_NEAR(times.answer.sum_seconds, 0.007, 1e-9);
}

}  // namespace
}  // namespace tarry::embedded
