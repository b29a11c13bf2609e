#include "engines/embedded/journal/journal.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "storage/memory_storage.h"
#include "support/disks/faulty_storage.h"
#include "support/embedded/journal.h"

namespace tarry::embedded {
namespace {

using test::put;

class JournalTest : public testing::Test {
 protected:
  JournalTest() { open(64 * 1024); }

  void open(std::uint64_t segment_bytes, SyncPolicy policy = SyncPolicy::always,
            JournalTail tail = {}) {
    journal.reset();
    committer = std::make_unique<Committer>(policy, *directory, files, clock);
    committer->start_at(tail.next_batch - 1, tail.begun);
    Journal::Config config;
    config.store_id = test::kStoreId;
    config.hash_seed = test::kHashSeed;
    config.segment_bytes = segment_bytes;
    config.policy = policy;
    journal = std::make_unique<Journal>(
        config, *directory, files, *committer, std::move(tail), [this](std::string& out) {
          append_record(out, Record(test::clock_record()));
          append_record(out, Record(MarksRecord{1, 1}));
          for (std::uint32_t i = 0; i < queues; ++i) {
            append_record(out, Record(test::queue(i, queue_name(i))));
          }
        });
  }

  static const std::string& queue_name(std::uint32_t number) {
    static std::map<std::uint32_t, std::string> names;
    std::string& name = names[number];
    if (name.empty()) name = "queue-" + std::to_string(number);
    return name;
  }

  RecordPlace append(const PutRecord& record) {
    const std::uint64_t size = encoded_size(record);
    EXPECT_TRUE(journal->ensure_room(size, size, 0));
    return journal->append(record);
  }

  std::vector<std::shared_ptr<const SealedBatch>> commit() {
    CommitJob job;
    job.batches = journal->take(clock.now().realtime_ms);
    auto batches = job.batches;
    committer->run(std::move(job));
    EXPECT_FALSE(committer->failed());
    return batches;
  }

  // Opens the journal again, as the next start does.
  void open_again(std::uint64_t segment_bytes = 64 * 1024) {
    const test::Recovery recovery(*directory);
    ASSERT_TRUE(recovery.ok()) << recovery.error();
    for (const SegmentInfo& segment : recovery.result->tail.segments) {
      files.add(segment.number, recovery.files.get(segment.number));
    }
    open(segment_bytes, SyncPolicy::always, recovery.result->tail);
  }

  void fill_two_segments() {
    for (; journal->closed().empty(); ++next_id) {
      append(put(next_id, next_id, "key", std::string(1000, 'p')));
    }
    commit();
  }

  // The files' contents, read as a restart would.
  std::unique_ptr<test::Recovery> recovered() {
    auto recovery = std::make_unique<test::Recovery>(*directory, true);
    EXPECT_TRUE(recovery->ok()) << recovery->error();
    return recovery;
  }

  std::vector<Record> records_of(const SealedBatch& batch) {
    std::vector<Record> records;
    const auto header = guess_batch_header(batch.bytes);
    std::string_view body =
        std::string_view(batch.bytes).substr(kBatchHeaderBytes, header->body_bytes);
    while (!body.empty()) records.push_back(take_record(body).value());
    return records;
  }

