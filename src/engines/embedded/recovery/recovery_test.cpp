// The rows T1 and T2 of the table in recovery_rows.h, and recovery's other duties.
#include "engines/embedded/recovery/recovery.h"

#include <gtest/gtest.h>

#include "support/disks/faulty_storage.h"
#include "support/embedded/recovery_table.h"

namespace tarry::embedded {
namespace {

using RecoveryTable = test::RecoveryTable;

TEST_F(RecoveryTable, T1_WhatNothingProvesIsWrittenAgainAndSyncedFirst) {
  store_both();
  auto faults = std::make_shared<storage::Faults>();
  storage::FaultyDirectory faulty(disk.root(), faults);
  // Nothing proves the last batch durable. So recovery writes it again, syncs it, raises the mark,
  // and syncs the directory.
  faults->arm({.fail_at = 1});
  EXPECT_EQ(test::Recovery(faulty).code(), ErrorCode::io_error);
  EXPECT_TRUE(faults->first_failed().starts_with("write_at")) << faults->first_failed();
  EXPECT_NE(faults->first_failed().find("offset " + std::to_string(at_c)), std::string::npos)
      << faults->first_failed();
  faults->arm({.fail_at = 2});
  EXPECT_EQ(test::Recovery(faulty).code(), ErrorCode::io_error);
  EXPECT_TRUE(faults->first_failed().starts_with("sync_data")) << faults->first_failed();
  faults->arm({.fail_at = 3});
  EXPECT_EQ(test::Recovery(faulty).code(), ErrorCode::io_error);
  EXPECT_TRUE(faults->first_failed().starts_with("create")) << faults->first_failed();
  faults->arm({.fail_at = 4});
  EXPECT_EQ(test::Recovery(faulty).code(), ErrorCode::io_error);
  // The mark was created by now, so one call less is made.
  faults->arm({.fail_at = 4});
  EXPECT_TRUE(test::Recovery(faulty).ok());
  EXPECT_EQ(faults->calls(), 3u);
}

TEST_F(RecoveryTable, T1_UnprovenSegmentsAreWrittenAgainWhole) {
  build(false);
  store_both();
  auto faults = std::make_shared<storage::Faults>();
  storage::FaultyDirectory faulty(disk.root(), faults);
  faults->arm({.fail_at = 1});
  EXPECT_FALSE(test::Recovery(faulty).ok());
  EXPECT_NE(faults->first_failed().find("offset " + std::to_string(at_b)), std::string::npos)
      << faults->first_failed() << " (batches 1 and 2 are proven by batch 3)";
  faults->arm({.fail_at = 3});
  EXPECT_FALSE(test::Recovery(faulty).ok());
  EXPECT_NE(faults->first_failed().find(segment_name(2) + " (offset 0)"), std::string::npos)
      << faults->first_failed() << " (its header too)";
}

TEST_F(RecoveryTable, T2_TheNewestSegmentIsWrittenOn) {
  store_both();
  EXPECT_TRUE(test::Recovery(*directory).result->tail.goes_on);
  test::write_all(*directory, segment_name(2), two.bytes() + std::string(4096, '\0'));
  const test::Recovery allocated(*directory);
  EXPECT_TRUE(allocated.result->tail.goes_on);
  EXPECT_FALSE(allocated.result->tail.is_clean);
  EXPECT_EQ(allocated.result->tail.segments.back().allocated, two.bytes().size());
  two.batch({ClosedRecord{}}, 5);
  store_both();
  EXPECT_TRUE(test::Recovery(*directory).result->tail.is_clean);
}

// The torn batch has the segment's salt. If a disk showed its lost bytes again, it would count as a
// batch.
TEST_F(RecoveryTable, T2_NotBehindATornTail) {
  two.bytes().resize(two.bytes().size() - 12);
  store_both();
  EXPECT_FALSE(test::Recovery(*directory).result->tail.goes_on);
}

TEST_F(RecoveryTable, T2_NotWhereItIsMostlyGarbage) {
  const std::string large(std::size_t{100} << 10, 'p');
  two.batch({test::put(3, 4, "d", large)}, 5);
  store_both();
  EXPECT_TRUE(test::Recovery(*directory).result->tail.goes_on) << "it lives";
  two.batch({GoneRecord{GoneWhy::acked, 0, {Ref{3, 4}}}}, 6);
  store_both();
  EXPECT_FALSE(test::Recovery(*directory).result->tail.goes_on);
}

TEST_F(RecoveryTable, ReadOnlyChangesNothing) {
  two.bytes().resize(two.bytes().size() - 12);
  store_both();
  test::write_all(*directory, segment_name(3), std::string(4096, '\0'));
  auto faults = std::make_shared<storage::Faults>();
  storage::FaultyDirectory faulty(disk.root(), faults);
  test::Recovery recovery(faulty, true);
  ASSERT_TRUE(recovery.ok()) << recovery.error();
  EXPECT_EQ(faults->calls(), 0u);
  EXPECT_GT(recovery.result->report.torn_bytes, 0u);
  EXPECT_TRUE(recovery.holds(1, 2));
}

// A read error is not damage: the operator should look at the disk.
TEST_F(RecoveryTable, AReadErrorIsAnIoError) {
  store_both();
  auto faults = std::make_shared<storage::Faults>();
  storage::FaultyDirectory faulty(disk.root(), faults);
  for (std::uint64_t call = 1;; ++call) {
    faults->arm({.fail_at = call, .reads_too = true});
    test::Recovery recovery(faulty, true);
    if (faults->failed() == 0) break;
    EXPECT_EQ(recovery.code(), ErrorCode::io_error) << faults->first_failed();
  }
}

TEST_F(RecoveryTable, ProgressAddsUpToTheJournal) {
  store_both();
  ShardState state(test::Recovery::identity(1), timing::ManualClock::kStart);
  state.begin_replay();
  SegmentFiles files;
  std::uint64_t told = 0;
  RecoveryOptions options;
  options.store_id = test::kStoreId;
  options.hash_seed = test::kHashSeed;
  options.progress = [&](std::uint64_t bytes) { told += bytes; };
  ASSERT_TRUE(recover(*directory, files, state, options));
  EXPECT_EQ(told, journal_bytes(*directory).value());
}

}  // namespace
}  // namespace tarry::embedded
