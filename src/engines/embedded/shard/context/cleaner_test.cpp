#include "engines/embedded/shard/context/cleaner.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/memory_storage.h"
#include "support/disks/faulty_storage.h"
#include "support/embedded/journal.h"
#include "support/embedded/state.h"

namespace tarry::embedded {
namespace {

// State, journal and cleaner of one shard, without the shard: the test itself writes each event and
// evolves it.
class CleanerTest : public testing::Test {
 protected:
  CleanerTest() {
    Journal::Config config;
    config.store_id = test::kStoreId;
    config.hash_seed = test::kHashSeed;
    config.segment_bytes = 8 * 1024;
    journal = std::make_unique<Journal>(
        config, *directory, files, committer, JournalTail{},
        [this](std::string& out) { state.append_opening(out, clock.now()); });
    write(test::queue(0, "q"));
  }

  template <typename R>
  void write(const R& record) {
    const std::uint64_t size = encoded_size(Record(record));
    ASSERT_TRUE(journal->ensure_room(size, size, 0));
    journal->append(Record(record));
    state.evolve(record);
  }
  // A message; the key and payload must outlive the test.
  Handle put(std::string_view key, std::string_view payload = "payload") {
    PutRecord record = test::put(state.slab.peek_free(), state.next_id(), key, payload);
    record.pushed_ms = pushed_ms;
    const std::uint64_t size = encoded_size(record);
    EXPECT_TRUE(journal->ensure_room(size, size, 0));
    const auto place = journal->append(record);
    state.evolve(record, place.segment, place.position);
    return record.ref.handle;
  }
  void gone(Handle handle) {
    ASSERT_TRUE(journal->ensure_room(100, 100, 0));
    const Ref ref{handle, state.slab[handle].id};
    journal->append_gone(GoneWhy::acked, 0, ref);
    state.evolve(GoneWhy::acked, 0, ref);
  }
  Ref ref(Handle handle) { return {handle, state.slab[handle].id}; }

  void commit(const std::optional<SegmentInfo>& cleaned = {}) {
    CommitJob job;
    job.batches = journal->take(clock.now().realtime_ms);
    if (cleaned) job.remove_segments = {cleaned->number};
    committer.run(std::move(job));
    ASSERT_FALSE(committer.failed());
  }
  // Pushes and ends messages until all present segments are closed.
  void roll() {
    const std::uint64_t head = journal->newest_segment();
    while (journal->newest_segment() == head) gone(put("filler", filler));
    commit();
  }
  // Cleans segment by segment, until the cleaner wants no more or `segment` has been cleaned.
  void clean(std::uint64_t segment) {
    Cleaner cleaner(state, *journal, files);
    while (!journal->closed().empty() && journal->closed().front().number <= segment) {
      const auto slice = cleaner.run(1000);
      ASSERT_TRUE(slice) << slice.error().message;
      commit(slice->finished);
    }
  }
  void expect_replay_equals_life() {
    test::Recovery recovery(*directory, true);
    ASSERT_TRUE(recovery.ok()) << recovery.error();
    EXPECT_EQ(test::describe(recovery.state), test::describe(state));
  }
  void expect_cleaned_once_there_is_room() {
    commit();
    expect_replay_equals_life();
    disk.set_capacity(UINT64_MAX);
    const std::uint64_t oldest = journal->closed().front().number;
    clean(oldest);
    EXPECT_FALSE(test::has(*directory, segment_name(oldest)));
    expect_replay_equals_life();
  }
  Result<PutRecord> read(Handle handle) {
    const Position position = state.slab[handle].position;
    return journal->read(journal->place(position));
  }
  std::uint64_t segment_of(Handle handle) {
    return state.slab[handle].position.segment(journal->newest_segment());
  }
  void flip(std::uint64_t segment, std::uint64_t offset) {
    std::string bytes = test::read_all(*directory, segment_name(segment));
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x40);
    const auto file = files.get(segment);
    ASSERT_TRUE(file->write_at(offset, std::string_view(bytes).substr(offset, 1)));
  }

