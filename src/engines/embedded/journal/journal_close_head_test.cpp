// Journal::close_head on a full disk that is shared with other shards or another program: for a
// moment, nobody owns the room that it moves from the head to the next segment.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <thread>

#include "engines/embedded/journal/journal.h"
#include "storage/memory_storage.h"
#include "support/disks/faulty_storage.h"
#include "support/embedded/journal.h"

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kSegment = 1 << 20;
constexpr std::uint64_t kLeast = 200 << 10;

class CloseHead : public testing::Test {
 protected:
  struct One {
    std::unique_ptr<storage::Directory> directory;
    SegmentFiles files;
    std::unique_ptr<Committer> committer;
    std::unique_ptr<Journal> journal;
  };

  void open(One& one, std::unique_ptr<storage::Directory> directory) {
    one.directory = std::move(directory);
    one.committer =
        std::make_unique<Committer>(SyncPolicy::always, *one.directory, one.files, clock);
    Journal::Config config;
    config.store_id = test::kStoreId;
    config.hash_seed = test::kHashSeed;
    config.segment_bytes = kSegment;
    config.disk_room = disk_room;
    one.journal = std::make_unique<Journal>(config, *one.directory, one.files, *one.committer,
                                            JournalTail(), [](std::string& out) {
                                              append_record(out, Record(test::clock_record()));
                                              append_record(out, Record(MarksRecord{1, 1}));
                                            });
  }

  // Writes one message. The head then has the room of a whole segment, and the disk has no more
  // room.
  void open_on_full_disk() {
    root = disk.root();
    open(mine,
         std::make_unique<storage::FaultyDirectory>(*root->subdirectory("mine", true), faults));
    ASSERT_TRUE(mine.journal->ensure_room(1000, 1000, kSegment / 2));
    mine.journal->append(test::put(1, 1, "key"));
    CommitJob job;
    job.batches = mine.journal->take(clock.now().realtime_ms);
    mine.committer->run(std::move(job));
    ASSERT_FALSE(mine.committer->failed());
    disk.set_capacity(disk.used_bytes());
  }

  // `happens` is called after the head was cut, and before a new file gets the head's room.
  void meanwhile(std::function<void()> happens) {
    faults->watch([this, happens = std::move(happens)](std::string_view what) {
      if (what.starts_with("create ") && ++happened == 1) happens();
    });
  }

  storage::MemoryDisk disk;
  std::unique_ptr<storage::Directory> root;
  std::shared_ptr<storage::Faults> faults = std::make_shared<storage::Faults>();
  std::shared_ptr<std::shared_mutex> disk_room = std::make_shared<std::shared_mutex>();
  timing::ManualClock clock;
  int happened = 0;
  One mine;
};

TEST_F(CloseHead, TheOtherShardsWaitUntilTheRoomHasMoved) {
  open_on_full_disk();
  One other;
  open(other, *root->subdirectory("other", true));
  std::atomic<bool> waits = false;
  std::atomic<bool> had_room = false;
  std::jthread thief;
  meanwhile([&] {
    thief = std::jthread([&] {
      const bool is_free = disk_room->try_lock_shared();
      if (is_free) {
        disk_room->unlock_shared();
      } else {
        waits = true;
        waits.notify_one();
      }
      had_room = other.journal->ensure_room(0, 0, kSegment / 2).has_value();
      waits = true;
      waits.notify_one();
    });
    waits.wait(false);
  });
  const auto closed = mine.journal->close_head(kLeast, kSegment);
  ASSERT_GT(happened, 0);
  thief.join();
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_TRUE(*closed);
  EXPECT_FALSE(had_room);
  EXPECT_TRUE(mine.journal->ensure_room(0, 0, kLeast));
}

TEST_F(CloseHead, WhatSomebodyElseHasTakenIsAllThatIsMissing) {
  open_on_full_disk();
  const std::uint64_t before = mine.journal->head().allocated;
  const std::uint64_t full = disk.used_bytes();
  meanwhile([&] { disk.set_capacity(full - kSegment / 4); });
  const auto closed = mine.journal->close_head(kLeast, kSegment);
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_TRUE(*closed);
  EXPECT_GT(happened, 1) << "the whole was tried first";
  EXPECT_EQ(mine.journal->head().number, 2u);
  EXPECT_GE(mine.journal->head().allocated, before / 2);
  EXPECT_TRUE(mine.journal->ensure_room(0, 0, kLeast));
}

TEST_F(CloseHead, WhereTooMuchIsTakenTheHeadHasTheRestAgain) {
  open_on_full_disk();
  const std::uint64_t full = disk.used_bytes();
  const std::uint64_t left = kLeast / 2;
  const std::uint64_t before = mine.journal->head().allocated;
  meanwhile([&] { disk.set_capacity(full - before + left); });
  const auto closed = mine.journal->close_head(kLeast, kSegment);
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_FALSE(*closed);
  EXPECT_GT(happened, 0);
  EXPECT_EQ(mine.journal->head().number, 1u);
  EXPECT_GE(mine.journal->head().allocated, left * 9 / 10);
  EXPECT_LT(mine.journal->head().allocated, before);
  EXPECT_TRUE(mine.journal->ensure_room(0, 0, left / 2)) << "what ends messages goes on";
}

// A short segment that is already prepared becomes longer by the room of the head.
TEST_F(CloseHead, AShortSegmentThatIsPreparedTakesTheRoom) {
  open_on_full_disk();
  disk.set_capacity(disk.used_bytes() + kSegment / 8);
  (void)mine.journal->ensure_room(0, 0, kSegment + kSegment / 16);
  const auto names = test::segments_in(*mine.directory);
  ASSERT_EQ(names.size(), 2u);
  const std::uint64_t prepared = test::read_all(*mine.directory, names.back()).size();
  ASSERT_LT(prepared, kLeast);
  const auto closed = mine.journal->close_head(kLeast, 2 * kSegment);
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_TRUE(*closed);
  EXPECT_EQ(mine.journal->head().allocated, kSegment);
}

}  // namespace
}  // namespace tarry::embedded
