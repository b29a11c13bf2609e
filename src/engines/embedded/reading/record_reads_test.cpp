#include "engines/embedded/reading/record_reads.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engines/embedded/journal/journal_format.h"
#include "storage/memory_storage.h"
#include "support/disks/disk_files.h"
#include "support/disks/faulty_storage.h"

namespace tarry::embedded {
namespace {

constexpr auto kWhereTheyLie = RecordReads::Hold::where_they_lie;

class RecordReadsTest : public testing::Test {
 protected:
  RecordReadsTest() {
    for (std::size_t i = 0; i < 600'000; ++i) bytes += static_cast<char>('a' + i / 7 % 26);
    test::write_all(*directory, segment_name(1), bytes);
    test::write_all(*directory, segment_name(2), other);
    for (const std::uint64_t segment : {1u, 2u}) {
      files.add(segment,
                directory->open(segment_name(segment), storage::OpenMode::read_only).value());
    }
  }
  void want(std::uint64_t segment, std::uint64_t offset, std::uint64_t size) {
    places.push_back({segment, Position(segment, offset, size)});
  }
  void read_ahead() {
    for (std::size_t done = 0; done < places.size();) {
      done += reads.read_ahead(std::span(places).subspan(done));
    }
  }
  // Reads all records and returns how many calls of the file system this took. `fail_at`: the call
  // that fails.
  std::uint64_t calls_for_all(std::uint64_t fail_at = UINT64_MAX) {
    faults->arm({.fail_at = fail_at, .reads_too = true});
    expect_all();
    return faults->calls();
  }
  void expect_all() {
    const auto found = reads.fetch(places);
    ASSERT_EQ(found.size(), places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Position position = places[i].position;
      const std::string& all = places[i].segment == 1 ? bytes : other;
      EXPECT_EQ(found[i], std::string_view(all).substr(position.offset(), position.size())) << i;
    }
  }

  std::shared_ptr<storage::Faults> faults = std::make_shared<storage::Faults>();
  storage::MemoryDisk disk;
  storage::FaultyDirectory faulty{disk.root(), faults};
  storage::Directory* directory = &faulty;
  std::string bytes;
  std::string other = "0123456789";
  SegmentFiles files;
  RecordReads reads{files, *directory, 10'000};
  std::vector<RecordPlace> places;
};

TEST_F(RecordReadsTest, InAnyOrderFromAnySegment) {
  want(1, 500'000, 200);
  want(2, 4, 4);
  want(1, 100, 52);
  want(1, 152, 300);
  want(2, 0, 4);
  want(1, 5'000, 8);
  expect_all();
  places.resize(1);
  expect_all();
}

TEST_F(RecordReadsTest, NeighboursInOneCall) {
  for (std::uint64_t i = 0; i < 100; ++i) want(1, 99'000 - i * 200, 152);
  EXPECT_EQ(calls_for_all(), 1u);
}

TEST_F(RecordReadsTest, LongRunsInSeveral) {
  for (std::uint64_t i = 0; i < 1'000; ++i) want(1, i * 600, 600);
  EXPECT_EQ(calls_for_all(), 3u);
}

TEST_F(RecordReadsTest, WhatIsNotThereIsShortOrEmpty) {
  want(2, 8, 8);
  want(3, 0, 8);
  want(2, 100, 8);
  const auto found = reads.fetch(places);
  EXPECT_EQ(found[0], "89");
  EXPECT_EQ(found[1], "");
  EXPECT_EQ(found[2], "");
}

// An unreadable sector must not harm its neighbours.
TEST_F(RecordReadsTest, AfterAFailedCallEachIsReadOnItsOwn) {
  for (std::uint64_t i = 0; i < 3; ++i) want(1, i * 200, 152);
  EXPECT_EQ(calls_for_all(1), 4u);
}

TEST_F(RecordReadsTest, WhatWasReadAheadIsNotReadAgain) {
  for (std::uint64_t i = 0; i < 100; ++i) want(1, 1'000 + (i * 37 % 100) * 5'000, 152);
  read_ahead();
  EXPECT_EQ(calls_for_all(), 0u);
  // The records are read in another order, and together with others.
  std::swap(places[3], places[90]);
  want(2, 4, 4);
  want(1, 520'000, 8);
  EXPECT_EQ(calls_for_all(), 2u);
}

// The bytes read ahead may be older than bytes that were written since.
TEST_F(RecordReadsTest, AnewIsWhatTheFileHasNow) {
  want(2, 2, 4);
  read_ahead();
  auto file = directory->open(segment_name(2), storage::OpenMode::read_write).value();
  ASSERT_TRUE(file->write_at(0, "9876543210"));
  EXPECT_EQ(reads.fetch(places)[0], "2345");
  EXPECT_EQ(reads.fetch_anew(places[0]), "7654");
}

TEST_F(RecordReadsTest, NothingIsReadAheadThatIsNotThere) {
  want(3, 0, 8);
  want(2, 100, 8);
  want(2, 0, 8);
  read_ahead();
  EXPECT_EQ(reads.fetch(places)[0], "");
  EXPECT_EQ(reads.fetch(places)[1], "");
  EXPECT_EQ(reads.fetch(places)[2], "01234567");
}

TEST_F(RecordReadsTest, WhatIsRecentIsNotReadAtAll) {
  auto batch = std::make_shared<SealedBatch>();
  batch->segment = 1;
  batch->offset = 1'000;
  batch->bytes = bytes.substr(1'000, 500);
  reads.written(batch);
  want(1, 1'100, 100);
  want(1, 1'400, 100);
  EXPECT_EQ(calls_for_all(), 0u);
}

TEST_F(RecordReadsTest, WhatIsHeldStaysGoodWhenItIsRecentNoMore) {
  for (const std::uint64_t offset : {1'000u, 2'000u}) {
    auto batch = std::make_shared<SealedBatch>();
    batch->segment = 1;
    batch->offset = offset;
    batch->bytes = bytes.substr(offset, 500);
    reads.written(std::move(batch));
  }
  want(1, 1'100, 100);
  want(1, 2'100, 100);
  want(1, 2'200, 100);
  const auto held = reads.hold(places, kWhereTheyLie);
  ASSERT_TRUE(held);
  reads.freed(1);
  const std::vector<std::string_view> expected{std::string_view(bytes).substr(1'100, 100),
                                               std::string_view(bytes).substr(2'100, 100),
                                               std::string_view(bytes).substr(2'200, 100)};
  EXPECT_EQ(held->records, expected);
  EXPECT_EQ(held->batches.size(), 2u);
  EXPECT_FALSE(reads.hold(places, kWhereTheyLie)) << "the file has them, and nothing else any more";
}

TEST_F(RecordReadsTest, CopiesKeepNoBatch) {
  auto batch = std::make_shared<SealedBatch>();
  batch->segment = 1;
  batch->bytes = bytes;
  const std::weak_ptr<const SealedBatch> kept = batch;
  RecordReads from_all{files, *directory, 2'000'000};
  from_all.written(std::move(batch));
  want(1, 8, RecordReads::kMostCopied / 2);
  want(1, 1'100, 64);
  const auto held = from_all.hold(places, RecordReads::Hold::by_copies);
  ASSERT_TRUE(held);
  from_all.freed(1);
  EXPECT_TRUE(kept.expired());
  EXPECT_EQ(held->records.at(0), std::string_view(bytes).substr(8, RecordReads::kMostCopied / 2));
  EXPECT_EQ(held->records.at(1), std::string_view(bytes).substr(1'100, 64));
}

TEST_F(RecordReadsTest, NotMoreIsCopiedThanIsWorthIt) {
  auto batch = std::make_shared<SealedBatch>();
  batch->segment = 1;
  batch->bytes = bytes;
  RecordReads from_all{files, *directory, 2'000'000};
  from_all.written(std::move(batch));
  want(1, 0, RecordReads::kMostCopied / 2);
  EXPECT_TRUE(from_all.hold(places, RecordReads::Hold::by_copies));
  want(1, RecordReads::kMostCopied / 2, RecordReads::kMostCopied / 2 + 8);
  EXPECT_FALSE(from_all.hold(places, RecordReads::Hold::by_copies));
  EXPECT_TRUE(from_all.hold(places, kWhereTheyLie));
}

TEST_F(RecordReadsTest, NothingIsHeldOnceOneDidNotCheck) {
  auto batch = std::make_shared<SealedBatch>();
  batch->segment = 1;
  batch->bytes = bytes.substr(0, 5'000);
  reads.written(std::move(batch));
  want(1, 1'100, 100);
  const auto held = reads.hold(places, kWhereTheyLie);
  ASSERT_TRUE(held);
  held->distrust->store(true);
  EXPECT_FALSE(reads.hold(places, kWhereTheyLie));
}

}  // namespace
}  // namespace tarry::embedded