  const std::string filler = std::string(1500, 'f');
  std::optional<std::int64_t> pushed_ms;  // of the put
  storage::MemoryDisk disk;
  std::shared_ptr<storage::Faults> faults = std::make_shared<storage::Faults>();
  std::unique_ptr<storage::Directory> directory =
      std::make_unique<storage::FaultyDirectory>(disk.root(), faults);
  SegmentFiles files;
  timing::ManualClock clock;
  Committer committer{SyncPolicy::always, *directory, files, clock};
  ShardState state{test::Recovery::identity(test::kBootId), timing::ManualClock::kStart};
  std::unique_ptr<Journal> journal;
};

TEST_F(CleanerTest, WantsNothingOfAYoungJournal) {
  Cleaner cleaner(state, *journal, files);
  EXPECT_FALSE(cleaner.wanted());
  put("a");
  commit();
  EXPECT_FALSE(cleaner.wanted());
}

TEST_F(CleanerTest, WantsTheOldestWhenItIsWhollyDead) {
  roll();
  Cleaner cleaner(state, *journal, files);
  EXPECT_TRUE(cleaner.wanted());
  const auto slice = cleaner.run(1000);
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->copied, 0u);
  ASSERT_TRUE(slice->finished);
  EXPECT_EQ(slice->finished->number, 1u);
  EXPECT_EQ(state.low_water(), 2u);
  commit(slice->finished);
  EXPECT_FALSE(test::has(*directory, segment_name(1)));
  expect_replay_equals_life();
}

TEST_F(CleanerTest, BeginsAtOneAndAHalfTimesWhatIsLive) {
  const std::string payload(1500, 'l');
  Cleaner cleaner(state, *journal, files);
  for (int i = 0; i < 8; ++i) put("live", payload);
  commit();
  ASSERT_FALSE(journal->closed().empty());
  EXPECT_FALSE(cleaner.wanted()) << "all of it is live";
  while (!cleaner.wanted()) {
    gone(put("filler", filler));
    commit();
    ASSERT_LT(journal->closed_bytes(), 8 * state.live.total_bytes());
  }
  EXPECT_GT(journal->closed_bytes(), state.live.total_bytes() / 2 * 3);
  EXPECT_LE(journal->closed_bytes(), state.live.total_bytes() / 2 * 3 + 9000);
}

// Each segment begins with records of all queues. If they counted as garbage, they would be
// cleaned, and so written again, for ever.
TEST_F(CleanerTest, ComesToAnEndWhereQueuesFillMuchOfASegment) {
  std::vector<std::string> names;
  for (std::uint32_t i = 1; i < 30; ++i) names.push_back("queue-" + std::to_string(i));
  for (std::uint32_t i = 1; i < 30; ++i) write(test::queue(i, names[i - 1]));
  const std::string payload(500, 'l');
  for (int i = 0; i < 40; ++i) put("live", payload);
  commit();
  ASSERT_GT(journal->opening_bytes(), 8 * 1024 / 3);
  Cleaner cleaner(state, *journal, files);
  int slices = 0;
  while (cleaner.wanted() && ++slices < 1000) {
    const auto slice = cleaner.run(1000);
    ASSERT_TRUE(slice) << slice.error().message;
    commit(slice->finished);
  }
  EXPECT_LT(slices, 1000);
}

// Each message has a batch of its own, which doubles its room. So does its copy, and a round gains
// nothing.
TEST_F(CleanerTest, RestsOverWhatARoundCannotGainWhileThatIsLive) {
  std::deque<std::string> keys;
  std::vector<Handle> handles;
  while (journal->closed().size() < 8) {
    handles.push_back(put(keys.emplace_back(std::to_string(keys.size())), ""));
    commit();
  }
  Cleaner cleaner(state, *journal, files);
  const auto clean_all = [&] {
    for (int i = 0; i < 10'000 && cleaner.wanted(); ++i) {
      const auto slice = cleaner.run(1);
      ASSERT_TRUE(slice) << slice.error().message;
      commit(slice->finished);
    }
    ASSERT_FALSE(cleaner.wanted());
  };
  clean_all();
  const std::uint64_t held = journal->closed_bytes();
  ASSERT_GT(held, state.live.total_bytes() / 2 * 3 + 9 * journal->opening_bytes());

  // All messages of the oldest segments end; in each other segment one message stays. There is less
  // garbage than before, but nearly all bytes are garbage now.
  const std::uint64_t oldest = journal->closed().front().number;
  std::set<std::uint64_t> stays;
  for (const Handle handle : handles) {
    const std::uint64_t segment = segment_of(handle);
    if (segment < oldest + 3 || !stays.insert(segment).second) gone(handle);
  }
  commit();
  clean_all();
  EXPECT_LT(journal->closed_bytes(), held / 3);
}

