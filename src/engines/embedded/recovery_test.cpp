// One test for each row of the decision table in recovery.h, by its name, and what recovery owes
// besides.
#include "engines/embedded/recovery.h"

#include <gtest/gtest.h>

#include "engines/embedded/test_journal.h"
#include "storage/faulty_storage.h"

namespace tarry::embedded {
namespace {

using test::put;
using test::Segment;

class RecoveryTable : public testing::Test {
 protected:
  // Messages 1 and 2 in segment 1, closed and sealed by segment 2, which holds message 3.
  RecoveryTable() { build(true); }

  void build(bool proven) {
    one = Segment(1);
    one.opening();
    one.batch({put(0, 1, "a")}, 1);
    at_b = one.batch({put(1, 2, "b")}, 2);
    two = Segment(2, one.next_batch(), one.seal(proven));
    two.opening(1, proven ? 3 : 0);
    at_c = two.batch({put(2, 3, "c")}, proven ? 4 : 0);
  }

  void store_both() {
    test::store(*directory, one);
    test::store(*directory, two);
  }

  std::vector<std::string> names() { return directory->list().value(); }

  // What a refusal owes: code, file, offset, and files that are as they were.
  void expect_damage(std::uint64_t segment, std::uint64_t offset) {
    std::map<std::string, std::string> before;
    for (const std::string& name : names()) before[name] = test::read_all(*directory, name);
    test::Recovery recovery(*directory);
    EXPECT_EQ(recovery.code(), ErrorCode::damaged);
    EXPECT_NE(recovery.error().find(segment_name(segment) + " offset " + std::to_string(offset)),
              std::string::npos)
        << recovery.error();
    std::map<std::string, std::string> after;
    for (const std::string& name : names()) after[name] = test::read_all(*directory, name);
    EXPECT_TRUE(before == after) << "files were changed";
  }

  // Recovers, then again what that left: the same both times.
  void expect_messages(const std::vector<std::uint64_t>& ids) {
    for (int round = 0; round < 2; ++round) {
      test::Recovery recovery(*directory);
      ASSERT_TRUE(recovery.ok()) << recovery.error();
      std::vector<std::uint64_t> found;
      for (Handle handle = 0; handle < recovery.state.slab.end(); ++handle) {
        if (recovery.state.slab.is_live(handle)) found.push_back(recovery.state.slab[handle].id);
      }
      EXPECT_EQ(found, ids) << "round " << round;
    }
  }

  storage::MemoryDisk disk;
  std::unique_ptr<storage::Directory> directory = disk.root();
  Segment one{1};
  Segment two{2};
  std::uint64_t at_b = 0;
  std::uint64_t at_c = 0;
};

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

TEST_F(RecoveryTable, S2_OnlyBlankFilesIsANewJournal) {
  test::write_all(*directory, segment_name(1), std::string(8192, '\0'));
  test::Recovery recovery(*directory);
  ASSERT_TRUE(recovery.ok()) << recovery.error();
  EXPECT_EQ(recovery.result->tail.next_segment, 1u);
  EXPECT_TRUE(names().empty());
}

TEST_F(RecoveryTable, S3_ATornHeaderOfTheNewestIsRemoved) {
  // Cut in the header, and: the first sector garbage, nothing behind it.
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
  // Policy 100ms: header and two batches written, none synced, only the last sector arrived.
  build(false);
  test::store(*directory, one);
  two.bytes().replace(0, at_c, std::string(at_c, '\0'));
  test::store(*directory, two);
  expect_messages({1, 2});
}

// Policy os: nothing orders the two, so the older header may be the one that did not arrive.
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
  expect_damage(2, 0);
}

TEST_F(RecoveryTable, S4_ABrokenHeaderOfAnotherFileIsDamage) {
  one.bytes()[40] ^= 1;
  store_both();
  expect_damage(1, 0);
}

TEST_F(RecoveryTable, S4_ABlankFileThatIsNotTheNewestIsDamage) {
  std::fill(one.bytes().begin(), one.bytes().end(), '\0');
  store_both();
  expect_damage(1, 0);
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
    expect_damage(2, 0);
  }
}

