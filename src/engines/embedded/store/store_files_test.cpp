#include "engines/embedded/store/store_files.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "engines/embedded/journal/journal_format.h"
#include "storage/memory_storage.h"
#include "support/disks/disk_files.h"
#include "support/disks/faulty_storage.h"
#include "support/disks/virtual_disk.h"

namespace tarry::embedded {
namespace {

constexpr StoreIdentity kIdentity{kFormatVersion, 4, 0x1122'3344'5566'7788, 0x99AA'BBCC'DDEE'FF00};

class StoreFiles : public testing::Test {
 protected:
  ErrorCode code() {
    const auto identity = read_identity(*directory);
    if (identity) return ErrorCode::misuse;
    message = identity.error().message;
    return identity.error().code;
  }
  // Writes a STORE of these bytes, with a checksum that fits.
  void write_store(std::string bytes) {
    base::store_u32(bytes.data() + 8, base::crc32c(std::string_view(bytes).substr(12)));
    test::write_all(*directory, "STORE", bytes);
  }

  storage::MemoryDisk disk;
  std::unique_ptr<storage::Directory> directory = disk.root();
  std::string message;
};

TEST_F(StoreFiles, RoundTrip) {
  ASSERT_TRUE(write_identity(*directory, kIdentity));
  const auto identity = read_identity(*directory);
  ASSERT_TRUE(identity && *identity);
  EXPECT_EQ((*identity)->version, kFormatVersion);
  EXPECT_EQ((*identity)->shards, 4u);
  EXPECT_EQ((*identity)->store_id, kIdentity.store_id);
  EXPECT_EQ((*identity)->hash_seed, kIdentity.hash_seed);
  EXPECT_EQ(directory->list().value(), (std::vector<std::string>{"STORE", "shard-000", "shard-001",
                                                                 "shard-002", "shard-003"}));
}

TEST_F(StoreFiles, AnUpgradeRaisesTheVersionAndNothingElse) {
  StoreIdentity older = kIdentity;
  older.version = 1;
  ASSERT_TRUE(write_identity(*directory, older));
  const auto names = directory->list().value();
  test::write_all(*directory, "STORE.new", "what an upgrade that was killed has left");
  ASSERT_TRUE(raise_version(*directory, older, kFormatVersion));
  const auto identity = read_identity(*directory).value().value();
  EXPECT_EQ(identity.version, kFormatVersion);
  EXPECT_EQ(identity.shards, older.shards);
  EXPECT_EQ(identity.store_id, older.store_id);
  EXPECT_EQ(identity.hash_seed, older.hash_seed);
  EXPECT_EQ(directory->list().value(), names);
}

TEST_F(StoreFiles, AnEmptyDirectoryIsNoStoreYet) {
  EXPECT_FALSE(read_identity(*directory).value());
  test::write_all(*directory, kLockName, "pid 1");
  ASSERT_TRUE(directory->subdirectory("lost+found", true));
  EXPECT_FALSE(read_identity(*directory).value());
}

TEST_F(StoreFiles, SomebodyElsesDirectoryIsRefused) {
  test::write_all(*directory, "holiday.jpg", "");
  EXPECT_EQ(code(), ErrorCode::invalid_argument);
  EXPECT_NE(message.find("memory: is not a tarry store"), std::string::npos) << message;
}

TEST_F(StoreFiles, OneWrongByteCanBePutRightAndTwoCannot) {
  ASSERT_TRUE(write_identity(*directory, kIdentity));
  const std::string good = test::read_all(*directory, "STORE");
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    test::write_all(*directory, "STORE", bad);
    EXPECT_EQ(code(), ErrorCode::damaged);
    const auto repaired = repair_identity(*directory);
    ASSERT_TRUE(repaired) << at;
    EXPECT_EQ(repaired->shards, kIdentity.shards);
    EXPECT_EQ(repaired->store_id, kIdentity.store_id);
    EXPECT_EQ(repaired->hash_seed, kIdentity.hash_seed);
    bad[(at + 1) % bad.size()] ^= 1;
    test::write_all(*directory, "STORE", bad);
    EXPECT_FALSE(repair_identity(*directory)) << at;
  }
  test::write_all(*directory, "STORE", good.substr(0, 39));
  EXPECT_FALSE(repair_identity(*directory));
}

TEST_F(StoreFiles, WhatDidNotEndIsNoStore) {
  for (const char* mark : {kSalvageName, kBackupName}) {
    test::write_all(*directory, mark, "");
    EXPECT_TRUE(is_half_made(*directory).value());
    EXPECT_EQ(code(), ErrorCode::invalid_argument);
    const std::string by = mark == kSalvageName ? "salvage" : "backup";
    EXPECT_NE(message.find("a " + by + " that did not end"), std::string::npos) << message;
    // A finished store may have lost its STORE while the mark was left over. Then this is the only
    // copy of its data.
    EXPECT_NE(message.find("if this was never a whole store, remove it"), std::string::npos)
        << message;
    EXPECT_NE(message.find(std::string("remove its file ") + mark), std::string::npos) << message;
    ASSERT_TRUE(write_identity(*directory, kIdentity));  // the mark is still there
    EXPECT_TRUE(read_identity(*directory).value());
    EXPECT_FALSE(is_half_made(*directory).value());
    ASSERT_TRUE(directory->remove("STORE"));
    ASSERT_TRUE(directory->remove(mark));
  }
}

TEST_F(StoreFiles, AVersionThatIsNotKnownIsNamed) {
  ASSERT_TRUE(write_identity(*directory, kIdentity));
  std::string bytes = test::read_all(*directory, "STORE");
  base::store_u32(bytes.data() + 12, 0);
  write_store(bytes);
  EXPECT_EQ(code(), ErrorCode::unsupported);
  EXPECT_NE(message.find("version 0"), std::string::npos) << message;
  base::store_u32(bytes.data() + 12, 7);
  write_store(bytes);
  EXPECT_EQ(code(), ErrorCode::unsupported);
  EXPECT_NE(message.find("version 7"), std::string::npos) << message;
  write_store(bytes + "a newer one may be longer");
  EXPECT_EQ(code(), ErrorCode::unsupported);
}

TEST_F(StoreFiles, EveryFlippedBitAndEveryCutIsDamage) {
  ASSERT_TRUE(write_identity(*directory, kIdentity));
  const std::string good = test::read_all(*directory, "STORE");
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    test::write_all(*directory, "STORE", bytes);
    ASSERT_EQ(code(), ErrorCode::damaged) << bit;
    ASSERT_NE(message.find("STORE"), std::string::npos) << message;
  }
  for (std::size_t length = 0; length < good.size(); ++length) {
    test::write_all(*directory, "STORE", good.substr(0, length));
    ASSERT_EQ(code(), ErrorCode::damaged) << length;
  }
  test::write_all(*directory, "STORE", good + "x");
  EXPECT_EQ(code(), ErrorCode::damaged);
}

