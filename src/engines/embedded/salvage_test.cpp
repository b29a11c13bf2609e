// What salvage makes of a store that recovery refuses: everything that was not damaged, nothing
// that was never there, and not a byte of the old store changed.
#include "engines/embedded/salvage.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "engines/embedded/inspect.h"
#include "engines/embedded/store_files.h"
#include "engines/embedded/test_damage.h"
#include "engines/embedded/test_life.h"
#include "engines/embedded/test_sample.h"
#include "storage/faulty_storage.h"

namespace tarry::embedded {
namespace {

using test::disk_with;
using test::Files;
using test::files_of;
using test::Frame;
using test::frames_of;
using test::OneShard;

constexpr StoreIdentity kOneShard{kFormatVersion, 1, test::kStoreId, 0x5EED};

/// The line without that name and the number that follows it, wherever they are.
std::string without(std::string_view name, std::string line) {
  for (std::size_t at = 0; (at = line.find(name, at)) != std::string::npos;) {
    const std::size_t number = line.find_first_not_of('-', at + name.size());
    line.erase(at, std::min(line.find_first_not_of("0123456789", number), line.size()) - at);
  }
  return line;
}

/// A store whose only shard has these files.
std::unique_ptr<storage::MemoryDisk> store_with(const Files& files,
                                                const StoreIdentity& identity = kOneShard) {
  auto disk = std::make_unique<storage::MemoryDisk>();
  const auto root = disk->root();
  EXPECT_TRUE(write_identity(*root, identity));
  test::copy_tree(*disk_with(files)->root(), *root->subdirectory("shard-000", false).value());
  return disk;
}

std::map<std::string, std::string> tree_of(storage::Directory& directory,
                                           const std::string& prefix = {}) {
  std::map<std::string, std::string> files;
  const auto names = directory.list();
  for (const std::string& name : *names) {
    if (test::has(directory, name)) {
      files[prefix + name] = test::read_all(directory, name);
    } else {
      files.merge(tree_of(*directory.subdirectory(name, false).value(), prefix + name + "/"));
    }
  }
  return files;
}

class Machine final : public timing::Clock {
 public:
  explicit Machine(const timing::ManualClock& clock) : clock_(&clock) {}
  timing::Instant now() const override { return clock_->now(); }
  std::uint64_t boot_id() const override { return clock_->boot_id(); }

 private:
  const timing::ManualClock* clock_;
};

struct Salvaged {
  Salvaged(storage::Directory& source, const timing::ManualClock& clock)
      : before(tree_of(source)), report(run(source, clock)) {
    EXPECT_TRUE(tree_of(source) == before) << "the old store was changed";
  }
  [[nodiscard]] std::unique_ptr<storage::Directory> shard() const {
    return disk.root()->subdirectory("shard-000", false).value();
  }
  [[nodiscard]] const SalvagedShard& told() const { return report->per_shard.at(0); }

  storage::MemoryDisk disk;
  std::map<std::string, std::string> before;
  Result<SalvageReport> report;