TEST_F(RecoveryTable, S4_ABrokenHeaderOfTheNewestIsDamageIfALaterBatchProvesIt) {
  // The first sector is gone, first batch included; the second batch knew the first one durable.
  two.bytes().replace(0, at_c, std::string(at_c, '\x11'));
  store_both();
  expect_damage(2, 0);
  two.bytes().replace(0, at_c, std::string(at_c, '\0'));
  store_both();
  expect_damage(2, 0);
}

TEST_F(RecoveryTable, S5_AMissingSegmentIsDamage) {
  Segment three(3, two.next_batch(), two.seal());
  three.opening();
  test::store(*directory, one);
  test::store(*directory, three);
  test::Recovery recovery(*directory);
  EXPECT_EQ(recovery.code(), ErrorCode::damaged);
  EXPECT_NE(recovery.error().find(segment_name(2) + " is missing"), std::string::npos)
      << recovery.error();
}

TEST_F(RecoveryTable, S5_AMissingOldestSegmentIsDamage) {
  test::store(*directory, two);
  test::Recovery recovery(*directory);
  EXPECT_EQ(recovery.code(), ErrorCode::damaged);
  EXPECT_NE(recovery.error().find(segment_name(1) + " is missing"), std::string::npos)
      << recovery.error();
}

TEST_F(RecoveryTable, S5_NothingButATornSegmentThatIsNotTheFirstIsDamage) {
  test::write_all(*directory, segment_name(2), "torn");
  test::Recovery recovery(*directory);
  EXPECT_EQ(recovery.code(), ErrorCode::damaged);
  EXPECT_NE(recovery.error().find(segment_name(1) + " is missing"), std::string::npos)
      << recovery.error();
}

TEST_F(RecoveryTable, S6_WhatIsBelowTheMarkIsIgnoredAndRemoved) {
  // Message 2 was copied into segment 2, message 1 is gone, then the mark was raised.
  PutRecord copy = put(1, 2, "b");
  copy.copy = true;
  two.batch({GoneRecord{GoneWhy::acked, 0, {Ref{0, 1}}}, copy, MarksRecord{4, 2}}, 5);
  one.bytes()[at_b + 60] ^= 1;  // nobody looks any more
  store_both();
  expect_messages({2, 3});
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

// Policy os: the newest segment holds a mark, but its predecessor is torn before that, so the mark
// goes with the rest; what it would have let go is needed.
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
  expect_messages({1, 2, 3});
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
  expect_messages({3});
  EXPECT_EQ(names(), (std::vector<std::string>{segment_name(2), segment_name(3)}));
}

TEST_F(RecoveryTable, S7_ANewerVersionIsRefused) {
  two.header().version = kFormatVersion + 1;
  two.rewrite_header();
  store_both();
  test::Recovery recovery(*directory);
  EXPECT_EQ(recovery.code(), ErrorCode::unsupported);
  EXPECT_NE(recovery.error().find(segment_name(2) + " is of format version 2"), std::string::npos)
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
    expect_damage(2, 0);
  }
}

TEST_F(RecoveryTable, B1_GoodBatchesAreReplayed) {
  store_both();
  test::Recovery recovery(*directory);
  ASSERT_TRUE(recovery.ok()) << recovery.error();
  const RecoveryReport& report = recovery.result->report;
  EXPECT_EQ(report.segments, 2u);
  EXPECT_EQ(report.batches, 5u);
  EXPECT_EQ(report.records, 9u);
  EXPECT_EQ(report.bytes, one.bytes().size() + two.bytes().size());
  EXPECT_EQ(report.torn_bytes, 0u);
  EXPECT_FALSE(report.clean);
  EXPECT_EQ(report.last_realtime_ms, timing::ManualClock::kStart.realtime_ms);
  EXPECT_EQ(recovery.result->tail.next_batch, 6u);
  EXPECT_EQ(recovery.result->tail.next_segment, 3u);
  EXPECT_EQ(recovery.state.queue(0).counters.accepted, 1u) << "since the last opening";
  expect_messages({1, 2, 3});
}

TEST_F(RecoveryTable, B1_ARecordOfACleanEndIsSeen) {
  two.batch({ClosedRecord{}}, 5);
  store_both();
  EXPECT_TRUE(test::Recovery(*directory).result->report.clean);
}

TEST_F(RecoveryTable, B2_TheSealSaysWhereASegmentEnds) {
  // Allocated and never written; and what a crashed predecessor of this process may have left.
  for (const std::string& rest : {std::string(4096, '\0'), std::string(100, '\x77')}) {
    Segment longer = one;
    longer.bytes() += rest;
    test::store(*directory, longer);
    test::store(*directory, two);
    expect_messages({1, 2, 3});
  }
}

