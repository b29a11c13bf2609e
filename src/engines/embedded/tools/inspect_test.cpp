// Inspecting a store that a process may have open: changes of that process are no damage.
#include "engines/embedded/tools/inspect.h"

#include <gtest/gtest.h>

#include "storage/posix_storage.h"
#include "support/disks/faulty_storage.h"
#include "support/disks/watched_disk.h"
#include "support/embedded/recovery_table.h"
#include "support/embedded/salvage.h"
#include "support/temp_directory.h"

namespace tarry::embedded {
namespace {

class Inspect : public test::RecoveryTable {
 protected:
  Result<ShardInspection> look(bool deep = false) {
    return inspect_shard(watched, test::kOneShard, 0, deep, {});
  }

  // The segment's bytes, with one byte of the batch at `at` changed.
  static std::string turned(const test::Segment& segment, std::uint64_t at) {
    std::string bytes = segment.bytes();
    bytes[at + kBatchHeaderBytes + 9] ^= 1;
    return bytes;
  }

  std::string problem_at(std::uint64_t segment, std::uint64_t offset) const {
    return directory->path() + "/" + segment_name(segment) + " offset " + std::to_string(offset);
  }

  bool read_one = false;
  test::BeforeRead watch;
  test::WatchedDirectory watched{disk.root(), watch};
};

TEST_F(Inspect, DamageThatStaysIsAProblem) {
  store_both();
  test::write_all(*directory, segment_name(1), turned(one, at_b));
  const auto shard = look();
  ASSERT_TRUE(shard);
  ASSERT_EQ(shard->problems.size(), 1u);
  EXPECT_TRUE(shard->problems.front().starts_with(problem_at(1, at_b))) << shard->problems.front();
}

TEST_F(Inspect, WhatASecondLookDoesNotFindIsNoProblem) {
  store_both();
  watch = [&, reads = 0](std::string_view name, std::uint64_t offset) mutable {
    if (name != segment_name(1) || offset != kSegmentHeaderBytes) return;
    ++reads;
    test::write_all(*directory, name, reads == 1 ? turned(one, at_b) : one.bytes());
  };
  const auto shard = look();
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->problems, std::vector<std::string>());
  EXPECT_EQ(shard->messages, 3u);
}

TEST_F(Inspect, WhereNoTwoLooksFindTheSameNothingIsSaid) {
  store_both();
  watch = [&, reads = 0](std::string_view name, std::uint64_t offset) mutable {
    if (name != segment_name(1) || offset != kSegmentHeaderBytes) return;
    test::write_all(*directory, name,
                    turned(one, ++reads % 2 == 0 ? at_b : std::uint64_t{kSegmentHeaderBytes}));
  };
  const auto shard = look();
  ASSERT_FALSE(shard);
  EXPECT_EQ(shard.error().code, ErrorCode::unavailable);
}

TEST_F(Inspect, MessagesInASegmentThatWasCleanedAreNotMissed) {
  store_both();
  watch = [&](std::string_view name, std::uint64_t offset) {
    if (name == segment_name(2) && offset == kSegmentHeaderBytes && read_one) {
      ASSERT_TRUE(directory->remove(segment_name(1)));
      read_one = false;
    }
    if (name == segment_name(1) && offset == kSegmentHeaderBytes) read_one = true;
  };
  const auto shard = look(true);
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->problems, std::vector<std::string>());
  EXPECT_FALSE(test::has(*directory, segment_name(1)));
}

TEST_F(Inspect, WhatCannotBeReadIsNoDamage) {
  store_both();
  const auto faults = std::make_shared<storage::Faults>();
  storage::FaultyDirectory failing(disk.root(), faults);
  faults->arm({.for_good = true, .reads_too = true});
  const auto shard = inspect_shard(failing, test::kOneShard, 0, true, {});
  ASSERT_FALSE(shard);
  EXPECT_EQ(shard.error().code, ErrorCode::io_error);
}

TEST_F(Inspect, KeepsNobodyOut) {
  const storage::TempDirectory place;
  const auto root = storage::open_directory(place.path(), false).value();
  ASSERT_TRUE(write_identity(*root, test::kOneShard));
  directory = root->subdirectory("shard-000", false).value();
  store_both();
  ASSERT_TRUE(root->lock(kLockName, "the last one"));
  bool asked = false;
  const auto store = inspect(place.path(), false, [&](std::uint64_t, std::uint64_t) {
    EXPECT_TRUE(root->lock(kLockName, "another"));
    asked = true;
  });
  ASSERT_TRUE(store);
  EXPECT_TRUE(asked);
}

}  // namespace
}  // namespace tarry::embedded