TEST_F(StoreFiles, AnImpossibleNumberOfShardsIsDamage) {
  ASSERT_TRUE(write_identity(*directory, kIdentity));
  for (const std::uint32_t shards : {0u, 257u}) {
    std::string bytes = test::read_all(*directory, "STORE");
    base::store_u32(bytes.data() + 16, shards);
    write_store(bytes);
    EXPECT_EQ(code(), ErrorCode::damaged) << shards;
  }
}

TEST_F(StoreFiles, ALostStoreFileIsNotMadeAnewOverJournals) {
  ASSERT_TRUE(write_identity(*directory, kIdentity));
  ASSERT_TRUE(directory->remove("STORE"));
  EXPECT_FALSE(read_identity(*directory).value()) << "no journal yet: nothing was lost";
  test::write_all(*directory->subdirectory("shard-002", false).value(), segment_name(7), "x");
  EXPECT_EQ(code(), ErrorCode::damaged);
  EXPECT_NE(message.find("STORE is missing"), std::string::npos) << message;
  EXPECT_NE(message.find("shard-002"), std::string::npos) << message;
}

// Each call fails once. After that there is either this store, or no store, so that one can be
// made.
TEST_F(StoreFiles, MakingCanBeCutShortAnywhere) {
  for (std::uint64_t call = 1;; ++call) {
    const storage::MemoryDisk fresh;
    auto faults = std::make_shared<storage::Faults>();
    storage::FaultyDirectory faulty(fresh.root(), faults);
    faults->arm({.fail_at = call, .short_write = true});
    const bool made = write_identity(faulty, kIdentity).has_value();
    if (faults->failed() == 0) {
      EXPECT_TRUE(made);
      break;
    }
    EXPECT_FALSE(made) << faults->first_failed();
    const auto root = fresh.root();
    const auto identity = read_identity(*root);
    ASSERT_TRUE(identity) << identity.error().message;
    if (*identity) {
      EXPECT_EQ((*identity)->store_id, kIdentity.store_id);
      continue;
    }
    StoreIdentity second = kIdentity;
    second.store_id = 2;
    ASSERT_TRUE(write_identity(*root, second)) << faults->first_failed();
    EXPECT_EQ(read_identity(*root).value()->store_id, 2u);
  }
}

TEST_F(StoreFiles, PowerLostWhileMakingLeavesAllOrNothing) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    storage::VirtualDisk crash;
    auto faults = std::make_shared<storage::Faults>();
    storage::FaultyDirectory faulty(crash.root(), faults);
    faults->arm({.fail_at = 1 + seed % 12, .for_good = true});
    const bool made = write_identity(faulty, kIdentity).has_value();
    crash.lose_power(seed);
    const auto identity = read_identity(*crash.root());
    ASSERT_TRUE(identity) << identity.error().message;
    if (made) {
      ASSERT_TRUE(*identity);
    }
    if (*identity) {
      EXPECT_EQ((*identity)->store_id, kIdentity.store_id);
    }
  }
}

// The sync that makes STORE durable fails, or the process dies before it. The next opening does the
// sync.
TEST_F(StoreFiles, AStoreIsDurableBeforeItsFirstSegment) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    storage::VirtualDisk crash;
    auto faults = std::make_shared<storage::Faults>();
    storage::FaultyDirectory faulty(crash.root(), faults);
    std::uint64_t call = 1;
    while (!has_store_file(*crash.root()).value()) {
      faults->arm({.fail_at = ++call});
      (void)write_identity(faulty, kIdentity);
    }
    ASSERT_TRUE(finish_making(*crash.root()));
    crash.lose_power(seed);
    EXPECT_TRUE(has_store_file(*crash.root()).value()) << seed;
  }
}

TEST(ShardDirectoryName, HasThreeDigits) {
  EXPECT_EQ(shard_directory_name(0), "shard-000");
  EXPECT_EQ(shard_directory_name(255), "shard-255");
}

}  // namespace
}  // namespace tarry::embedded