TEST_F(RecoveryTable, B3_ABadBatchWithinAProvenSealIsDamage) {
  one.bytes()[at_b + 70] ^= 1;
  store_both();
  expect_damage(1, at_b);
}

TEST_F(RecoveryTable, B3_ACutSegmentWithinAProvenSealIsDamage) {
  one.bytes().resize(at_b);
  store_both();
  expect_damage(1, at_b);
}

TEST_F(RecoveryTable, B4_ABadBatchBeforeAnUnprovenSealIsATornTail) {
  build(false);
  one.bytes()[at_b + 70] ^= 1;
  store_both();
  test::Recovery recovery(*directory);
  ASSERT_TRUE(recovery.ok()) << recovery.error();
  EXPECT_GT(recovery.result->report.torn_bytes, 0u);
  EXPECT_EQ(recovery.result->tail.next_segment, 2u);
  EXPECT_EQ(recovery.result->tail.next_batch, 3u);
  EXPECT_EQ(names(), std::vector<std::string>{segment_name(1)});
  EXPECT_EQ(test::read_all(*directory, segment_name(1)).size(), at_b);
  expect_messages({1});
}

TEST_F(RecoveryTable, B4_IsDamageIfALaterSegmentProvesIt) {
  build(false);
  two.batch({MarksRecord{4, 1}}, 3);
  one.bytes()[at_b + 70] ^= 1;
  store_both();
  expect_damage(1, at_b);
}

TEST_F(RecoveryTable, B5_ABadBatchThatALaterOneProvesIsDamage) {
  const std::uint64_t last = two.batch({put(3, 4, "d")}, 5);
  const std::uint64_t covered = at_c + kBatchHeaderBytes + encoded_size(put(2, 3, "c"));
  ASSERT_LT(covered, last) << "some padding, please";
  for (std::size_t at = at_c; at < last; ++at) {
    SCOPED_TRACE(at);
    Segment broken = two;
    broken.bytes()[at] ^= 0x10;
    test::store(*directory, one);
    test::store(*directory, broken);
    test::Recovery recovery(*directory, true);
    EXPECT_EQ(recovery.ok(), at >= covered);
    if (!recovery.ok()) {
      EXPECT_EQ(recovery.code(), ErrorCode::damaged);
    } else {  // padding, which nobody needs
      EXPECT_TRUE(recovery.holds(2, 3) && recovery.holds(3, 4));
    }
  }
  two.bytes()[at_c + 8] ^= 1;
  store_both();
  expect_damage(2, at_c);
}

TEST_F(RecoveryTable, B6_ABadBatchThatNothingProvesIsATornTail) {
  for (const bool zeroed : {false, true}) {
    for (std::size_t cut = at_c; cut < two.bytes().size(); ++cut) {
      SCOPED_TRACE(cut);
      Segment torn = two;
      torn.bytes().resize(cut);
      if (zeroed) torn.bytes().resize(two.bytes().size());
      const std::size_t covered = two.bytes().find_last_not_of('\0') + 1;
      test::store(*directory, one);
      test::store(*directory, torn);
      test::Recovery recovery(*directory);
      ASSERT_TRUE(recovery.ok()) << recovery.error();
      EXPECT_TRUE(recovery.holds(0, 1) && recovery.holds(1, 2));
      // A batch that lacks only its padding is whole.
      EXPECT_EQ(recovery.holds(2, 3), cut >= covered);
      if (recovery.holds(2, 3)) continue;
      EXPECT_EQ(test::read_all(*directory, segment_name(2)).size(), at_c);
      EXPECT_EQ(recovery.result->tail.next_batch, 5u);
    }
  }
}

TEST_F(RecoveryTable, B6_ATornFirstBatchLeavesTheHeader) {
  two.bytes().resize(kSegmentHeaderBytes + 20);
  store_both();
  expect_messages({1, 2});
  EXPECT_EQ(test::read_all(*directory, segment_name(2)).size(), kSegmentHeaderBytes);
}

