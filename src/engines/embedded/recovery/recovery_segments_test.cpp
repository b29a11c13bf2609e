// The rows S of the table in recovery_rows.h, each by its name.
#include <gtest/gtest.h>

#include <algorithm>

#include "engines/embedded/journal/begun_mark.h"
#include "support/disks/faulty_storage.h"
#include "support/disks/virtual_disk.h"
#include "support/embedded/recovery_table.h"

namespace tarry::embedded {
namespace {

using test::put;
using test::Segment;
using RecoveryTable = test::RecoveryTable;

TEST_F(RecoveryTable, S1_NoSegmentAtAllIsANewJournal) {
  test::Recovery recovery(*directory);
  ASSERT_TRUE(recovery.ok());
  EXPECT_EQ(recovery.result->tail.next_segment, 1u);
  EXPECT_EQ(recovery.result->tail.next_batch, 1u);
  EXPECT_TRUE(recovery.result->tail.segments.empty());
  EXPECT_EQ(recovery.state.slab.end(), 0u);
}

TEST_F(RecoveryTable, S1_OtherFilesAreLeftAlone) {
  test::write_all(*directory, "notes.txt", "mine");
  ASSERT_TRUE(test::Recovery(*directory).ok());
  EXPECT_EQ(names(), std::vector<std::string>{"notes.txt"});
}

TEST_F(RecoveryTable, S2_BlankNewestFilesAreRemoved) {
  store_both();
  test::write_all(*directory, segment_name(3), std::string(8192, '\0'));
  test::write_all(*directory, segment_name(4), "");
  test::Recovery recovery(*directory);
  ASSERT_TRUE(recovery.ok()) << recovery.error();
  EXPECT_EQ(names(), (std::vector<std::string>{segment_name(1), segment_name(2)}));
  EXPECT_EQ(recovery.result->tail.next_segment, 3u) << "numbers must not have gaps";
  EXPECT_EQ(recovery.result->report.torn_bytes, 0u);
  expect_messages({1, 2, 3});
}

// A cleaned segment's file has its next name already. It was not written yet, or the write was
// torn.
TEST_F(RecoveryTable, S2_AnOlderSegmentsFileIsNotWrittenYet) {
  store_both();
  Segment three(3, two.next_batch(), two.seal());
  three.opening();
  std::string later = three.bytes() + std::string(one.bytes().size(), '\0');
  later.replace(0, 512, one.bytes().substr(0, 512));
  for (const std::string& bytes : {one.bytes(), one.bytes().substr(0, 100), later}) {
    test::write_all(*directory, segment_name(3), bytes);
    test::Recovery recovery(*directory);
    ASSERT_TRUE(recovery.ok()) << recovery.error();
    EXPECT_EQ(names(), (std::vector<std::string>{segment_name(1), segment_name(2)}));
    EXPECT_EQ(recovery.result->tail.next_segment, 3u);
    EXPECT_EQ(recovery.result->report.torn_bytes, 0u);
    expect_messages({1, 2, 3});
  }
}

TEST_F(RecoveryTable, S2_S3_APayloadThatIsABatchProvesNothing) {
  store_both();
  const GoneRecord gone{GoneWhy::purged, 0, {{0, 1}, {1, 2}}};
  for (const std::uint64_t durable : {std::uint64_t{0}, std::uint64_t{4}, UINT64_MAX / 2}) {
    const std::string old = one.bytes() + test::payload_like_a_batch({gone}, durable);
    for (const std::string& bytes : {old, "x" + old.substr(1)}) {
      test::write_all(*directory, segment_name(3), bytes);
      test::Recovery recovery(*directory);
      ASSERT_TRUE(recovery.ok()) << recovery.error();
      EXPECT_EQ(recovery.result->report.cut_batches, 0u);
      EXPECT_EQ(recovery.result->tail.next_segment, 3u);
      expect_messages({1, 2, 3});
    }
  }
}

TEST_F(RecoveryTable, S3_WhatIsLeftOfAnOlderSegmentProvesNothing) {
  store_both();
  for (std::size_t at = 0; at < kSegmentHeaderBytes; ++at) {
    std::string bytes = one.bytes();
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    test::write_all(*directory, segment_name(3), bytes);
    expect_messages({1, 2, 3});
  }
}

TEST_F(RecoveryTable, S4_TheNewestUnderALaterNameIsDamage) {
  two.batch({put(9, 9, "nine")}, two.next_batch() - 1);
  test::store(*directory, one);
  test::write_all(*directory, segment_name(3), two.bytes());
  expect_damage(Row::s4, 3, 0);
}

// A segment with only a header begins with the same batch number as the next segment.
TEST_F(RecoveryTable, S4_ABrokenHeaderBehindASegmentWithoutABatchIsDamage) {
  two = Segment(2, one.next_batch(), one.seal());
  Segment three(3, one.next_batch(), two.seal());
  three.opening();
  three.bytes()[40] = static_cast<char>(three.bytes()[40] ^ 1);
  store_both();
  test::store(*directory, three);
  expect_damage(Row::s4, 3, 0);
}

TEST_F(RecoveryTable, S2_OnlyBlankFilesIsANewJournal) {
  test::write_all(*directory, segment_name(1), std::string(8192, '\0'));
  test::Recovery recovery(*directory);
  ASSERT_TRUE(recovery.ok()) << recovery.error();
  EXPECT_EQ(recovery.result->tail.next_segment, 1u);
  EXPECT_TRUE(names().empty());
}

// Three files that were never written. A failed sync loses random data; the syncs before it change
// which.
void make_blank_files(storage::Directory& root, storage::Faults& faults, int syncs_before) {
  for (int i = 0; i < syncs_before; ++i) {
    test::write_all(root, "other" + std::to_string(i), "");
    faults.arm({.fail_at = 1, .syncs_only = true});
    ASSERT_FALSE(root.sync());
    faults.disarm();
  }
  for (std::uint64_t segment = 1; segment <= 3; ++segment) {
    test::write_all(root, segment_name(segment), std::string(512, '\0'));
  }
  ASSERT_TRUE(root.sync());
}

// A call fails and stops recovery, and the process is killed. The same happens once more, then
// recovery must succeed. All pairs of calls are tried. A removal whose directory sync failed may be
// undone; then no earlier segment may be missing.
TEST_F(RecoveryTable, S2_BlankFilesGoWithoutAGapWhateverFails) {
  for (std::uint64_t i = 0; i < 12 * 12 * 4 * 4; ++i) {
    const std::uint64_t calls[] = {1 + i % 12, 1 + i / 12 % 12};
    const auto faults = std::make_shared<storage::Faults>();
    storage::VirtualDisk fragile(faults);
    make_blank_files(*fragile.root(), *faults, static_cast<int>(i / 144 % 4));
    for (const std::uint64_t call : calls) {
      faults->arm({.fail_at = call, .for_good = true});
      {
        const test::Recovery stopped(*fragile.root());
      }
      faults->disarm();
      fragile.kill(i / 576);
    }
    const test::Recovery recovery(*fragile.root());
    ASSERT_TRUE(recovery.ok()) << "calls " << calls[0] << " and " << calls[1] << ", case " << i
                               << ": " << recovery.error();
  }
}

TEST_F(RecoveryTable, S3_ATornHeaderOfTheNewestIsRemoved) {
  // One file ends within the header; the other is one sector of garbage.
  for (const std::string& torn : {two.bytes().substr(0, 60), std::string(512, '\x5A')}) {
    test::store(*directory, one);
    test::write_all(*directory, segment_name(2), torn);
    test::Recovery recovery(*directory);
    ASSERT_TRUE(recovery.ok()) << recovery.error();
    EXPECT_GT(recovery.result->report.torn_bytes, 0u);
    EXPECT_EQ(recovery.result->tail.next_segment, 2u);
    EXPECT_EQ(names(), std::vector<std::string>{segment_name(1)});
    expect_messages({1, 2});
  }
}

TEST_F(RecoveryTable, S3_BatchesBehindATornHeaderThatProveNothingGoWithIt) {
  // Policy 100ms: the header and two batches were written but not synced, and only the last sector
  // reached the disk.
  build(false);
  test::store(*directory, one);
  two.bytes().replace(0, at_c, std::string(at_c, '\0'));
  test::store(*directory, two);
  expect_messages({1, 2});
}

// Under policy os nothing orders the writes of two segments, so the older header may be the one
// that did not arrive.
TEST_F(RecoveryTable, S3_AnOlderHeaderMayBeTornIfNoLaterSealIsProven) {
  build(false);
  Segment three(3, two.next_batch(), two.seal(false));
  three.opening();
  two.bytes().replace(0, 512, std::string(512, '\0'));
  store_both();
  test::store(*directory, three);
  test::Recovery recovery(*directory);
  ASSERT_TRUE(recovery.ok()) << recovery.error();
  EXPECT_GT(recovery.result->report.torn_bytes, 0u);
  EXPECT_EQ(recovery.result->report.torn_segment, 2u);
  EXPECT_EQ(recovery.result->report.cut_batches, 1u) << "segment 3's opening";
  EXPECT_EQ(recovery.result->report.last_cut_segment, 3u);
  EXPECT_EQ(names(), std::vector<std::string>{segment_name(1)});
  expect_messages({1, 2});
}

TEST_F(RecoveryTable, S4_AnOlderTornHeaderIsDamageIfALaterSegmentProvesIt) {
  build(false);
  Segment three(3, two.next_batch(), two.seal(false));
  three.opening(1, 4);  // batch 4 opens segment 2
  two.bytes().replace(0, 512, std::string(512, '\0'));
  store_both();
  test::store(*directory, three);
  expect_damage(Row::s4_by_proof, 2, 0);
}

TEST_F(RecoveryTable, S4_ABrokenHeaderOfAnotherFileIsDamage) {
  one.bytes()[40] ^= 1;
  store_both();
  expect_damage(Row::s4_older, 1, 0);
}

TEST_F(RecoveryTable, S4_ABlankFileThatIsNotTheNewestIsDamage) {
  std::fill(one.bytes().begin(), one.bytes().end(), '\0');
  store_both();
  expect_damage(Row::s4_older, 1, 0);
}

TEST_F(RecoveryTable, S4_ABrokenHeaderOfTheNewestIsDamageIfItsFirstBatchChecks) {
  two = Segment(2, one.next_batch(), one.seal());
  two.opening();
  for (std::size_t at = 0; at < kSegmentHeaderBytes; ++at) {
    SCOPED_TRACE(at);
    Segment broken = two;
    broken.bytes()[at] ^= 1;
    test::store(*directory, one);
    test::store(*directory, broken);
    expect_damage(Row::s4, 2, 0);
  }
}

TEST_F(RecoveryTable, S4_ABrokenHeaderOfTheNewestIsDamageIfALaterBatchProvesIt) {
  // The first sector is gone, and the first batch with it. The second batch states that the first
  // one was durable.
  two.bytes().replace(0, at_c, std::string(at_c, '\x11'));
  store_both();
  expect_damage(Row::s4_by_proof, 2, 0);
  two.bytes().replace(0, at_c, std::string(at_c, '\0'));
  store_both();
  expect_damage(Row::s4_by_proof, 2, 0);
}

// A file is blank only if all of it reads as zeros, however long the zeros at its front are.
TEST_F(RecoveryTable, S4_AFrontOfZerosIsDamageIfALaterBatchProvesIt) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const std::string large(3 * kMiB, 'p');
  two.batch({put(3, 4, "d", large)}, 5);
  const std::uint64_t last = two.batch({put(4, 5, "e")}, 6);
  for (const std::size_t zeros : {kMiB - 4096, kMiB, kMiB + 4096, std::size_t{last}}) {
    SCOPED_TRACE(zeros);
    two.bytes().replace(0, zeros, std::string(zeros, '\0'));
    store_both();
    expect_damage(Row::s4_by_proof, 2, 0);
  }
}

TEST_F(RecoveryTable, S5_AMissingSegmentIsDamage) {
  Segment three(3, two.next_batch(), two.seal());
  three.opening();
  test::store(*directory, one);
  test::store(*directory, three);
  expect_missing(Row::s5, 2);
}

TEST_F(RecoveryTable, S5_AMissingOldestSegmentIsDamage) {
  test::store(*directory, two);
  expect_missing(Row::s5, 1);
}

TEST_F(RecoveryTable, S5_NothingButATornSegmentThatIsNotTheFirstIsDamage) {
  test::write_all(*directory, segment_name(2), "torn");
  expect_missing(Row::s5_before, 1);
}

TEST_F(RecoveryTable, S6_WhatIsBelowTheMarkIsIgnoredAndRemoved) {
  // Message 2 was copied into segment 2, message 1 is gone, then the mark was raised.
  PutRecord copy = put(1, 2, "b");
  copy.copy = true;
  two.batch({GoneRecord{GoneWhy::acked, 0, {Ref{0, 1}}}, copy, MarksRecord{4, 2}}, 5);
  one.bytes()[at_b + 60] ^= 1;  // nobody looks any more
  store_both();
  expect_messages({2, 3}, {Row::s6});
  EXPECT_EQ(names(), std::vector<std::string>{segment_name(2)});
}

// The mark's batch is only in the system's cache when the process dies. Until it is written again
// and synced, the old segment may be all there is.
TEST_F(RecoveryTable, S6_NothingIsRemovedBeforeTheMarkIsDurable) {
  PutRecord copy = put(1, 2, "b");
  copy.copy = true;
  two.batch({GoneRecord{GoneWhy::acked, 0, {Ref{0, 1}}}, copy, MarksRecord{4, 2}}, 5);
  store_both();
  auto faults = std::make_shared<storage::Faults>();
  storage::FaultyDirectory faulty(disk.root(), faults);
  for (std::uint64_t call = 1;; ++call) {
    faults->arm({.fail_at = call});
    test::Recovery recovery(faulty);
    if (faults->failed() == 0) break;
    EXPECT_FALSE(recovery.ok());
    const bool before_the_sync = faults->first_failed().starts_with("write_at") ||
                                 faults->first_failed().starts_with("sync_data");
    EXPECT_TRUE(!before_the_sync || test::has(*directory, segment_name(1)));
  }
  EXPECT_FALSE(test::has(*directory, segment_name(1)));
}

// Policy os: the newest segment holds a mark, but the one before it is torn, so the mark is cut
// too. The segments that the mark would have released are still needed.
TEST_F(RecoveryTable, S6_AMarkThatIsCutAwayCountsForNothing) {
  build(false);
  PutRecord copy = put(0, 1, "a");
  copy.copy = true;
  const std::uint64_t torn = two.batch({copy});
  Segment three(3, two.next_batch(), two.seal(false));
  three.opening(2);
  two.bytes()[torn + 60] ^= 1;
  store_both();
  test::store(*directory, three);
  expect_messages({1, 2, 3}, {Row::b4, Row::b4_later});
  EXPECT_EQ(names(), (std::vector<std::string>{segment_name(1), segment_name(2)}));
}

TEST_F(RecoveryTable, S6_TheSecondSegmentMayBeTornInItsFirstBatchAndKnowNoMark) {
  Segment torn(3, two.next_batch(), two.seal());
  torn.opening(2);
  torn.bytes().resize(torn.bytes().size() - 9);
  two.batch({GoneRecord{GoneWhy::acked, 0, {Ref{0, 1}, Ref{1, 2}}}, MarksRecord{4, 2}}, 5);
  torn.header().seal = two.seal();
  torn.header().first_batch = two.next_batch();
  torn.rewrite_header();
  store_both();
  test::store(*directory, torn);
  expect_messages({3}, {Row::s6_by_replay});
  EXPECT_EQ(names(), (std::vector<std::string>{segment_name(2), segment_name(3)}));
}

// Only replay shows the mark, and below it there are messages that were never copied.
TEST_F(RecoveryTable, R1_MessagesLeftBelowTheMarkAreDamage) {
  two.batch({MarksRecord{4, 2}}, 5);
  Segment torn(3, two.next_batch(), two.seal());
  torn.opening(2);
  torn.bytes().resize(torn.bytes().size() - 9);
  store_both();
  test::store(*directory, torn);
  expect_damage(Row::r1_left_below, 1, 0);
}

// With the mark that recovery and the committer leave, missing data is known to have existed.
TEST_F(RecoveryTable, S4_TheOnlySegmentWithoutAHeaderIsDamageIfItHasBegun) {
  const std::string bytes = one.bytes();
  std::string garbage = bytes;
  for (char& c : garbage) c = static_cast<char>(c * 7 + 13);
  for (const std::string& instead :
       {std::string(), std::string(bytes.size(), '\0'), garbage, std::string("somebody's")}) {
    test::write_all(*directory, segment_name(1), bytes);
    expect_messages({1, 2});
    test::write_all(*directory, segment_name(1), instead);
    expect_damage(Row::s4_begun, 1, 0);
  }
}

TEST_F(RecoveryTable, S4_ANewestSegmentOfZerosIsDamageIfItHasBegun) {
  store_both();
  expect_messages({1, 2, 3});
  test::write_all(*directory, segment_name(2), std::string(two.bytes().size(), '\0'));
  expect_damage(Row::s4_begun, 2, 0);
}

TEST_F(RecoveryTable, S5_AMissingNewestSegmentIsDamageIfItHasBegun) {
  store_both();
  expect_messages({1, 2, 3});
  ASSERT_TRUE(directory->remove(segment_name(2)));
  expect_missing(Row::s5_begun, 2);
  ASSERT_TRUE(directory->remove(segment_name(1)));
  expect_missing(Row::s5_begun, 2);
}

TEST_F(RecoveryTable, B5_AFirstBatchThatDoesNotCheckIsDamageIfItHasBegun) {
  test::store(*directory, one);
  expect_messages({1, 2});
  std::string bytes = one.bytes();
  std::fill(bytes.begin() + kSegmentHeaderBytes, bytes.end(), '\0');
  test::write_all(*directory, segment_name(1), bytes);
  expect_damage(Row::b5, 1, kSegmentHeaderBytes);
}

// The header alone proves nothing of a batch that was never written.
TEST_F(RecoveryTable, B6_AHeaderAloneHasNotBegun) {
  two = Segment(2, one.next_batch(), one.seal());
  store_both();
  expect_messages({1, 2});
  EXPECT_EQ(begun_in(directory->list().value()), 1u);
}

// A power failure may leave several marks after a rename.
TEST_F(RecoveryTable, S5_OfSeveralMarksTheHighestCounts) {
  store_both();
  for (const std::uint64_t segment : {std::uint64_t{1}, std::uint64_t{2}}) {
    test::write_all(*directory, begun_name(segment), "");
  }
  expect_messages({1, 2, 3});
  ASSERT_TRUE(directory->remove(segment_name(2)));
  expect_missing(Row::s5_begun, 2);
}

TEST_F(RecoveryTable, S7_ANewerVersionIsRefused) {
  two.header().version = kFormatVersion + 1;
  two.rewrite_header();
  store_both();
  test::Recovery recovery(*directory);
  EXPECT_EQ(recovery.code(), ErrorCode::unsupported);
  EXPECT_TRUE(recovery.took(Row::s7_newer));
  EXPECT_NE(recovery.error().find(segment_name(2) + " is of format version 3"), std::string::npos)
      << recovery.error();
}

TEST_F(RecoveryTable, S7_AnotherStoresSegmentIsRefused) {
  const SegmentHeader good = two.header();
  for (int field = 0; field < 3; ++field) {
    two.header() = good;
    if (field == 0) two.header().store_id ^= 1;
    if (field == 1) two.header().shard = 1;
    if (field == 2) two.header().segment = 3;
    two.rewrite_header();
    test::store(*directory, one);
    test::write_all(*directory, segment_name(2), two.bytes());
    expect_damage(Row::s7, 2, 0);
  }
}

}  // namespace
}  // namespace tarry::embedded