  storage::MemoryDisk disk;
  std::unique_ptr<storage::Directory> directory = disk.root();
  SegmentFiles files;
  timing::ManualClock clock;
  std::uint32_t queues = 1;
  Handle next_id = 1;
  std::unique_ptr<Committer> committer;
  std::unique_ptr<Journal> journal;
};

TEST_F(JournalTest, MakesNothingBeforeItIsNeeded) {
  EXPECT_TRUE(test::segments_in(*directory).empty());
  EXPECT_TRUE(journal->take(0).empty());
  EXPECT_EQ(journal->disk_bytes(), 0u);
  EXPECT_FALSE(journal->fits(1));
}

TEST_F(JournalTest, TheFirstSegmentOpensWithWhatTheShardSays) {
  append(put(0, 1, "a"));
  const auto batches = commit();
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(decode_segment_header(batches[0]->segment_header).state, HeaderState::valid);
  const auto records = records_of(*batches[0]);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_TRUE(std::holds_alternative<ClockRecord>(records[0]));
  EXPECT_TRUE(std::holds_alternative<MarksRecord>(records[1]));
  EXPECT_TRUE(std::holds_alternative<QueueRecord>(records[2]));
  EXPECT_TRUE(std::holds_alternative<PutRecord>(records[3]));
  EXPECT_TRUE(recovered()->holds(0, 1));
}

TEST_F(JournalTest, APositionCanBeReadAtEveryStageOfItsLife) {
  const auto place = append(put(0, 1, "a", "first"));
  const auto expect_there = [&] {
    auto read = journal->read(place);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->payload, "first");
    EXPECT_EQ(read->key, "a");
  };
  expect_there();  // in the open batch
  CommitJob job;
  job.batches = journal->take(1);
  expect_there();  // sealed, not written
  append(put(1, 2, "b"));
  expect_there();
  committer->run(std::move(job));
  expect_there();  // written
  commit();
  expect_there();
}

TEST_F(JournalTest, AWrittenBatchIsNotKept) {
  append(put(0, 1, "a"));
  std::weak_ptr<const SealedBatch> batch = commit().at(0);
  append(put(1, 2, "b"));
  commit();
  EXPECT_TRUE(batch.expired());
}

TEST_F(JournalTest, ReadingWhereNoMessageIsIsDamage) {
  const auto place = append(put(0, 1, "a"));
  commit();
  const Position wrong(place.segment, place.position.offset() + 8, 64);
  const auto read = journal->read({place.segment, wrong});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::damaged);
  EXPECT_NE(read.error().message.find(segment_name(1)), std::string::npos) << read.error().message;
  EXPECT_EQ(journal->read({99, place.position}).error().code, ErrorCode::damaged);
}

TEST_F(JournalTest, RollsIntoTheNextSegmentAndSealsTheOneBefore) {
  const std::string payload(1000, 'p');
  std::vector<RecordPlace> places;
  for (std::uint64_t id = 1; id <= 200; ++id) {
    places.push_back(append(put(static_cast<Handle>(id), id, "key", payload)));
    commit();
  }
  ASSERT_GE(journal->closed().size(), 2u);
  EXPECT_EQ(journal->newest_segment(), journal->closed().back().number + 1);
  for (const SegmentInfo& closed : journal->closed()) {
    const std::string next = test::read_all(*directory, segment_name(closed.number + 1));
    const DecodedHeader header = decode_segment_header(next);
    ASSERT_EQ(header.state, HeaderState::valid);
    EXPECT_EQ(header.header.seal.segment, closed.number);
    EXPECT_EQ(header.header.seal.length, closed.used);
    EXPECT_EQ(header.header.seal.last_batch, header.header.first_batch - 1);
    EXPECT_TRUE(header.header.seal.proven);
    EXPECT_LE(closed.used, closed.allocated);
  }
  const auto again = recovered();
  EXPECT_EQ(again->state.pending(), 200u);
  EXPECT_EQ(again->result->report.torn_bytes, 0u);
  for (const auto& place : places) {
    EXPECT_EQ(journal->read(place)->payload, payload);
  }
}

TEST_F(JournalTest, ASealOfPolicyOsProvesNothing) {
  open(64 * 1024, SyncPolicy::os);
  for (std::uint64_t id = 1; id <= 100; ++id) {
    append(put(static_cast<Handle>(id), id, "key", std::string(1000, 'p')));
  }
  commit();
  const DecodedHeader header = decode_segment_header(test::read_all(*directory, segment_name(2)));
  EXPECT_EQ(header.state, HeaderState::valid);
  EXPECT_FALSE(header.header.seal.proven);
  EXPECT_EQ(recovered()->state.pending(), 100u);
}

TEST_F(JournalTest, GoesOnWhereRecoveryEnded) {
  append(put(0, 1, "a"));
  commit();
  open_again();
  EXPECT_FALSE(journal->is_as_it_was()) << "it was not closed";
  append(put(1, 2, "b"));
  const auto batches = commit();
  EXPECT_EQ(journal->newest_segment(), 1u);
  EXPECT_EQ(test::segments_in(*directory).size(), 1u);
  const auto again = recovered();
  EXPECT_TRUE(again->holds(0, 1) && again->holds(1, 2));
  // The facts that a run needs about its boot, and about ids.
  const auto records = records_of(*batches.front());
  ASSERT_EQ(records.size(), 4u);
  EXPECT_TRUE(std::holds_alternative<ClockRecord>(records[0]));
  EXPECT_TRUE(std::holds_alternative<MarksRecord>(records[1]));
  EXPECT_TRUE(std::holds_alternative<QueueRecord>(records[2]));
  EXPECT_TRUE(journal->read({1, again->state.slab[0].position}));
}