TEST_F(RecoveryTable, R1_ARecordThatDoesNotDecodeIsDamage) {
  const std::uint64_t batch = two.bytes().size();
  DueRecord bad{Ref{0, 1}, 0, -1, 0, false, {}};  // a due time before 1970
  two.batch({MarksRecord{4, 1}, bad}, 5);
  store_both();
  expect_damage(2, batch + kBatchHeaderBytes + encoded_size(MarksRecord{4, 1}));
}

TEST_F(RecoveryTable, R1_ARecordThatContradictsTheStateIsDamage) {
  const Segment good = two;
  PutRecord other_queue = put(0, 1, "a");
  other_queue.queue = 1;
  PutRecord unknown_queue = put(7, 9, "x");
  unknown_queue.queue = 2;
  PutRecord ready = put(7, 9, "x");
  ready.carried.emplace();
  ready.carried->stage = Stage::ready;
  PutRecord boundless = put(7, 9, "x");
  boundless.boot_due_ms = INT64_MIN;
  PutRecord leased = put(7, 9, "x");
  leased.carried.emplace();
  leased.carried->stage = Stage::leased;
  leased.carried->stamp_ms = INT64_MAX;
  QueueRecord endless = test::queue(1, "r");
  endless.settings.dead_keep = Millis(INT64_MAX);
  for (const Record& record : std::initializer_list<Record>{
           put(0, 99, "x"),                           // the place is taken
           other_queue,                               // a message changed its queue
           unknown_queue,                             //
           ready,                                     // ready is no state of a record
           test::queue(0, "another name"),            //
           test::queue(5, "number out of order"),     //
           DueRecord{Ref{0, 1}, 3, 1, 0, false, {}},  // unknown queues
           ClaimedRecord{3, 1, 1, {}},                //
           BackRecord{BackWhy::retry, Ref{0, 1}, 3, 1, 1, 1, {}},
           GoneRecord{GoneWhy::acked, 3, {Ref{0, 1}}},  //
           RememberedRecord{Ending::acked, 3, 1, 2, {Ref{0, 1}}},
           DeadRecord{DeadWhy::buried, Ref{0, 1}, 3, 1, 2, 3, ""},
           // of the queue 0, not 1
           DueRecord{Ref{0, 1}, 1, 1, 0, false, {}}, ClaimedRecord{1, 1, 1, {{Ref{0, 1}, 1, 1}}},
           BackRecord{BackWhy::retry, Ref{0, 1}, 1, 1, 1, 1, {}},
           GoneRecord{GoneWhy::acked, 1, {Ref{0, 1}}},  //
           RememberedRecord{Ending::acked, 1, 1, 2, {Ref{0, 1}}},
           DeadRecord{DeadWhy::buried, Ref{0, 1}, 1, 1, 2, 3, ""}, StoppingRecord{1, Ref{0, 1}},  //
           LeaseRecord{1, Ref{0, 1}, 1, 1},                                                       //
           test::queue(2, "r"),                 // one name twice
           endless, boundless, leased,          // times without end
           ClaimedRecord{0, 1, INT64_MAX, {}},  //
           LeaseRecord{0, Ref{0, 1}, 1, INT64_MIN},
           MarksRecord{4, 3}}) {  // above the newest segment
    SCOPED_TRACE(record.index());
    two = good;
    const std::uint64_t queue_batch = two.batch({test::queue(1, "r")}, 5);
    ASSERT_GT(queue_batch, 0u);
    const std::uint64_t batch = two.batch({record}, 6);
    store_both();
    expect_damage(2, batch + kBatchHeaderBytes);
  }
}

// Records of messages that a later full record has superseded, or that went with a cleaned segment.
TEST_F(RecoveryTable, R1_RecordsOfMessagesThatAreGoneChangeCountersOnly) {
  const Ref nobody{500, 77};
  two.batch({DueRecord{nobody, 0, 1, 0, false, {}}, ClaimedRecord{0, 1, 1, {{nobody, 1, 1}}},
             BackRecord{BackWhy::release, nobody, 0, 1, 1, 1, {}},
             RememberedRecord{Ending::acked, 0, 1, 2, {nobody}},
             DeadRecord{DeadWhy::buried, nobody, 0, 1, 2, 3, "x"}, StoppingRecord{0, nobody},
             LeaseRecord{0, nobody, 1, 1}, GoneRecord{GoneWhy::cancelled, 0, {nobody}}},
            5);
  store_both();
  test::Recovery recovery(*directory);
  ASSERT_TRUE(recovery.ok()) << recovery.error();
  const QueueCounters& counters = recovery.state.queue(0).counters;
  EXPECT_EQ(counters.reschedules, 1u);
  EXPECT_EQ(counters.claims, 1u);
  EXPECT_EQ(counters.releases, 1u);
  EXPECT_EQ(counters.acked, 1u);
  EXPECT_EQ(counters.buries, 1u);
  EXPECT_EQ(counters.cancelled, 1u);
  EXPECT_EQ(recovery.state.pending(), 3u);
}