 private:
  Result<SalvageReport> run(storage::Directory& source, const timing::ManualClock& clock) {
    SalvageOptions options;
    options.clock = std::make_shared<Machine>(clock);
    options.segment_bytes = 4096;
    return salvage(source, *disk.root(), options);
  }
};

/// The messages of a journal, as they must come out of salvage, by id.
struct Held {
  struct One {
    std::string line;  // its state
    std::string text;  // key, headers, payload
    std::uint64_t segment = 0;
    std::uint64_t offset = 0;
    Stage stage = Stage::free;
    friend bool operator==(const One& a, const One& b) {
      return a.line == b.line && a.text == b.text;
    }
  };
  std::map<std::uint64_t, One> messages;
  std::string queues;
};

std::string text_of(const PutRecord& put) {
  return std::string(put.key) + '|' + std::string(put.headers) + '|' + std::string(put.payload) +
         (put.damaged ? "|damaged" : "");
}

Held held_in(storage::Directory& directory, const test::Recovery& recovery) {
  Held held;
  const ShardState& state = recovery.state;
  for (QueueId queue = 0; queue < state.queue_count(); ++queue) {
    held.queues += test::queue_line(state.queue(queue)) + '\n';
  }
  if (recovery.result->tail.segments.empty()) return held;
  SegmentFiles files;
  const std::uint64_t newest = recovery.result->tail.segments.back().number;
  for (const SegmentInfo& segment : recovery.result->tail.segments) {
    files.add(segment.number,
              directory.open(segment_name(segment.number), storage::OpenMode::read_only).value());
  }
  std::string buffer;
  for (Handle handle = 0; handle < state.slab.end(); ++handle) {
    if (!state.slab.is_live(handle)) continue;
    const Message& message = state.slab[handle];
    Held::One one;
    one.line = without(" raw ", test::message_line(state, handle, false));
    one.segment = message.position.segment(newest);
    one.offset = message.position.offset();
    one.stage = message.stage();
    const auto put = read_put(files, one.segment, message.position, buffer);
    EXPECT_TRUE(put) << (put ? "" : put.error().message);
    if (!put) continue;
    PutRecord shown = *put;
    if (one.stage == Stage::remembered) shown.headers = shown.payload = {};  // not copied
    one.text = text_of(shown);
    held.messages[message.id] = one;
  }
  return held;
}

Held held_in(storage::Directory& directory, const timing::ManualClock& clock) {
  const test::Recovery recovery(directory, true, clock.boot_id(), clock.now());
  EXPECT_TRUE(recovery.ok()) << recovery.error();
  return recovery.ok() ? held_in(directory, recovery) : Held();
}

/// Key, headers and payload of every message that was ever written.
std::map<std::uint64_t, std::string> texts_in(const Files& files) {
  std::map<std::uint64_t, std::string> texts;
  for (const auto& [name, bytes] : files) {
    for (const Frame& frame : frames_of(bytes)) {
      if (frame.checked > bytes.size()) break;
      for (const Record& record : test::records_of(bytes, frame)) {
        const auto* put = std::get_if<PutRecord>(&record);
        if (put != nullptr && !put->copy) texts[put->ref.id] = text_of(*put);
      }
    }
  }
  return texts;
}

/// What a place in a segment takes with it.
struct Damage {
  std::uint64_t segment = 0;
  std::uint64_t from = 0;  // [from, to): the messages whose records lie there
  std::uint64_t to = 0;
};

// Everything that salvage owes where one place was damaged. An empty answer, or what is wrong.
// `refused` counts those that recovery does not take.
std::string judge(const Files& whole, const Files& damaged, const Damage& damage,
                  const timing::ManualClock& clock, std::uint64_t* refused = nullptr) {
  const Held before = held_in(*disk_with(whole)->root(), clock);
  const auto texts = texts_in(whole);
  const auto source = store_with(damaged);
  const Salvaged salvaged(*source->root(), clock);
  if (!salvaged.report) return salvaged.report.error().message;
  const SalvagedShard& told = salvaged.told();
  const auto shard = salvaged.shard();
  const test::Recovery recovery(*shard, true, clock.boot_id(), clock.now());
  if (!recovery.ok()) return "the new store is refused: " + recovery.error();
  if (!recovery.result->report.clean && !files_of(*shard).empty()) return "not closed clean";
  if (!test::conserves(recovery.state)) return "the books do not balance";
  const Held after = held_in(*shard, recovery);
  if (told.sound) {
    if (!(after.messages == before.messages)) return "another state than recovery's";
    return after.queues == before.queues ? "" : "other queues than recovery's";
  }
  if (refused != nullptr) ++*refused;
  if (told.losses.empty()) return "nothing is said to be lost";
  for (const auto& [id, message] : before.messages) {
    const bool hit = message.segment == damage.segment && message.offset >= damage.from &&
                     message.offset < damage.to;
    const auto found = after.messages.find(id);
    if (found == after.messages.end()) {
      if (hit) continue;
      return "message " + std::to_string(id) + " is gone: " + message.line;
    }
    const bool behind = message.segment > damage.segment ||
                        (message.segment == damage.segment && message.offset >= damage.to);
    // Of the boot's time the opening that says so may be lost.
    if (behind && without(" boot ", found->second.line) != without(" boot ", message.line)) {
      return "message " + std::to_string(id) + " was\n" + message.line + "\nand is\n" +
             found->second.line;
    }
  }
  std::uint64_t more = 0;
  std::uint64_t count = 0;
  for (const auto& [id, message] : after.messages) {
    if (message.stage == Stage::remembered) continue;
    ++count;
    if (!before.messages.contains(id)) ++more;
    const auto text = texts.find(id);
    // From a segment that cleaning has removed since: what the journal held last.
    if (text == texts.end()
            ? !before.messages.contains(id) || before.messages.at(id).text != message.text
            : text->second != message.text) {
      return "message " + std::to_string(id) + " reads wrong: " + message.text;
    }
  }
  if (more > told.uncertain_messages) return "more came back than salvage said";
  if (count != told.messages) return "not as many messages as salvage said";
  return "";
}

Damage frame_at(const std::string& name, std::string_view bytes, std::uint64_t at) {
  Damage damage{segment_number(name), 0, 0};
  for (const Frame& frame : frames_of(bytes)) {
    if (at >= frame.offset && at < frame.end) damage = {damage.segment, frame.offset, frame.end};
  }
  return damage;
}

// -- any life, any byte

RC_GTEST_PROP(SalvageProperty, LosesWhatWasDamagedAndNothingElse, ()) {
  storage::VirtualDisk disk;
  timing::ManualClock clock;
  test::Life life(clock);
  OneShard::Options options;
  options.keeps_history = false;
  {
    OneShard shard(disk.root(), clock, options);
    for (const test::Step& step : *test::gen_steps()) {
      life.submit(shard, step);
      shard.settle();
    }
  }
  const Files whole = files_of(*disk.copy()->root());
  RC_ASSERT(judge(whole, whole, {}, clock) == "");
  if (whole.empty()) return;
  for (int i = 0; i < 4; ++i) {
    auto hit = std::next(whole.begin(), *rc::gen::inRange<std::ptrdiff_t>(
                                            0, static_cast<std::ptrdiff_t>(whole.size())));
    if (hit->second.empty()) continue;
    const auto at = *rc::gen::inRange<std::uint64_t>(0, hit->second.size());
    Files damaged = whole;
    damaged[hit->first][at] = static_cast<char>(hit->second[at] ^ *rc::gen::inRange(1, 256));
    if (decode_segment_header(std::next(hit) == whole.end() ? "" : std::next(hit)->second).state !=
        HeaderState::valid) {
      continue;  // the newest one may end anywhere: without its last batches it is an older state
    }
    if (const std::string wrong =
            judge(whole, damaged, frame_at(hit->first, hit->second, at), clock);
        !wrong.empty()) {
      RC_FAIL(hit->first + " offset " + std::to_string(at) + ": " + wrong);
    }
  }
}

// -- one life, every byte

class Salvage : public test::LivedJournal {
 protected:
  void a_life() {
    begin();
    live();
    push_into_another_segment();
    end();
    ASSERT_NE(files.begin()->first, newest);
  }
  // Every file that is closed.
  template <typename F>
  void for_each_closed(F&& judged) {
    const Files whole = files;
    for (const auto& [name, bytes] : whole) {
      if (name == newest) break;
      judged(whole, name, bytes);
      if (HasFailure()) return;
    }
  }
};

TEST_F(Salvage, OfEveryByteThatIsFlipped) {
  a_life();
  std::uint64_t refused = 0;
  std::uint64_t used = 0;
  for_each_closed([&](const Files& whole, const std::string& name, const std::string& bytes) {
    for (std::uint64_t at = 0; at < bytes.size(); at += test::kTryEvery) {
      Files damaged = whole;
      damaged[name][at] = static_cast<char>(bytes[at] ^ 0xFF);
      ASSERT_EQ(judge(whole, damaged, frame_at(name, bytes, at), clock, &refused), "")
          << name << " offset " << at;
    }
    used += kSegmentHeaderBytes;
    for (const Frame& frame : frames_of(bytes)) used += frame.checked - frame.offset;
  });
  if (test::kTryEvery == 1) {
    EXPECT_EQ(refused, used);  // all but padding and what is only allocated
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(used, 1000u);
}

TEST_F(Salvage, OfEveryLengthThatIsCut) {
  a_life();
  for_each_closed([&](const Files& whole, const std::string& name, const std::string& bytes) {
    for (std::uint64_t size = 0; size < bytes.size(); size += test::kTryEvery) {
      Files damaged = whole;
      damaged[name].resize(size);
      Damage damage{segment_number(name), kSegmentHeaderBytes, bytes.size()};
      for (const Frame& frame : frames_of(bytes)) {
        if (frame.checked <= size) damage.from = frame.end;
      }
      ASSERT_EQ(judge(whole, damaged, damage, clock), "") << name << " cut to " << size;
    }
  });
}

TEST_F(Salvage, OfASegmentThatIsMissing) {
  a_life();
  for_each_closed([&](const Files& whole, const std::string& name, const std::string& bytes) {
    Files damaged = whole;
    damaged.erase(name);
    ASSERT_EQ(judge(whole, damaged, {segment_number(name), 0, bytes.size()}, clock), "") << name;
    const auto source = store_with(damaged);
    const Salvaged salvaged(*source->root(), clock);
    ASSERT_FALSE(salvaged.told().losses.empty());
    const Loss& loss = salvaged.told().losses[0];
    EXPECT_EQ(loss.what, "is missing");
    EXPECT_NE(loss.file.find(name), std::string::npos) << loss.file;
  });
}

TEST_F(Salvage, GoesOnUnderTheSameNames) {
  a_life();
  const Held before = held_in(*disk_with(files)->root(), clock);
  const std::string first = files.begin()->first;
  const Frame second = frames_of(files.at(first)).at(3);
  files[first][second.offset + 60] ^= 1;
  const auto source = store_with(files);
  const Salvaged salvaged(*source->root(), clock);
  ASSERT_TRUE(salvaged.report);
  EXPECT_EQ(salvaged.told().lost_batches, 1u);
  ASSERT_EQ(salvaged.told().losses.size(), 1u);
  EXPECT_EQ(salvaged.told().losses[0].offset, second.offset);
  EXPECT_EQ(salvaged.told().losses[0].bytes, second.end - second.offset);
  EXPECT_NE(salvaged.told().losses[0].file.find(first), std::string::npos);
  const auto identity = read_identity(*salvaged.disk.root());
  ASSERT_TRUE(identity && *identity);
  EXPECT_EQ((*identity)->store_id, test::kStoreId);
  OneShard again(salvaged.shard(), clock, options);
  ASSERT_FALSE(again.error()) << again.error()->message;
  // Never an id that may have been given before.
  EXPECT_GT(again.state().next_id(), before.messages.rbegin()->first + (1u << 27));
  ASSERT_TRUE(again.ask(test::push("q", "after the salvage")));
  ASSERT_TRUE(again.ask(test::cancel("q", "g")));
  EXPECT_TRUE(test::conserves(again.state()));
}

TEST_F(Salvage, OfADiskThatCannotReadSomePlaces) {
  a_life();
  const auto source = store_with(files);
  const Held before = held_in(*disk_with(files)->root(), clock);
  int failed = 0;
  for (std::uint64_t call = 1; call < 400; ++call) {
    auto faults = std::make_shared<storage::Faults>();
    faults->arm({.fail_at = call, .reads_too = true});
    storage::FaultyDirectory faulty(source->root(), faults);
    storage::MemoryDisk disk;
    SalvageOptions given;
    given.clock = std::make_shared<Machine>(clock);
    given.segment_bytes = 4096;
    const auto report = salvage(faulty, *disk.root(), given);
    const std::string what = faults->first_failed();
    if (what.empty()) break;
    if (!what.starts_with("read_at") || what.find(".seg") == std::string::npos) continue;
    ++failed;
    ASSERT_TRUE(report) << what << ": " << report.error().message;
    // Read again it reads well.
    EXPECT_EQ(report->per_shard[0].messages + report->per_shard[0].remembered,
              before.messages.size())
        << what;
  }
  EXPECT_GT(failed, 5);
}

// -- the store around it

TEST_F(Salvage, AStoreFileWithOneWrongByteIsPutRight) {
  a_life();
  const StoreIdentity four{kFormatVersion, 4, test::kStoreId, 0x5EED};
  const auto source = store_with(files, four);
  const auto root = source->root();
  const std::string good = test::read_all(*root, "STORE");
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    test::write_all(*root, "STORE", bad);
    const Salvaged salvaged(*root, clock);
    ASSERT_TRUE(salvaged.report) << at << salvaged.report.error().message;
    EXPECT_NE(salvaged.report->store_file, "");
    EXPECT_EQ(test::read_all(*salvaged.disk.root(), "STORE"), good);
  }
}

TEST_F(Salvage, AStoreFileThatIsLost) {
  a_life();
  {
    const auto source = store_with(files);
    ASSERT_TRUE(source->root()->remove("STORE"));
    const Salvaged salvaged(*source->root(), clock);
    ASSERT_TRUE(salvaged.report) << salvaged.report.error().message;
    EXPECT_NE(salvaged.report->store_file, "");
    EXPECT_EQ(salvaged.report->store_id, test::kStoreId);
    EXPECT_TRUE(held_in(*salvaged.shard(), clock).messages ==
                held_in(*disk_with(files)->root(), clock).messages);
  }
  const auto source = store_with(files, {kFormatVersion, 2, test::kStoreId, 0x5EED});
  ASSERT_TRUE(source->root()->remove("STORE"));
  const Salvaged salvaged(*source->root(), clock);
  ASSERT_FALSE(salvaged.report);
  EXPECT_EQ(salvaged.report.error().code, ErrorCode::damaged);
  EXPECT_NE(salvaged.report.error().message.find("2 shards cannot"), std::string::npos);
  EXPECT_TRUE(salvaged.disk.root()->list()->empty());
}

TEST_F(Salvage, AShardThatIsMissing) {
  a_life();
  // Made where only STORE says that there are two.
  const auto source = std::make_unique<storage::MemoryDisk>();
  ASSERT_TRUE(write_identity(*source->root(), {kFormatVersion, 2, test::kStoreId, 0x5EED}));
  storage::MemoryDisk without;
  for (const auto& [name, bytes] : tree_of(*source->root())) {
    test::write_all(*without.root(), name, bytes);
  }
  test::copy_tree(*disk_with(files)->root(),
                  *without.root()->subdirectory("shard-000", true).value());
  const Salvaged salvaged(*without.root(), clock);
  ASSERT_TRUE(salvaged.report) << salvaged.report.error().message;
  EXPECT_TRUE(salvaged.told().sound);
  const SalvagedShard& lost = salvaged.report->per_shard.at(1);
  EXPECT_FALSE(lost.sound);
  ASSERT_EQ(lost.losses.size(), 1u);
  EXPECT_NE(lost.losses[0].file.find("shard-001"), std::string::npos);
  EXPECT_FALSE(files_of(*salvaged.disk.root()->subdirectory("shard-001", false).value()).empty());
}

TEST_F(Salvage, RefusesWhatItMustNotTouch) {
  a_life();
  const auto source = store_with(files);
  storage::MemoryDisk target;
  {
    const auto lock = source->root()->lock(kLockName, "pid 7");
    EXPECT_EQ(salvage(*source->root(), *target.root(), {}).error().code, ErrorCode::conflict);
    EXPECT_TRUE(target.root()->list()->empty());
  }
  test::write_all(*target.root(), "thesis.txt", "all my work");
  EXPECT_EQ(salvage(*source->root(), *target.root(), {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(target.root()->list()->size(), 1u);
  storage::MemoryDisk empty;
  storage::MemoryDisk other;
  EXPECT_EQ(salvage(*empty.root(), *other.root(), {}).error().code, ErrorCode::not_found);
  EXPECT_TRUE(other.root()->list()->empty());
}

TEST_F(Salvage, ThatStopsHalfwayLeavesNoStore) {
  a_life();
  files.begin()->second[200] ^= 1;
  const auto source = store_with(files);
  bool ended = false;
  for (std::uint64_t call = 1; call < 1000 && !ended; ++call) {
    storage::MemoryDisk target;
    auto faults = std::make_shared<storage::Faults>();
    faults->arm({.fail_at = call, .for_good = true});
    storage::FaultyDirectory faulty(target.root(), faults);
    SalvageOptions given;
    given.clock = std::make_shared<Machine>(clock);
    const auto report = salvage(*source->root(), faulty, given);
    ended = faults->failed() == 0;
    ASSERT_EQ(report.has_value(), ended) << call;
    const auto identity = read_identity(*target.root());
    if (identity && !*identity) continue;  // nothing there yet
    if (identity) {                        // only the mark was left to take away
      EXPECT_TRUE(test::Recovery(*target.root()->subdirectory("shard-000", false).value()).ok());
      continue;
    }
    EXPECT_EQ(identity.error().code, ErrorCode::damaged);
    EXPECT_NE(identity.error().message.find("salvage"), std::string::npos);
  }
  EXPECT_TRUE(ended);
}

// -- what contradicts itself once something is lost

class Contradiction : public testing::Test {
 protected:
  using Segment = test::Segment;

  // Of two segments, the first damaged at `at`.
  void damage(Segment first, Segment second, std::uint64_t at) {
    first.bytes()[at] ^= 1;
    Files files{{segment_name(1), first.bytes()}, {segment_name(2), second.bytes()}};
    source = store_with(files);
    salvaged.emplace(*source->root(), clock);
    ASSERT_TRUE(salvaged->report) << salvaged->report.error().message;
    ASSERT_FALSE(salvaged->told().sound);
    held = held_in(*salvaged->shard(), clock);
  }

  static GoneRecord acked(Handle handle, std::uint64_t id) {
    return {GoneWhy::acked, 0, {{handle, id}}};
  }

  timing::ManualClock clock;
  std::unique_ptr<storage::MemoryDisk> source;
  std::optional<Salvaged> salvaged;
  Held held;
};

TEST_F(Contradiction, APlaceThatWasGivenAgain) {
  Segment first(1);
  first.opening();
  first.batch({test::put(0, 1, "a")});
  const auto lost = first.batch({acked(0, 1)});
  first.batch({test::put(0, 2, "b")}, 2);
  Segment second(2, first.next_batch(), first.seal());
  second.opening(1, 4);
  damage(first, second, lost + 50);
  ASSERT_EQ(held.messages.size(), 1u);
  EXPECT_EQ(held.messages.at(2).text, "b||payload");
  EXPECT_EQ(salvaged->told().uncertain_messages, 0u);
}

TEST_F(Contradiction, AKeyThatWasGivenAgain) {
  Segment first(1);
  first.opening();
  first.batch({test::put(0, 1, "a", "old"), test::put(1, 2, "c")});
  const auto lost = first.batch({acked(0, 1)});
  first.batch({test::put(2, 3, "a", "new")}, 2);
  Segment second(2, first.next_batch(), first.seal());
  second.opening(1, 4);
  damage(first, second, lost + 50);
  ASSERT_EQ(held.messages.size(), 2u);
  EXPECT_EQ(held.messages.at(3).text, "a||new");
  EXPECT_EQ(salvaged->told().uncertain_messages, 1u);  // c
}

TEST_F(Contradiction, AMessageOfWhichOnlyOthersTell) {
  Segment first(1);
  first.opening();
  const auto lost = first.batch({test::put(0, 1, "a"), test::put(1, 2, "b")});
  first.batch({ClaimedRecord{0, 10, 10, {{{0, 1}, 1, 1}, {{1, 2}, 1, 1}}}});
  first.batch({acked(1, 2), LeaseRecord{0, {0, 1}, 20, 20}, StoppingRecord{0, {0, 1}}}, 3);
  Segment second(2, first.next_batch(), first.seal());
  second.opening(1, 4);
  damage(first, second, lost + 50);
  EXPECT_TRUE(held.messages.empty());
  EXPECT_EQ(salvaged->told().lost_messages, 1u);
  EXPECT_EQ(salvaged->told().lost_batches, 1u);
}

TEST_F(Contradiction, AQueueWhoseNameIsLost) {
  Segment first(1);
  first.opening();
  const auto lost = first.batch({test::queue(1, "orders")});
  PutRecord put = test::put(0, 1, "a");
  put.queue = 1;
  first.batch({put}, 1);
  Segment second(2, first.next_batch(), first.seal());
  second.batch({test::clock_record(), MarksRecord{2, 1}, test::queue(0, "q")}, 3);
  damage(first, second, lost + 50);
  ASSERT_EQ(held.messages.size(), 1u);
  EXPECT_NE(held.queues.find("queue salvaged-0-1 "), std::string::npos) << held.queues;
  EXPECT_EQ(salvaged->told().unnamed_queues, 1u);
}

TEST_F(Contradiction, ALeaseWhoseClaimIsLost) {
  Segment first(1);
  first.opening();
  first.batch({test::put(0, 1, "a")});
  const auto lost = first.batch({ClaimedRecord{0, 10, 10, {{{0, 1}, 1, 1}}}});
  first.batch({LeaseRecord{0, {0, 1}, 20, 20}, StoppingRecord{0, {0, 1}}}, 3);
  Segment second(2, first.next_batch(), first.seal());
  second.opening(1, 4);
  damage(first, second, lost + 50);
  ASSERT_EQ(held.messages.size(), 1u);
  EXPECT_NE(held.messages.at(1).line.find("stopping 0"), std::string::npos);
  EXPECT_EQ(held.messages.at(1).stage, Stage::scheduled);
}

TEST_F(Contradiction, SegmentsBelowTheMarkAreNotRead) {
  Segment first(1);
  first.opening();
  first.batch({test::put(0, 1, "ended long ago")});
  Segment second(2, first.next_batch(), first.seal());
  second.opening(2, 2);
  const auto lost = second.batch({test::put(0, 2, "lost")});
  second.batch({test::put(1, 3, "kept")}, 4);
  Segment third(3, second.next_batch(), second.seal());
  third.opening(2, 5);
  second.bytes()[lost + 50] ^= 1;
  source = store_with({{segment_name(1), first.bytes()},
                       {segment_name(2), second.bytes()},
                       {segment_name(3), third.bytes()}});
  salvaged.emplace(*source->root(), clock);
  ASSERT_TRUE(salvaged->report);
  held = held_in(*salvaged->shard(), clock);
  ASSERT_EQ(held.messages.size(), 1u);
  EXPECT_TRUE(held.messages.contains(3));
}

}  // namespace
}  // namespace tarry::embedded