TEST_F(JournalTest, ARunInWhichNothingHappensWritesNothing) {
  append(put(0, 1, "a"));
  journal->append(Record(ClosedRecord{}));
  commit();
  ASSERT_TRUE(journal->trim());
  const std::string before = test::read_all(*directory, segment_name(1));
  open_again();
  EXPECT_TRUE(journal->is_as_it_was());
  ASSERT_TRUE(journal->ensure_room(0, 100, 50'000));
  EXPECT_TRUE(journal->is_as_it_was());
  ASSERT_TRUE(journal->trim());
  EXPECT_EQ(test::read_all(*directory, segment_name(1)), before);
  append(put(1, 2, "b"));
  EXPECT_FALSE(journal->is_as_it_was());
}

// The run's opening no longer fits into the last run's segment.
TEST_F(JournalTest, ARunThatFindsItsSegmentFullOpensTheNext) {
  open(16 * 1024);
  append(put(0, 1, "a", std::string(15'000, 'p')));
  commit();
  open_again(16 * 1024);
  append(put(1, 2, "b", std::string(1000, 'p')));
  commit();
  EXPECT_EQ(journal->newest_segment(), 2u);
  const DecodedHeader header = decode_segment_header(test::read_all(*directory, segment_name(2)));
  EXPECT_TRUE(header.header.seal.proven) << "recovery has synced it";
  EXPECT_EQ(header.header.seal.segment, 1u);
  const auto again = recovered();
  EXPECT_TRUE(again->holds(0, 1) && again->holds(1, 2));
}

TEST_F(JournalTest, WhatIsKeptBackInAResumedSegmentIsThere) {
  append(put(0, 1, "a"));
  commit();
  ASSERT_TRUE(journal->trim());
  queues = 40;
  open_again();
  ASSERT_TRUE(journal->ensure_room(0, 100, 20'000));
  disk.set_capacity(0);
  std::uint64_t id = 1;
  for (std::uint64_t bytes = 0; bytes + 100 <= 20'000; bytes += 100) {
    ++id;
    const auto record = put(static_cast<Handle>(id), id, "k", "");
    ASSERT_LE(encoded_size(record), 100u);
    journal->append(record);
  }
  commit();
  EXPECT_EQ(recovered()->state.pending(), id);
}

TEST_F(JournalTest, ARecordLargerThanASegmentGetsOneOfItsOwn) {
  append(put(0, 1, "a"));
  const std::string payload(300'000, 'p');
  const auto place = append(put(1, 2, "b", payload));
  append(put(2, 3, "c"));
  commit();
  EXPECT_EQ(journal->read(place)->payload, payload);
  EXPECT_EQ(recovered()->state.pending(), 3u);
}

TEST_F(JournalTest, WhatNoSegmentCanHoldIsRefused) {
  append(put(0, 1, "a"));
  const auto done = journal->ensure_room(kMaxSegmentBytes, kMaxSegmentBytes, 0);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::too_large);
  append(put(1, 2, "b"));
  commit();
  EXPECT_EQ(recovered()->state.pending(), 2u);
}

// -- room

TEST_F(JournalTest, OnAFullDiskRoomIsRefusedAndWhatIsThereCanBeUsed) {
  append(put(0, 1, "a"));
  ASSERT_TRUE(journal->ensure_room(100, 100, 20'000));
  disk.set_capacity(disk.used_bytes());
  const auto refused = journal->ensure_room(1 << 20, 1000, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::no_space);
  EXPECT_LE(disk.used_bytes(), 64u * 1024 + 4096);
  for (std::uint64_t id = 2; id < 100; ++id) {
    ASSERT_TRUE(journal->ensure_room(100, 100, 0)) << id;
    journal->append(put(static_cast<Handle>(id), id, "k", "small"));
  }
  commit();
  EXPECT_EQ(recovered()->state.pending(), 99u);
  disk.set_capacity(UINT64_MAX);
  EXPECT_TRUE(journal->ensure_room(1 << 20, 1000, 0));
}

// A long step does not fit on this disk, so the journal takes only the pages that it needs.
TEST_F(JournalTest, TheLastRoomOfADiskIsUsed) {
  open(64ull << 20);
  disk.set_capacity(100 * 1024);
  EXPECT_TRUE(journal->ensure_room(50'000, 1000, 0));
  EXPECT_FALSE(journal->ensure_room(200'000, 1000, 0));
  append(put(0, 1, "a"));
  commit();
  EXPECT_TRUE(recovered()->holds(0, 1));
}

TEST_F(JournalTest, ReservedRoomIsThereForMany) {
  ASSERT_TRUE(journal->ensure_room(0, 100, 500'000));
  disk.set_capacity(0);
  // Half a million bytes over several segments, in records of up to 100 bytes.
  std::uint64_t id = 0;
  for (std::uint64_t bytes = 0; bytes + 100 <= 500'000;) {
    ++id;
    const PutRecord record = put(static_cast<Handle>(id), id, "key", "payload");
    bytes += encoded_size(record);
    journal->append(record);
  }
  commit();
  EXPECT_EQ(recovered()->state.pending(), id);
}

TEST_F(JournalTest, QueuesMadeSinceLengthenWhatTheNextSegmentOpensWith) {
  queues = 0;
  open(16 * 1024);
  for (std::uint32_t i = 0; i < 400; ++i) {  // openings of 80 KiB in the end
    QueueRecord record = test::queue(i, queue_name(i));
    record.counters.reset();
    ASSERT_TRUE(journal->ensure_room(200, 200, 1000));
    journal->append(record, true);
    ++queues;
    if (i % 7 == 0) {
      PutRecord message = put(i, i + 1, "key");
      message.queue = i;
      append(message);
    }
    for (const auto& batch : commit()) {
      const std::uint64_t end = batch->offset + batch->bytes.size() +
                                (batch->segment_header.empty() ? 0 : kSegmentHeaderBytes);
      ASSERT_LE(end, files.get(batch->segment)->size().value() + kSegmentHeaderBytes);
    }
  }
  const auto again = recovered();
  EXPECT_EQ(again->state.queues.size(), 400u);
  EXPECT_EQ(again->state.pending(), 58u);
}

// All reserved bytes can be appended: without an assertion, and without a byte beyond the
// allocation.
RC_GTEST_FIXTURE_PROP(JournalTest, WhatWasReservedFits, ()) {
  open(std::uint64_t{4096} * *rc::gen::inRange<std::uint64_t>(1, 20));
  std::uint64_t id = 0;
  for (int round = *rc::gen::inRange(1, 12); round > 0; --round) {
    std::vector<std::string> payloads(*rc::gen::inRange<std::size_t>(1, 20));
    std::uint64_t bytes = 0;
    std::uint64_t largest = 0;
    for (std::string& payload : payloads) {
      payload.assign(*rc::gen::inRange<std::size_t>(0, 5000), 'p');
      const std::uint64_t size = encoded_size(put(0, 1, "key", payload));
      bytes += size;
      largest = std::max(largest, size);
    }
    const auto reserve = *rc::gen::inRange<std::uint64_t>(0, 50'000);
    RC_ASSERT(journal->ensure_room(bytes, largest, reserve).has_value());
    const std::uint64_t used = disk.used_bytes();
    for (const std::string& payload : payloads) {
      ++id;
      journal->append(put(static_cast<Handle>(id), id, "key", payload));
    }
    if (*rc::gen::arbitrary<bool>()) commit();
    RC_ASSERT(disk.used_bytes() == used);
  }
  commit();
  RC_ASSERT(recovered()->state.pending() == id);
}

// -- runs

TEST_F(JournalTest, WhatGoesTogetherIsOneRecord) {
  ASSERT_TRUE(journal->ensure_room(1000, 100, 0));
  for (std::uint64_t id = 1; id <= 3; ++id) {
    journal->append_gone(GoneWhy::acked, 0, {static_cast<Handle>(id), id});
  }
  journal->append_gone(GoneWhy::acked, 1, {4, 4});      // another queue
  journal->append_gone(GoneWhy::cancelled, 1, {5, 5});  // another reason
  journal->append(Record(MarksRecord{9, 1}));           // something between
  journal->append_gone(GoneWhy::cancelled, 1, {6, 6});
  journal->append_remembered({Ending::acked, 1, 10, 20, {}}, {7, 7});
  journal->append_remembered({Ending::acked, 1, 10, 20, {}}, {8, 8});
  journal->append_remembered({Ending::acked, 1, 10, 21, {}}, {9, 9});        // another `until`
  journal->append_remembered({Ending::cancelled, 1, 10, 21, {}}, {10, 10});  // another ending
  std::vector<Record> records = records_of(*commit().at(0));
  records.erase(records.begin(), records.begin() + 3);  // the opening
  std::vector<std::size_t> runs;
  for (const Record& record : records) {
    if (const auto* gone = std::get_if<GoneRecord>(&record)) runs.push_back(gone->items.size());
    if (const auto* r = std::get_if<RememberedRecord>(&record)) runs.push_back(r->items.size());
  }
  EXPECT_EQ(runs, (std::vector<std::size_t>{3, 1, 1, 1, 2, 1, 1}));
  const auto& first = std::get<GoneRecord>(records[0]);
  EXPECT_EQ(first.items, (std::vector<Ref>{{1, 1}, {2, 2}, {3, 3}}));
}

TEST_F(JournalTest, ARunDoesNotGoOnInTheNextBatch) {
  ASSERT_TRUE(journal->ensure_room(1000, 100, 0));
  journal->append_gone(GoneWhy::acked, 0, {1, 1});
  commit();
  journal->append_gone(GoneWhy::acked, 0, {2, 2});
  const auto records = records_of(*commit().at(0));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(std::get<GoneRecord>(records[0]).items, (std::vector<Ref>{{2, 2}}));
}

// -- the ends

TEST_F(JournalTest, TheOldestSegmentCanBeCleanedOnlyWhenItIsWritten) {
  EXPECT_FALSE(journal->oldest_is_written());
  for (std::uint64_t id = 1; journal->closed().empty(); ++id) {
    append(put(static_cast<Handle>(id), id, "key", std::string(1000, 'p')));
  }
  EXPECT_FALSE(journal->oldest_is_written());
  commit();
  EXPECT_TRUE(journal->oldest_is_written());
  const std::uint64_t before = journal->disk_bytes();
  const std::uint64_t used = journal->closed().front().used;
  EXPECT_EQ(journal->closed_bytes(), used);
  journal->drop_oldest();
  EXPECT_EQ(journal->closed_bytes(), 0u);
  EXPECT_LE(journal->disk_bytes(), before - used);
}

TEST_F(JournalTest, TheFileOfACleanedSegmentIsWrittenAgain) {
  fill_two_segments();
  const SegmentInfo oldest = journal->closed().front();
  const std::uint64_t disk_bytes = journal->disk_bytes();
  journal->drop_oldest();
  ASSERT_TRUE(journal->keep_file(oldest, 1 << 30, 100));
  EXPECT_EQ(journal->disk_bytes(), disk_bytes) << "its room is still taken";
  EXPECT_TRUE(test::has(*directory, segment_name(oldest.number)));
  ASSERT_TRUE(journal->reuse_file(1 << 30, 100));
  EXPECT_EQ(journal->disk_bytes(), disk_bytes);
  EXPECT_FALSE(test::has(*directory, segment_name(oldest.number)));
  EXPECT_EQ(files.get(oldest.number), nullptr);

  const std::uint64_t head = journal->head().number;
  const std::string name = segment_name(head + 1);
  ASSERT_EQ(test::read_all(*directory, name).size(), oldest.allocated);
  disk.set_capacity(disk.used_bytes());
  while (journal->head().number == head) append(put(next_id, next_id, "b")), ++next_id;
  commit();
  EXPECT_EQ(decode_segment_header(test::read_all(*directory, name).substr(0, kSegmentHeaderBytes))
                .header.segment,
            head + 1);
}

TEST_F(JournalTest, AShorterSegmentThatWasOnlyPreparedGivesWay) {
  constexpr std::uint64_t mib = 1 << 20;
  open(8 * mib);
  fill_two_segments();
  const SegmentInfo oldest = journal->closed().front();
  ASSERT_TRUE(journal->ensure_room(0, 0, 9 * mib, 100));
  const std::vector<std::string> names = test::segments_in(*directory);
  const std::uint64_t short_one = test::read_all(*directory, names.back()).size();
  ASSERT_LT(short_one, oldest.allocated);
  journal->drop_oldest();
  ASSERT_TRUE(journal->keep_file(oldest, 1 << 30, 100));
  const std::uint64_t disk_bytes = journal->disk_bytes();
  ASSERT_TRUE(journal->reuse_file(9 * mib, 100));
  EXPECT_EQ(journal->disk_bytes(), disk_bytes - short_one);
  EXPECT_EQ(test::read_all(*directory, names.back()).size(), oldest.allocated);
  EXPECT_EQ(test::segments_in(*directory).size(), names.size() - 1);
  ASSERT_TRUE(journal->ensure_room(0, 0, 20 * mib, 100)) << "the numbers go on";
}

TEST_F(JournalTest, AFileThatCannotBeRenamedIsRemoved) {
  const auto faults = std::make_shared<storage::Faults>();
  directory = std::make_unique<storage::FaultyDirectory>(disk.root(), faults);
  open(64 * 1024);
  fill_two_segments();
  const SegmentInfo oldest = journal->closed().front();
  journal->drop_oldest();
  ASSERT_TRUE(journal->keep_file(oldest, 1 << 30, 100));
  faults->arm({.fail_at = 2, .code = ErrorCode::no_space});  // the call after `allocate`
  ASSERT_TRUE(journal->reuse_file(1 << 30, 100));
  EXPECT_EQ(faults->failed(), 1u);
  EXPECT_NE(faults->first_failed().find("rename"), std::string::npos) << faults->first_failed();
  EXPECT_FALSE(test::has(*directory, segment_name(oldest.number)));
  ASSERT_TRUE(journal->ensure_room(1000, 1000, 200'000));
}

TEST_F(JournalTest, AFileIsKeptOnlyWhereItsRoomIsWanted) {
  fill_two_segments();
  const SegmentInfo oldest = journal->closed().front();
  journal->drop_oldest();
  EXPECT_FALSE(journal->keep_file(oldest, 0, 100)) << "there is enough";
  EXPECT_FALSE(journal->keep_file(oldest, 1 << 30, oldest.allocated)) << "no record fits";
  ASSERT_TRUE(journal->keep_file(oldest, 1 << 30, 100));
  SegmentInfo next = oldest;
  next.number = 99;
  EXPECT_FALSE(journal->keep_file(next, oldest.allocated, 100)) << "the first one is on its way";
}

TEST_F(JournalTest, TrimRemovesWhatWasKeptAndNotWritten) {
  fill_two_segments();
  const SegmentInfo oldest = journal->closed().front();
  journal->drop_oldest();
  ASSERT_TRUE(journal->keep_file(oldest, 1 << 30, 100));
  ASSERT_TRUE(journal->trim());
  EXPECT_EQ(test::segments_in(*directory), std::vector<std::string>{segment_name(2)});
}

TEST_F(JournalTest, TrimGivesBackWhatWasOnlyReserved) {
  append(put(0, 1, "a"));
  ASSERT_TRUE(journal->ensure_room(200'000, 100, 0));
  commit();
  EXPECT_GT(test::segments_in(*directory).size(), 1u);
  ASSERT_TRUE(journal->trim());
  EXPECT_EQ(test::segments_in(*directory), std::vector<std::string>{segment_name(1)});
  EXPECT_EQ(test::read_all(*directory, segment_name(1)).size(), journal->head().used);
  EXPECT_TRUE(recovered()->holds(0, 1));
}

TEST_F(JournalTest, LongBatchesAreSplit) {
  const std::string payload(1 << 20, 'p');
  for (std::uint64_t id = 1; id <= 20; ++id) {
    append(put(static_cast<Handle>(id), id, "key", payload));
  }
  const auto batches = commit();
  EXPECT_GE(batches.size(), 2u);
  for (std::size_t i = 1; i < batches.size(); ++i) {
    EXPECT_EQ(batches[i]->number, batches[i - 1]->number + 1);
  }
  EXPECT_EQ(recovered()->state.pending(), 20u);
}

// Each segment may waste as much as the longest record. If that is nearly the whole segment, a few
// longer segments are made instead of thousands of short ones.
TEST_F(JournalTest, RoomForLongRecordsTakesFewSegments) {
  constexpr std::uint64_t segment_bytes = 64 * 1024;
  constexpr std::uint64_t longest = segment_bytes - 1500;
  ASSERT_TRUE(journal->ensure_room(longest, longest, 0));
  ASSERT_TRUE(journal->ensure_room(longest, longest, 20 * segment_bytes, longest));
  EXPECT_LT(test::segments_in(*directory).size(), 30u);
  ASSERT_TRUE(journal->ensure_room(50, 50, 40 * segment_bytes, longest));
  EXPECT_LT(test::segments_in(*directory).size(), 60u);
}

}  // namespace
}  // namespace tarry::embedded
