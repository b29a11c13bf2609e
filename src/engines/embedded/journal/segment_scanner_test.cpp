#include "engines/embedded/journal/segment_scanner.h"

#include <gtest/gtest.h>

#include "storage/memory_storage.h"
#include "support/disks/faulty_storage.h"
#include "support/embedded/journal.h"

namespace tarry::embedded {
namespace {

using Found = SegmentScanner::Step;

class SegmentScannerTest : public testing::Test {
 protected:
  SegmentScannerTest() {
    offsets.push_back(segment.batch({test::clock_record()}, 0));
    offsets.push_back(segment.batch({MarksRecord{5, 1}, ClosedRecord{}}, 1));
    offsets.push_back(segment.batch({MarksRecord{6, 1}}, 2));
  }

  SegmentScanner scanner(std::uint64_t end) {
    const auto directory = disk.root();
    test::store(*directory, segment);
    file = directory->open(segment_name(1), storage::OpenMode::read_only).value();
    return SegmentScanner(*file, segment.header().salt, 1, end);
  }
  SegmentScanner scanner() { return scanner(segment.bytes().size()); }

  storage::MemoryDisk disk;
  std::unique_ptr<storage::File> file;
  test::Segment segment{1};
  std::vector<std::uint64_t> offsets;
};

TEST_F(SegmentScannerTest, ReadsBatchByBatch) {
  auto s = scanner();
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(s.next().value(), Found::batch);
    EXPECT_EQ(s.offset(), offsets[i]);
    EXPECT_EQ(s.body_offset(), offsets[i] + kBatchHeaderBytes);
    EXPECT_EQ(s.header().number, i + 1);
    EXPECT_EQ(s.header().durable, i);
  }
  std::string_view body = s.body();
  const auto record = take_record(body);
  ASSERT_TRUE(record);
  EXPECT_EQ(std::get<MarksRecord>(*record).next_id, 6u);
  EXPECT_EQ(s.next().value(), Found::end);
  EXPECT_EQ(s.good_end(), segment.bytes().size());
  EXPECT_EQ(s.next_number(), 4u);
  EXPECT_EQ(s.next().value(), Found::end) << "and stays there";
}

TEST_F(SegmentScannerTest, ZerosBehindTheLastBatchAreNone) {
  segment.bytes().resize(segment.bytes().size() + 4096);
  auto s = scanner();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(s.next().value(), Found::batch);
  EXPECT_EQ(s.next().value(), Found::bad);
  EXPECT_EQ(s.good_end(), segment.bytes().size() - 4096);
  EXPECT_EQ(s.beyond(UINT64_MAX).value().durable, 0u);
}

TEST_F(SegmentScannerTest, ABrokenBatchStopsItAndLaterOnesAreFound) {
  segment.bytes()[offsets[0] + kBatchHeaderBytes] ^= 1;
  auto s = scanner();
  ASSERT_EQ(s.next().value(), Found::bad);
  EXPECT_EQ(s.offset(), offsets[0]);
  EXPECT_EQ(s.next_number(), 1u);
  EXPECT_EQ(s.beyond(UINT64_MAX).value().durable, 2u);
  EXPECT_EQ(s.beyond(1).value().durable, 1u) << "no further than needed";
}

TEST_F(SegmentScannerTest, GoesOnBehindABrokenBatch) {
  segment.bytes()[offsets[1] + kBatchHeaderBytes] ^= 1;
  auto s = scanner();
  ASSERT_EQ(s.next().value(), Found::batch);
  ASSERT_EQ(s.next().value(), Found::bad);
  ASSERT_TRUE(s.skip_bad().value());
  EXPECT_EQ(s.good_end(), offsets[2]);
  EXPECT_EQ(s.next_number(), 3u);
  ASSERT_EQ(s.next().value(), Found::batch);
  EXPECT_EQ(s.offset(), offsets[2]);
  EXPECT_EQ(s.next().value(), Found::end);

  segment.bytes()[offsets[2] + kBatchHeaderBytes] ^= 1;
  auto none = scanner();
  ASSERT_EQ(none.next().value(), Found::batch);
  ASSERT_EQ(none.next().value(), Found::bad);
  EXPECT_FALSE(none.skip_bad().value());
  EXPECT_EQ(none.good_end(), offsets[1]);
  EXPECT_EQ(none.next_number(), 2u);
}

TEST_F(SegmentScannerTest, NeverGoesOnWithAnEarlierBatch) {
  auto s = scanner();
  SegmentScanner late(*file, segment.header().salt, 3, segment.bytes().size());
  ASSERT_EQ(late.next().value(), Found::bad);
  ASSERT_TRUE(late.skip_bad().value());
  EXPECT_EQ(late.good_end(), offsets[2]);
  SegmentScanner later(*file, segment.header().salt, 4, segment.bytes().size());
  ASSERT_EQ(later.next().value(), Found::bad);
  EXPECT_FALSE(later.skip_bad().value());
}

TEST_F(SegmentScannerTest, WhatIsTornEndsBehindTheLastOfItsBatches) {
  const std::uint64_t whole = segment.bytes().size();
  const auto directory = disk.root();
  test::Segment older(1);
  older.header().salt ^= 1;
  older.batch({MarksRecord{7, 1}});
  const std::string old_batch = older.bytes().substr(kSegmentHeaderBytes);
  const auto torn_end = [&](std::uint64_t turned) {
    std::string bytes = segment.bytes() + old_batch + std::string(4096, '\0');
    if (turned != 0) bytes[turned] = static_cast<char>(bytes[turned] ^ 0x10);
    test::write_all(*directory, "torn", bytes);
    const auto torn = directory->open("torn", storage::OpenMode::read_only).value();
    SegmentScanner s(*torn, segment.header().salt, 1, bytes.size());
    while (s.next().value() == Found::batch) {
    }
    return std::pair(s.good_end(), s.torn_end().value());
  };
  EXPECT_EQ(torn_end(0), std::pair(whole, whole)) << "an older segment's batch is none of its own";
  EXPECT_EQ(torn_end(offsets[1] + kBatchHeaderBytes), std::pair(offsets[1], whole));
  for (std::uint64_t at = offsets[2]; at < whole; ++at) {
    const auto [good, torn] = torn_end(at);
    EXPECT_EQ(good, offsets[2]);
    EXPECT_GT(torn, good) << "byte " << at - offsets[2] << " of a batch's header";
  }
}

TEST_F(SegmentScannerTest, TheFirstBatchIsFoundWithoutASalt) {
  const auto directory = disk.root();
  test::store(*directory, segment);
  file = directory->open(segment_name(1), storage::OpenMode::read_only).value();
  EXPECT_EQ(first_batch_in(*file).value()->number, 1u);
  EXPECT_EQ(first_batch_in(*file).value()->salt, segment.header().salt);
  std::string torn = segment.bytes();
  torn[kSegmentHeaderBytes + kBatchHeaderBytes] ^= 1;
  test::write_all(*directory, "torn", torn);
  EXPECT_FALSE(
      first_batch_in(*directory->open("torn", storage::OpenMode::read_only).value()).value());
  torn.resize(kSegmentHeaderBytes + 8);
  test::write_all(*directory, "short", torn);
  EXPECT_FALSE(
      first_batch_in(*directory->open("short", storage::OpenMode::read_only).value()).value());
}

TEST_F(SegmentScannerTest, ABatchOfAnotherSegmentOrNumberIsNone) {
  test::Segment other(2);  // another salt
  other.batch({test::clock_record()}, 9);
  segment.bytes() += other.bytes().substr(kSegmentHeaderBytes);
  auto s = scanner();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(s.next().value(), Found::batch);
  EXPECT_EQ(s.next().value(), Found::bad);
  EXPECT_EQ(s.beyond(UINT64_MAX).value().durable, 0u);
  SegmentScanner late(*file, segment.header().salt, 2, segment.bytes().size());
  EXPECT_EQ(late.next().value(), Found::bad);
}

TEST_F(SegmentScannerTest, StopsAtTheEndItWasGiven) {
  auto s = scanner(offsets[2]);
  EXPECT_EQ(s.next().value(), Found::batch);
  EXPECT_EQ(s.next().value(), Found::batch);
  EXPECT_EQ(s.next().value(), Found::end);
  auto inside = scanner(offsets[2] + 20);
  EXPECT_EQ(inside.next().value(), Found::batch);
  EXPECT_EQ(inside.next().value(), Found::batch);
  EXPECT_EQ(inside.next().value(), Found::bad);
}

// The segment is longer than one read (1 MiB), and batches cross the border between two reads.
TEST_F(SegmentScannerTest, ReadsAcrossItsReadAhead) {
  const std::string payload(300'000, 'p');
  test::Segment large(1);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    large.batch({test::put(static_cast<Handle>(i), i, "key", payload)}, i - 1);
  }
  segment = large;
  auto s = scanner();
  for (int i = 0; i < 10; ++i) ASSERT_EQ(s.next().value(), Found::batch);
  EXPECT_EQ(s.next().value(), Found::end);
}

TEST_F(SegmentScannerTest, AReadErrorIsNoBadBatch) {
  const auto directory = disk.root();
  test::store(*directory, segment);
  auto faults = std::make_shared<storage::Faults>();
  storage::FaultyDirectory faulty(disk.root(), faults);
  const auto opened = faulty.open(segment_name(1), storage::OpenMode::read_only).value();
  SegmentScanner s(*opened, segment.header().salt, 1, segment.bytes().size());
  faults->arm({.for_good = true, .reads_too = true});
  const auto step = s.next();
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, ErrorCode::io_error);
}

}  // namespace
}  // namespace tarry::embedded
