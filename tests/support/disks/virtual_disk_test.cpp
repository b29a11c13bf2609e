#include "support/disks/virtual_disk.h"

#include <gtest/gtest.h>

#include <set>

namespace tarry::storage {
namespace {

constexpr std::uint64_t kSector = VirtualDisk::kSector;

std::string read(VirtualDisk& disk, std::string_view name) {
  const auto file = disk.root()->open(name, OpenMode::read_only);
  if (!file) return "none";
  std::string bytes((*file)->size().value(), '?');
  EXPECT_EQ((*file)->read_at(0, bytes).value(), bytes.size());
  return bytes;
}

std::unique_ptr<File> make(VirtualDisk& disk, std::string_view name, std::string_view bytes) {
  auto file = std::move(disk.root()->open(name, OpenMode::create_new)).value();
  EXPECT_TRUE(file->write_at(0, bytes));
  return file;
}

std::string sector_of(char c) { return std::string(kSector, c); }

TEST(VirtualDisk, OnlyWhatWasSyncedIsCertain) {
  VirtualDisk disk;
  const auto kept = make(disk, "kept", "bytes");
  ASSERT_TRUE(kept->sync_data());
  ASSERT_TRUE(disk.root()->sync());
  const auto nameless = make(disk, "nameless", "bytes");
  ASSERT_TRUE(nameless->sync_data());
  ASSERT_TRUE(kept->write_at(0, "BYTES and more"));
  const auto synced = disk.synced_copy();
  EXPECT_EQ(read(*synced, "kept"), "bytes");
  EXPECT_EQ(read(*synced, "nameless"), "none");
  const auto all = disk.copy();
  all->drop_unsynced();
  EXPECT_EQ(read(*all, "kept"), "BYTES and more") << "a copy is durable";
  EXPECT_EQ(read(*all, "nameless"), "bytes");
  disk.drop_unsynced();
  EXPECT_EQ(read(disk, "kept"), "bytes");
  EXPECT_EQ(read(disk, "nameless"), "none");
}

// With many seeds, each allowed outcome occurs, and no other.
TEST(VirtualDisk, APowerFailureLeavesEachSectorOldOrNewAndOnlyFreshOnesTorn) {
  std::set<std::string> old_sector, fresh_sector;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    VirtualDisk disk;
    const auto file = make(disk, "f", sector_of('a'));
    ASSERT_TRUE(file->sync_data());
    ASSERT_TRUE(disk.root()->sync());
    ASSERT_TRUE(file->write_at(0, sector_of('b') + sector_of('c')));
    disk.lose_power(seed);
    const std::string bytes = read(disk, "f");
    old_sector.insert(bytes.substr(0, kSector));
    if (bytes.size() == kSector) {
      fresh_sector.insert("cut");
      continue;
    }
    const std::string fresh = bytes.substr(kSector);
    const bool whole = fresh == sector_of('c') || fresh == sector_of('\0');
    fresh_sector.insert(whole ? fresh : "garbage");
  }
  EXPECT_EQ(old_sector, (std::set<std::string>{sector_of('a'), sector_of('b')}));
  EXPECT_EQ(fresh_sector,
            (std::set<std::string>{"cut", "garbage", sector_of('c'), sector_of('\0')}));
}

TEST(VirtualDisk, ANameThatWasNotSyncedMayBeGoneOrBack) {
  std::set<std::string> made, removed;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    VirtualDisk disk;
    ASSERT_TRUE(make(disk, "old", "o")->sync_data());
    ASSERT_TRUE(disk.root()->sync());
    ASSERT_TRUE(make(disk, "new", "n")->sync_data());
    ASSERT_TRUE(disk.root()->remove("old"));
    disk.lose_power(seed);
    made.insert(read(disk, "new"));
    removed.insert(read(disk, "old"));
  }
  EXPECT_EQ(made, (std::set<std::string>{"n", "none"}));
  EXPECT_EQ(removed, (std::set<std::string>{"o", "none"}));
}

