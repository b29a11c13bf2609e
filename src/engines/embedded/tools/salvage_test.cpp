// How salvage treats the store's files around the journals.
#include "engines/embedded/tools/salvage.h"

#include <gtest/gtest.h>

#include "storage/memory_storage.h"
#include "support/disks/faulty_storage.h"
#include "support/embedded/salvage.h"

namespace tarry::embedded {
namespace {

using test::disk_with;
using test::files_of;
using test::Frame;
using test::frames_of;
using test::Held;
using test::held_in;
using test::Machine;
using test::OneShard;
using test::Salvaged;
using test::store_with;
using test::tree_of;
using Salvage = test::SalvageTest;

TEST_F(Salvage, GoesOnUnderTheSameNames) {
  a_life();
  const Held before = held_in(*disk_with(files)->root(), clock);
  const std::string first = files.begin()->first;
  const Frame damaged = frames_of(files.at(first)).back();
  files[first][damaged.offset + 60] ^= 1;
  const auto source = store_with(files);
  const Salvaged salvaged(*source->root(), clock);
  ASSERT_TRUE(salvaged.report);
  EXPECT_EQ(salvaged.told().lost_batches, 1u);
  ASSERT_EQ(salvaged.told().losses.size(), 1u);
  EXPECT_EQ(salvaged.told().losses[0].offset, damaged.offset);
  EXPECT_EQ(salvaged.told().losses[0].bytes, damaged.end - damaged.offset);
  EXPECT_NE(salvaged.told().losses[0].file.find(first), std::string::npos);
  const auto identity = read_identity(*salvaged.disk.root());
  ASSERT_TRUE(identity && *identity);
  EXPECT_EQ((*identity)->store_id, test::kStoreId);
  OneShard again(salvaged.shard(), clock, options);
  ASSERT_FALSE(again.error()) << again.error()->message;
  // The new store must never give an id that may have been given before.
  EXPECT_GT(again.state().next_id(), before.messages.rbegin()->first + (1u << 27));
  ASSERT_TRUE(again.ask(test::push("q", "after the salvage")));
  ASSERT_TRUE(again.ask(test::cancel("q", "g")));
  EXPECT_TRUE(test::conserves(again.state()));
}

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

// A client that pushes such payloads must not change messages of other queues.
TEST_F(Salvage, APayloadThatIsABatchIsNone) {
  test::Segment one(1);
  one.opening();
  one.batch({test::put(0, 1, "a")}, 1);
  one.batch({test::put(1, 2, "b")}, 2);
  test::Segment two(2, one.next_batch(), one.seal());
  two.opening(1, 3);
  two.batch({test::put(2, 3, "c")}, 4);
  std::string behind = two.bytes();
  behind[kSegmentHeaderBytes + 50] ^= 1;  // damage, so that recovery refuses it
  const GoneRecord gone{GoneWhy::purged, 0, {{0, 1}, {1, 2}}};
  const std::string forged = test::payload_like_a_batch({gone}, 4);
  for (const bool broken : {false, true}) {
    std::string three = one.bytes() + forged;  // as in a file that a cleaned segment had before
    if (broken) three[0] ^= 1;
    const auto source = store_with(
        {{segment_name(1), one.bytes()}, {segment_name(2), behind}, {segment_name(3), three}});
    const Salvaged salvaged(*source->root(), clock);
    ASSERT_TRUE(salvaged.report) << salvaged.report.error().message;
    EXPECT_FALSE(salvaged.told().sound);
    EXPECT_EQ(salvaged.told().messages, 3u);
    EXPECT_EQ(salvaged.told().lost_batches, 1u);
  }
}

TEST_F(Salvage, AShardThatIsMissing) {
  a_life();
  // Only STORE says that there are two shards.
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
    if (identity) {                        // only the mark had still to be removed
      EXPECT_TRUE(test::Recovery(*target.root()->subdirectory("shard-000", false).value()).ok());
      continue;
    }
    EXPECT_EQ(identity.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(identity.error().message.find("salvage"), std::string::npos);
    storage::MemoryDisk again;  // the directory is not salvaged as a damaged store either
    EXPECT_EQ(salvage(*target.root(), *again.root(), given).error().message,
              identity.error().message);
    EXPECT_TRUE(again.root()->list()->empty());
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace tarry::embedded