TEST_F(RecoveryTable, T1_WhatNothingProvesIsWrittenAgainAndSyncedFirst) {
  store_both();
  auto faults = std::make_shared<storage::Faults>();
  storage::FaultyDirectory faulty(disk.root(), faults);
  // The last batch never proves itself: one write, one sync, then the directory's.
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

// What is found on a disk that fails to read is not damage: the operator should look at the disk.
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
  options.progress = [&](std::uint64_t bytes) { told += bytes; };
  ASSERT_TRUE(recover(*directory, files, state, options));
  EXPECT_EQ(told, journal_bytes(*directory).value());
}

// -- what replay makes of leases, delays and queues

TEST_F(RecoveryTable, LeasesGoOnWithinABootAndBeginAnewAfterAnother) {
  const std::int64_t until = timing::ManualClock::kStart.boottime_ms + 20'000;
  two.batch({ClaimedRecord{0, until, 30'000, {{Ref{0, 1}, 1, 1}}}}, 5);
  store_both();
  test::Recovery same(*directory);
  ASSERT_TRUE(same.ok()) << same.error();
  EXPECT_EQ(same.state.histories[same.state.slab[0].history].until_ms, until);
  const timing::Instant later{timing::ManualClock::kStart.realtime_ms + 5'000, 1'000};
  test::Recovery other(*directory, false, 2, later);
  ASSERT_TRUE(other.ok()) << other.error();
  EXPECT_EQ(other.state.histories[other.state.slab[0].history].until_ms, 1'000 + 30'000);
}

// A lease begins when its claim is durable: the copy knows that, the claim does not. Else it would
// end otherwise once the original is gone.
TEST_F(RecoveryTable, AtACopyALeaseEndsAsTheCopySays) {
  const std::int64_t until = timing::ManualClock::kStart.boottime_ms + 20'000;
  PutRecord copy = put(0, 1, "a");
  copy.copy = true;
  copy.carried = Carried{};
  copy.carried->stage = Stage::leased;
  copy.carried->attempt = copy.carried->tallies.claims = 1;
  copy.carried->until_ms = until + 4'000;
  copy.carried->stamp_ms = 30'000;
  two.batch({ClaimedRecord{0, until, 30'000, {{Ref{0, 1}, 1, 1}}}, copy}, 5);
  store_both();
  const auto end = [](const test::Recovery& recovery) {
    return recovery.state.histories[recovery.state.slab[0].history].until_ms;
  };
  const test::Recovery with_original(*directory);
  ASSERT_TRUE(with_original.ok()) << with_original.error();
  EXPECT_EQ(end(with_original), until + 4'000);
  two.batch({GoneRecord{GoneWhy::acked, 0, {Ref{1, 2}}}, MarksRecord{4, 2}}, 6);
  store_both();
  const test::Recovery without(*directory);
  ASSERT_TRUE(without.ok()) << without.error();
  EXPECT_EQ(names(), std::vector<std::string>{segment_name(2)});
  EXPECT_EQ(end(without), until + 4'000);
}

TEST_F(RecoveryTable, BootTimesOfAnotherBootMeanNothing) {
  PutRecord delayed = put(3, 4, "d");
  delayed.boot_due_ms = 9'000'000;
  two.batch({delayed}, 5);
  store_both();
  test::Recovery same(*directory);
  ASSERT_TRUE(same.ok()) << same.error();
  EXPECT_EQ(same.state.boot_due_ms(same.state.slab[3]), 9'000'000);
  test::Recovery other(*directory, false, 2);
  EXPECT_EQ(other.state.boot_due_ms(other.state.slab[3]), std::nullopt);
  EXPECT_EQ(other.state.slab[3].due_ms(), delayed.due_ms) << "REALTIME stands";
}

}  // namespace
}  // namespace tarry::embedded