// As on Linux: the second sync succeeds, but what the first one lost stays lost.
TEST(VirtualDisk, WhatAFailedSyncLostTheNextOneDoesNotBringBack) {
  std::set<std::string> left;
  const auto faults = std::make_shared<Faults>();
  VirtualDisk disk(faults);
  for (int i = 0; i < 50; ++i) {
    const std::string name = "f" + std::to_string(i);
    const auto file = make(disk, name, sector_of('a'));
    ASSERT_TRUE(disk.root()->sync());
    faults->arm({.fail_at = 1});
    ASSERT_EQ(file->sync_data().error().code, ErrorCode::io_error);
    faults->disarm();
    ASSERT_TRUE(file->sync_data());
    EXPECT_EQ(read(disk, name), sector_of('a')) << "the cache still shows it";
    left.insert(read(*disk.synced_copy(), name));
  }
  EXPECT_EQ(disk.failed_syncs(), 50u);
  EXPECT_EQ(left, (std::set<std::string>{sector_of('a'), sector_of('\0')}));
}

TEST(VirtualDisk, TheEndOfAProcessTakesOnlyWhatAFailedSyncLost) {
  const auto faults = std::make_shared<Faults>();
  std::set<std::string> failed;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    VirtualDisk disk(faults);
    make(disk, "unsynced", "u").reset();
    const auto file = make(disk, "failed", sector_of('f'));
    faults->arm({.fail_at = 1});
    ASSERT_FALSE(file->sync_data());
    faults->disarm();
    disk.kill(seed);
    EXPECT_EQ(read(disk, "unsynced"), "u");
    failed.insert(read(disk, "failed"));
  }
  EXPECT_EQ(failed, (std::set<std::string>{sector_of('f'), sector_of('\0')}));
}

TEST(VirtualDisk, ADirtyDirectoryIsWrittenWithAllThatIsInIt) {
  const auto faults = std::make_shared<Faults>();
  VirtualDisk disk(faults);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(make(disk, "f" + std::to_string(i), "x")->sync_data());
  }
  faults->arm({.fail_at = 1});
  ASSERT_FALSE(disk.root()->sync());
  faults->disarm();
  ASSERT_TRUE(disk.root()->sync());
  const std::size_t after_the_second = disk.synced_copy()->root()->list().value().size();
  EXPECT_LT(after_the_second, 20u);
  ASSERT_TRUE(make(disk, "one more", "x")->sync_data());
  ASSERT_TRUE(disk.root()->sync());
  EXPECT_EQ(disk.synced_copy()->root()->list().value().size(), 21u);
}

TEST(VirtualDisk, AFullDiskKeepsTheRoomThatWasAllocated) {
  VirtualDisk disk;
  const auto file = make(disk, "f", "");
  ASSERT_TRUE(file->allocate(2 * VirtualDisk::kPage));
  disk.set_capacity(disk.used_bytes());
  EXPECT_TRUE(file->write_at(VirtualDisk::kPage, "x"));
  EXPECT_EQ(file->write_at(2 * VirtualDisk::kPage, "x").error().code, ErrorCode::no_space);
  EXPECT_EQ(file->allocate(3 * VirtualDisk::kPage).error().code, ErrorCode::no_space);
  EXPECT_EQ(disk.root()->space().value().free_bytes, 0u);
  ASSERT_TRUE(disk.root()->remove("f"));
  EXPECT_EQ(disk.used_bytes(), 0u);
}

TEST(VirtualDisk, RotStaysThroughEverything) {
  VirtualDisk disk;
  ASSERT_TRUE(make(disk, "f", "abc")->sync_data());
  ASSERT_TRUE(disk.root()->sync());
  EXPECT_TRUE(disk.flip("f", 1, 0x01));
  EXPECT_FALSE(disk.flip("f", 3, 0x01));
  EXPECT_FALSE(disk.flip("g", 0, 0x01));
  EXPECT_EQ(read(disk, "f"), "acc");
  disk.lose_power(1);
  EXPECT_EQ(read(disk, "f"), "acc");
}

}  // namespace
}  // namespace tarry::storage
