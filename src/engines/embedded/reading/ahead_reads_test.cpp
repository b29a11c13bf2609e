#include "engines/embedded/reading/ahead_reads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engines/embedded/journal/journal_format.h"
#include "storage/memory_storage.h"
#include "support/disks/disk_files.h"

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kRecord = 100;
constexpr std::uint64_t kApart = 200;

class AheadReadsTest : public testing::Test {
 protected:
  AheadReadsTest() {
    for (std::size_t i = 0; i < 400'000; ++i) bytes += static_cast<char>('a' + i / 7 % 26);
    test::write_all(*directory, segment_name(1), bytes);
    files.add(1, directory->open(segment_name(1), storage::OpenMode::read_only).value());
  }
  static RecordPlace place(std::uint64_t number) {
    return {1, Position(1, number * kApart, kRecord)};
  }
  static std::vector<RecordPlace> places(std::uint64_t first, std::uint64_t count) {
    std::vector<RecordPlace> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(place(first + i));
    return all;
  }
  bool has(std::uint64_t number) {
    const auto found = ahead.find(place(number));
    if (found.empty()) return false;
    EXPECT_EQ(found, std::string_view(bytes).substr(number * kApart, kRecord));
    return true;
  }

  storage::MemoryDisk disk;
  std::unique_ptr<storage::Directory> directory = disk.root();
  std::string bytes;
  SegmentFiles files;
  AheadReads ahead{files, directory->make_reader()};
};

TEST_F(AheadReadsTest, IsFoundFromTheNextLookOn) {
  const auto all = places(0, 10);
  EXPECT_EQ(ahead.read(all), 10u);
  EXPECT_FALSE(has(3));
  ahead.look();
  for (std::uint64_t i = 10; i-- > 0;) EXPECT_TRUE(has(i)) << i;
  EXPECT_FALSE(has(10));
}

TEST_F(AheadReadsTest, ReadsSomeAtATime) {
  const auto all = places(0, 200);
  const std::size_t some = ahead.read(all);
  EXPECT_LT(some, 200u);
  ahead.look();
  EXPECT_TRUE(has(some - 1));
  EXPECT_FALSE(has(some));
}

TEST_F(AheadReadsTest, FewerOfLongRecords) {
  std::vector<RecordPlace> all;
  for (std::uint64_t i = 0; i < 10; ++i) all.push_back({1, Position(1, i * 40'000, 40'000)});
  const std::size_t some = ahead.read(all);
  EXPECT_GT(some, 1u);
  EXPECT_LT(some, 10u);
  ahead.look();
  EXPECT_EQ(ahead.find(all[some - 1]).size(), all[0].position.size());
  EXPECT_EQ(ahead.find(all[some]), "");
}

TEST_F(AheadReadsTest, GoesOnBehindWhatWasMissed) {
  ahead.missed(place(99));
  const auto all = places(0, 200);
  const std::size_t done = ahead.read(all);
  EXPECT_GT(done, 100u);
  ahead.look();
  EXPECT_FALSE(has(99));
  EXPECT_TRUE(has(100));
  EXPECT_EQ(ahead.read(std::span(all).subspan(0, 10)), 10u) << "it was missed once";
  ahead.look();
  EXPECT_TRUE(has(0));
}

TEST_F(AheadReadsTest, AllOfItMissedIsDone) {
  ahead.missed(place(9));
  EXPECT_EQ(ahead.read(places(0, 10)), 10u);
  ahead.look();
  EXPECT_FALSE(has(9));
}

TEST_F(AheadReadsTest, TheOldestGoesLookedAtOrNot) {
  for (const bool looks : {true, false}) {
    for (std::uint64_t i = 0; i < 33; ++i) {
      EXPECT_EQ(ahead.read(places(i, 1)), 1u);
      if (looks) ahead.look();
    }
    ahead.look();
    EXPECT_FALSE(has(0));
    EXPECT_TRUE(has(1));
    EXPECT_TRUE(has(32));
  }
}

TEST_F(AheadReadsTest, WhatIsNotThereIsNotFound) {
  const std::vector<RecordPlace> all{{2, Position(2, 0, 8)}, {1, Position(1, 500'000, 8)}};
  EXPECT_EQ(ahead.read(all), 2u);
  ahead.look();
  EXPECT_EQ(ahead.find(all[0]), "");
  EXPECT_EQ(ahead.find(all[1]), "");
}

TEST_F(AheadReadsTest, WhatIsVeryLongIsNotKept) {
  const std::vector<RecordPlace> all{{1, Position(1, 0, 300'000)}, place(1'600)};
  for (std::size_t done = 0; done < all.size();) done += ahead.read(std::span(all).subspan(done));
  ahead.look();
  EXPECT_EQ(ahead.find(all[0]), "");
  EXPECT_TRUE(has(1'600));
}

// This test is mainly for ThreadSanitizer.
TEST_F(AheadReadsTest, OneReadsWhileAnotherFinds) {
  const auto all = places(0, 2'000);
  std::atomic<bool> ended{false};
  std::thread reader([&] {
    for (int round = 0; round < 20; ++round) {
      for (std::size_t at = 0; at < all.size();) at += ahead.read(std::span(all).subspan(at));
    }
    ended = true;
  });
  for (std::uint64_t number = 0; !ended; number = (number + 1) % all.size()) {
    if (number % 50 == 0) ahead.look();
    if (!has(number) && number % 50 == 49) ahead.missed(place(number));
  }
  reader.join();
  EXPECT_EQ(ahead.read(places(0, 1)), 1u);
  ahead.look();
  EXPECT_TRUE(has(0));
}

}  // namespace
}  // namespace tarry::embedded