// The reserve for work may lie in segments that are too short for the next message: such segments
// are closed while empty. Cleaning them costs next to nothing, however many there are.
TEST_F(CleanerTest, EmptySegmentsDoNotMakeItRest) {
  put("live");
  commit();
  ASSERT_TRUE(journal->ensure_room(100, 100, 500 * 8 * 1024));
  const std::string large(9'000, 'l');
  gone(put("large", large));
  roll();
  ASSERT_GT(journal->closed().size(), 400u);
  Cleaner cleaner(state, *journal, files);
  ASSERT_TRUE(cleaner.wanted());
  const auto begun = cleaner.run(1);
  ASSERT_TRUE(begun);
  commit(begun->finished);
  for (int i = 0; i < 8; ++i) roll();  // after the end of the round
  for (int i = 0; i < 1'000 && cleaner.wanted(); ++i) {
    const auto slice = cleaner.run(1'000);
    ASSERT_TRUE(slice) << slice.error().message;
    commit(slice->finished);
  }
  ASSERT_FALSE(cleaner.wanted());
  EXPECT_LE(journal->closed_bytes(), 8u * 1024);
}

TEST_F(CleanerTest, LeavesTheOnlyClosedSegmentAloneForASecond) {
  Cleaner cleaner(state, *journal, files);
  put("live");
  roll();
  ASSERT_TRUE(cleaner.wanted());
  EXPECT_TRUE(cleaner.holds_off(50));
  EXPECT_EQ(cleaner.held_off_until(), 1'050);
  EXPECT_TRUE(cleaner.holds_off(1'049));
  EXPECT_FALSE(cleaner.holds_off(1'050));
  EXPECT_EQ(cleaner.held_off_until(), std::nullopt) << "nobody has to wake for it any more";
  EXPECT_FALSE(cleaner.holds_off(1'051)) << "once for each segment";

  Cleaner of_the_next_run(state, *journal, files);
  EXPECT_FALSE(of_the_next_run.holds_off(0)) << "who knows how long ago it was closed";
}

TEST_F(CleanerTest, DoesNotWaitWhereRoomIsShortOrTheNextOneIsClosedOrAllIsDead) {
  Cleaner cleaner(state, *journal, files);
  const Handle live = put("live");
  roll();
  ASSERT_TRUE(cleaner.holds_off(0));
  cleaner.press(Cleaner::Press::lightly);
  EXPECT_FALSE(cleaner.holds_off(0));

  Cleaner another(state, *journal, files);
  roll();
  ASSERT_EQ(journal->closed().size(), 2u);
  EXPECT_FALSE(another.holds_off(0));
  clean(1);
  EXPECT_FALSE(another.holds_off(0)) << "it was closed before the other one went";

  roll();
  clean(2);
  ASSERT_EQ(journal->closed().size(), 1u);
  Cleaner third(state, *journal, files);
  clean(3);
  roll();
  ASSERT_TRUE(third.holds_off(0));
  gone(live);
  EXPECT_FALSE(third.holds_off(0));
  EXPECT_TRUE(third.wanted());
}

TEST_F(CleanerTest, PressedItCleansWhatIsNotWhollyLive) {
  const std::string payload(3000, 'l');
  for (int i = 0; i < 10; ++i) put("live", payload);
  commit();
  Cleaner cleaner(state, *journal, files);
  cleaner.press(Cleaner::Press::hard);
  EXPECT_FALSE(cleaner.wanted()) << "all of it is live";
  gone(put("filler", filler));
  roll();
  ASSERT_FALSE(cleaner.wanted());
  cleaner.press(Cleaner::Press::hard);
  EXPECT_TRUE(cleaner.wanted());
}

TEST_F(CleanerTest, CopiesEveryStateAsItIsNow) {
  pushed_ms = clock.now().realtime_ms - 12'345;
  const Handle scheduled = put("scheduled", "payload of scheduled");
  const Handle moved = put("moved");
  const Handle leased = put("leased");
  const Handle stopping = put("stopping");
  const Handle dead = put("dead");
  const Handle remembered = put("remembered", "payload that nobody needs");
  const Handle delayed = put("delayed");
  const Handle gone_one = put("gone");
  const std::int64_t now = clock.now().realtime_ms;
  const std::int64_t boot = clock.now().boottime_ms;
  write(DueRecord{ref(moved), 0, now + 5'000'000, 7, false, {}});
  ClaimedRecord claim{0, boot + 30'000, 30'000, {}};
  for (const Handle handle : {leased, stopping, dead, remembered}) {
    claim.items.push_back({ref(handle), 3, 2});
  }
  ASSERT_TRUE(journal->ensure_room(500, 500, 0));
  journal->append(Record(claim));
  for (const ClaimedItem& item : claim.items) state.evolve(claim, item);
  state.count_claims(claim.queue, claim.items.size());
  write(StoppingRecord{0, ref(stopping)});
  write(DeadRecord{DeadWhy::buried, ref(dead), 0, now, now + 1'000'000, 9, "no such address"});
  ASSERT_TRUE(journal->ensure_room(500, 500, 0));
  const RememberedRecord acked{Ending::acked, 0, now, now + 60'000, {}};
  journal->append_remembered(acked, ref(remembered));
  state.evolve(acked, ref(remembered));
  write(DueRecord{ref(delayed), 0, now + 10'000, 1024, false, boot + 10'000});
  gone(gone_one);
  roll();
  ASSERT_EQ(segment_of(scheduled), 1u);
  expect_replay_equals_life();

  const std::string accepted = std::to_string(state.queue(0).counters.accepted);
  clean(1);
  EXPECT_FALSE(test::has(*directory, segment_name(1)));
  EXPECT_GT(segment_of(scheduled), 1u);
  EXPECT_EQ(std::to_string(state.queue(0).counters.accepted), accepted);
  expect_replay_equals_life();

  EXPECT_EQ(read(scheduled)->payload, "payload of scheduled");
  EXPECT_TRUE(payload_checks(*read(scheduled)));
  EXPECT_EQ(read(remembered)->key, "remembered");
  EXPECT_EQ(read(remembered)->payload, "") << "only its key is still known";
  EXPECT_EQ(read(dead)->key, "dead");
  EXPECT_EQ(state.slab[moved].priority, 7u);
  for (const Handle handle : {scheduled, moved, leased, stopping, dead, delayed}) {
    EXPECT_EQ(read(handle)->pushed_ms, pushed_ms) << read(handle)->key;
  }
  EXPECT_FALSE(read(remembered)->pushed_ms);
}

TEST_F(CleanerTest, GoesOnSliceBySlice) {
  for (int i = 0; i < 30; ++i) {
    put("live");
    commit();  // a batch for each message
  }
  roll();
  const std::uint64_t last = journal->closed().back().number;
  Cleaner cleaner(state, *journal, files);
  int slices = 0;
  std::uint64_t finished = 0;
  while (finished < last) {
    const auto slice = cleaner.run(1);  // cleans one batch
    ASSERT_TRUE(slice);
    if (slice->finished) finished = slice->finished->number;
    ++slices;
    commit(slice->finished);
    expect_replay_equals_life();
  }
  EXPECT_GT(slices, 1);
  EXPECT_EQ(state.pending(), 30u);
}

TEST_F(CleanerTest, ABadPayloadIsCopiedAndMarked) {
  const Handle bad = put("bad", "a payload that will rot");
  const Handle good = put("good");
  roll();
  flip(1, state.slab[bad].position.offset() + encoded_size(*read(bad)) - 3);
  clean(1);
  ASSERT_TRUE(read(bad));
  EXPECT_EQ(read(bad)->key, "bad");
  EXPECT_TRUE(read(bad)->damaged);
  EXPECT_FALSE(payload_checks(*read(bad)));
  EXPECT_TRUE(payload_checks(*read(good)));
  expect_replay_equals_life();
}

TEST_F(CleanerTest, ARottenFrameCostsNoMessage) {
  const Handle first = put("first");
  const Handle second = put("second");
  commit();
  const Handle third = put("third");
  roll();
  flip(1, kSegmentHeaderBytes + 30);  // in the first batch's header: its number
  clean(1);
  for (const Handle handle : {first, second, third}) {
    ASSERT_TRUE(read(handle));
    EXPECT_TRUE(payload_checks(*read(handle)));
  }
  EXPECT_EQ(read(second)->key, "second");
  expect_replay_equals_life();
}

TEST_F(CleanerTest, AMessageWhoseRecordIsLostKeepsItsPlaceAsDamaged) {
  const Handle lost = put("lost");
  const Handle other = put("other");
  const std::uint64_t id = state.slab[lost].id;
  roll();
  flip(1, state.slab[lost].position.offset() + 20);
  clean(1);
  ASSERT_TRUE(state.slab.holds(lost, id));
  ASSERT_TRUE(read(lost));
  EXPECT_TRUE(read(lost)->damaged);
  EXPECT_EQ(state.slab[lost].generated_key, 1u) << "its own key is gone with the record";
  EXPECT_EQ(read(other)->key, "other");
  EXPECT_TRUE(payload_checks(*read(other)));
  expect_replay_equals_life();
}

// A failed read does not prove that data is damaged, so nothing may be given up because of it.
TEST_F(CleanerTest, AReadErrorLosesNothing) {
  const Handle handle = put("a");
  roll();
  flip(1, kSegmentHeaderBytes + 30);
  for (const std::uint64_t call : {1u, 2u, 3u}) {
    Cleaner cleaner(state, *journal, files);
    faults->arm({.fail_at = call, .for_good = true, .reads_too = true});
    const auto slice = cleaner.run(1'000'000);
    const bool failed = faults->failed() > 0;
    faults->disarm();
    if (!failed) break;
    ASSERT_FALSE(slice) << call;
    EXPECT_EQ(slice.error().code, ErrorCode::io_error);
  }
  EXPECT_EQ(read(handle)->key, "a");
  EXPECT_FALSE(read(handle)->damaged);
}

TEST_F(CleanerTest, WithoutRoomItTriesAgainLater) {
  for (int i = 0; i < 12; ++i) put("live", filler);
  roll();
  disk.set_capacity(disk.used_bytes());
  std::set<std::string, std::less<>> marks;
  Cleaner cleaner(state, *journal, files, [&](std::string_view mark) { marks.emplace(mark); });
  cleaner.press(Cleaner::Press::hard);
  Result<Cleaner::Slice> slice = cleaner.run(1'000'000);
  while (slice) {  // until the reserved room is used
    commit(slice->finished);
    disk.set_capacity(disk.used_bytes());
    slice = cleaner.run(1'000'000);
  }
  EXPECT_EQ(slice.error().code, ErrorCode::no_space);
  EXPECT_TRUE(marks.contains("cleaning.not-begun")) << "half a segment's copies free nothing";
  EXPECT_FALSE(cleaner.running());
  expect_cleaned_once_there_is_room();
  EXPECT_EQ(state.pending(), 12u);
}

TEST_F(CleanerTest, ACopyHoldsTheDelayThatItsMessageWasGiven) {
  const Handle handle = put("a");
  const timing::Instant now = clock.now();
  DueRecord due;
  due.ref = ref(handle);
  due.due_ms = now.realtime_ms + 60'000;
  due.boot_due_ms = now.boottime_ms + 60'000;
  write(due);
  EXPECT_EQ(state.unwritten_boot_dues(), 1u);
  roll();
  clean(1);
  EXPECT_EQ(state.unwritten_boot_dues(), 0u);
  EXPECT_EQ(read(handle)->boot_due_ms, due.boot_due_ms);
  expect_replay_equals_life();
}

TEST_F(CleanerTest, WhoseRoomIsTakenAmidASegmentTriesAgainLater) {
  for (int i = 0; i < 12; ++i) {
    put("live", filler);
    commit();
  }
  roll();
  std::set<std::string, std::less<>> marks;
  Cleaner cleaner(state, *journal, files, [&](std::string_view mark) { marks.emplace(mark); });
  ASSERT_TRUE(cleaner.run(1));
  ASSERT_TRUE(cleaner.running());
  disk.set_capacity(disk.used_bytes());
  const std::uint64_t record = filler.size() + 200;
  while (journal->ensure_room(record, record, 0)) gone(put("other", filler));
  const Result<Cleaner::Slice> slice = cleaner.run(1'000'000);
  ASSERT_FALSE(slice);
  EXPECT_EQ(slice.error().code, ErrorCode::no_space);
  EXPECT_TRUE(marks.contains("cleaning.no-room"));
  EXPECT_TRUE(marks.contains("cleaning.again"));
  expect_cleaned_once_there_is_room();
  EXPECT_EQ(state.pending(), 12u);
}

}  // namespace
}  // namespace tarry::embedded
