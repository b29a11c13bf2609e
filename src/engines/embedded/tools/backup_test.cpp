// Backup: it refuses damage, and does not take a server's changes for damage.
// tests/integration/store/backup_test.py makes backups beside a real server.
#include "engines/embedded/tools/backup.h"

#include <gtest/gtest.h>

#include "engines/embedded/store/store_files.h"
#include "storage/posix_storage.h"
#include "support/disks/watched_disk.h"
#include "support/embedded/recovery_table.h"
#include "support/embedded/salvage.h"
#include "support/temp_directory.h"

namespace tarry::embedded {
namespace {

using test::put;
using test::Segment;

class Backup : public test::RecoveryTable {
 protected:
  Backup() {
    // Adds messages 4 and 5 to the segment that is being written. The batch of message 5 states
    // that of message 4 durable.
    at_d = two.batch({put(3, 4, "d")}, two.next_batch() - 1);
    two.batch({put(4, 5, "e")}, two.next_batch() - 1);
    EXPECT_TRUE(write_identity(*source, test::kOneShard));
    directory = source->subdirectory("shard-000", false).value();
  }

  // Makes a backup. Returns the number of messages in it, or why there is none.
  Result<std::uint64_t> take() {
    auto report = backup(*source, *target);
    EXPECT_EQ(test::has(*target, "STORE"), report.has_value());
    if (!report) return std::move(report).error();
    return report->messages;
  }

  void expect_refused(std::uint64_t segment, std::uint64_t offset) {
    const auto taken = take();
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, ErrorCode::damaged);
    EXPECT_NE(taken.error().message.find(directory->path() + "/" + segment_name(segment) +
                                         " offset " + std::to_string(offset)),
              std::string::npos)
        << taken.error().message;
  }

  // Calls `change` before this segment is read from its first batch on for the nth time.
  void before_read_of(std::uint64_t segment, int nth, std::function<void()> change) {
    watch = [=, left = nth](std::string_view name, std::uint64_t offset) mutable {
      if (name == segment_name(segment) && offset == kSegmentHeaderBytes && --left == 0) change();
    };
  }

  std::vector<std::string> taken_names() {
    return target->subdirectory("shard-000", false).value()->list().value();
  }

  storage::TempDirectory place;
  test::BeforeRead watch;
  std::unique_ptr<storage::Directory> source = std::make_unique<test::WatchedDirectory>(
      storage::open_directory(place.path() + "/store", true).value(), watch);
  std::unique_ptr<storage::Directory> target =
      storage::open_directory(place.path() + "/backup", true).value();
  std::uint64_t at_d = 0;
};

TEST_F(Backup, HasAllThatIsThere) {
  store_both();
  EXPECT_EQ(take().value(), 5u);
}

TEST_F(Backup, ATornEndIsLeftOut) {
  store_both();
  test::write_all(*directory, segment_name(2), two.bytes().substr(0, two.bytes().size() - 9));
  EXPECT_EQ(take().value(), 4u);
}

TEST_F(Backup, OfADamagedHeadIsRefused) {
  two.bytes()[at_d + kBatchHeaderBytes + 9] ^= 1;
  store_both();
  expect_refused(2, at_d);
}

TEST_F(Backup, WhatWasHalfWrittenWhenItWasReadIsNoDamage) {
  const std::string whole = two.bytes();
  two.bytes()[at_d + kBatchHeaderBytes + 9] ^= 1;
  store_both();
  before_read_of(2, 2, [&] { test::write_all(*directory, segment_name(2), whole); });
  EXPECT_EQ(take().value(), 5u);
}

// Cleaning has copied the head's live messages, and gives its file the next number.
TEST_F(Backup, AHeadThatGoesMeanwhileIsNoDamage) {
  Segment three(3, two.next_batch(), two.seal());
  three.batch({test::clock_record(), MarksRecord{6, 3}, test::queue(0, "q")},
              three.next_batch() - 1);
  three.batch({put(5, 6, "f")}, three.next_batch() - 1);
  two.bytes()[at_d + kBatchHeaderBytes + 9] ^= 1;
  store_both();
  before_read_of(2, 2, [&] {
    test::store(*directory, three);
    ASSERT_TRUE(directory->remove(segment_name(1)));
    ASSERT_TRUE(directory->rename(segment_name(2), segment_name(4)));
  });
  EXPECT_EQ(take().value(), 1u);
  EXPECT_EQ(taken_names(), std::vector<std::string>{segment_name(3)});
}

TEST_F(Backup, AHeaderThatWasTornWhenItWasWrittenIsLeftOut) {
  store_both();
  test::write_all(*directory, segment_name(3), std::string(64, '?') + std::string(4032, '\0'));
  test::write_all(*directory, segment_name(4), std::string(4096, '\0'));
  EXPECT_EQ(take().value(), 5u);
  EXPECT_EQ(taken_names(), (std::vector<std::string>{segment_name(1), segment_name(2)}));
}

TEST_F(Backup, WhatIsLeftOfAnOlderSegmentIsLeftOut) {
  store_both();
  test::write_all(*directory, segment_name(3), one.bytes());
  EXPECT_EQ(take().value(), 5u);
}

TEST_F(Backup, APayloadThatIsABatchProvesNothing) {
  store_both();
  test::write_all(*directory, segment_name(3),
                  one.bytes() + test::payload_like_a_batch({ClosedRecord{}}, UINT64_MAX / 2));
  EXPECT_EQ(take().value(), 5u);
}

TEST_F(Backup, OfAHeadWithoutAHeaderIsRefused) {
  for (const char byte : {'?', '\0'}) {
    store_both();
    test::write_all(
        *directory, segment_name(2),
        std::string(kSegmentHeaderBytes, byte) + two.bytes().substr(kSegmentHeaderBytes));
    expect_refused(2, 0);
    std::filesystem::remove_all(place.path() + "/backup/shard-000");
    std::filesystem::remove(place.path() + "/backup/" + kBackupName);
  }
}

// The first batch is lost too. Only the later batches show that the file is not just a prepared
// one.
TEST_F(Backup, OfAHeadWithoutItsFirstBlockIsRefused) {
  store_both();
  test::write_all(*directory, segment_name(2), std::string(at_c, '\0') + two.bytes().substr(at_c));
  expect_refused(2, 0);
}

TEST_F(Backup, OfAnOnlySegmentWithoutAHeaderIsRefused) {
  test::write_all(*directory, segment_name(1),
                  std::string(kSegmentHeaderBytes, '\0') + one.bytes().substr(kSegmentHeaderBytes));
  expect_refused(1, 0);
}

TEST_F(Backup, ASegmentThatIsBegunMeanwhileIsNoDamage) {
  Segment three(3, two.next_batch(), two.seal());
  three.opening(1, three.next_batch() - 1);
  three.batch({put(5, 6, "f")}, three.next_batch() - 1);
  store_both();
  test::write_all(*directory, segment_name(3), std::string(4096, '\0'));
  before_read_of(3, 1, [&] { test::store(*directory, three); });
  EXPECT_EQ(take().value(), 6u);
}

}  // namespace
}  // namespace tarry::embedded
