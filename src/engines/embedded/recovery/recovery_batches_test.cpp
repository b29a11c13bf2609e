// The rows B and R of the table in recovery_rows.h, each by its name; and how replay treats leases,
// delays and queues.
#include <gtest/gtest.h>

#include "support/embedded/recovery_table.h"

namespace tarry::embedded {
namespace {

using test::put;
using test::Segment;
using RecoveryTable = test::RecoveryTable;

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
  // The rest of the file was allocated and never written, or holds what a crashed run left.
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
  expect_damage(Row::b3, 1, at_b);
}

TEST_F(RecoveryTable, B3_ACutSegmentWithinAProvenSealIsDamage) {
  one.bytes().resize(at_b);
  store_both();
  expect_damage(Row::b3, 1, at_b);
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

// Intact batches that are cut are counted, in the torn segment and in the later ones.
TEST_F(RecoveryTable, B4_TellsOfTheGoodBatchesThatGoWithIt) {
  build(false);
  one.bytes()[at_b + 70] ^= 1;
  two = Segment(2, one.next_batch(), one.seal(false));
  two.opening();
  two.batch({put(2, 3, "c")});
  const std::uint64_t bad = two.batch({put(3, 4, "d")});
  two.batch({put(4, 5, "e")});
  two.bytes()[bad + 60] ^= 1;
  store_both();
  for (const bool read_only : {true, false}) {
    const test::Recovery recovery(*directory, read_only);
    ASSERT_TRUE(recovery.ok()) << recovery.error();
    const RecoveryReport& report = recovery.result->report;
    EXPECT_EQ(report.torn_segment, 1u);
    EXPECT_EQ(report.torn_offset, at_b);
    EXPECT_EQ(report.cut_batches, 3u);
    EXPECT_EQ(report.last_cut_segment, 2u);
    EXPECT_EQ(describe_tear(report),
              "a torn tail of " + std::to_string(report.torn_bytes) +
                  " bytes from 0000000001.seg offset " + std::to_string(at_b) +
                  " on, and with it 3 batches behind it that check, up to 0000000002.seg: "
                  "acknowledged to nobody with sync=always, but perhaps with sync=100ms or os");
  }
  EXPECT_EQ(test::Recovery(*directory).result->report.cut_batches, 0u) << "they are gone";
}

TEST_F(RecoveryTable, B4_IsDamageIfALaterSegmentProvesIt) {
  build(false);
  two.batch({MarksRecord{4, 1}}, 3);
  one.bytes()[at_b + 70] ^= 1;
  store_both();
  expect_damage(Row::b4_proven, 1, at_b);
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
  expect_damage(Row::b5, 2, at_c);
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

TEST_F(RecoveryTable, B6_TellsOfTheGoodBatchesThatGoWithIt) {
  two.bytes()[at_c + 60] ^= 1;
  store_both();
  const RecoveryReport alone = test::Recovery(*directory, true).result->report;
  EXPECT_EQ(alone.cut_batches, 0u);
  EXPECT_EQ(describe_tear(alone).find("behind it"), std::string::npos);
  two.batch({put(3, 4, "d")});
  store_both();
  const RecoveryReport report = test::Recovery(*directory).result->report;
  EXPECT_EQ(report.torn_segment, 2u);
  EXPECT_EQ(report.torn_offset, at_c);
  EXPECT_EQ(report.cut_batches, 1u);
  EXPECT_EQ(report.last_cut_segment, 2u);
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
  expect_damage(Row::r1, 2, batch + kBatchHeaderBytes + encoded_size(MarksRecord{4, 1}));
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
           // the message is in queue 0, not 1
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
    const bool is_mark = std::holds_alternative<MarksRecord>(record);  // marks are read earlier
    expect_damage(is_mark ? Row::r1_above : Row::r1_contradicts, 2, batch + kBatchHeaderBytes);
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

// A lease begins when its claim is durable: the copy records that moment, the claim does not.
// Otherwise the lease would end at another time once the original is gone.
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
