#include "support/disks/faulty_storage.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/memory_storage.h"

namespace tarry::storage {
namespace {

class FaultyStorageTest : public testing::Test {
 protected:
  MemoryDisk disk;
  std::shared_ptr<Faults> faults = std::make_shared<Faults>();
  std::unique_ptr<Directory> root = std::make_unique<FaultyDirectory>(disk.root(), faults);

  static std::string read_all(const File& file) {
    std::string bytes(100, '?');
    bytes.resize(file.read_at(0, bytes).value());
    return bytes;
  }

  /// Makes one call of each kind that changes something, in a fixed order, and returns the results.
  std::vector<Result<void>> one_of_each() {
    std::vector<Result<void>> outcomes;
    const auto keep = [&](const auto& outcome) {
      outcomes.push_back(outcome ? Result<void>() : Result<void>(outcome.error()));
    };
    keep(root->lock("lock", "me"));
    keep(root->subdirectory("sub", true));
    auto made = root->open("f", OpenMode::create_new);
    keep(made);
    if (made) {
      File& file = **made;
      keep(file.allocate(100));
      keep(file.write_at(0, "abcdef"));
      const std::vector<std::string_view> pieces{"gh", "ij"};
      keep(file.write_at(6, pieces));
      keep(file.truncate(50));
      keep(file.sync_data());
    }
    keep(root->sync());
    keep(root->rename("f", "g"));
    keep(root->remove("g"));
    return outcomes;
  }
};

constexpr std::size_t kMutations = 11;

TEST_F(FaultyStorageTest, WithoutAPlanItCountsAndPassesOn) {
  for (const auto& outcome : one_of_each()) EXPECT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(faults->calls(), kMutations);
  EXPECT_EQ(faults->failed(), 0U);
  EXPECT_EQ(faults->first_failed(), "");
}

TEST_F(FaultyStorageTest, EveryCallCanBeTheOneThatFails) {
  for (std::size_t n = 1; n <= kMutations; ++n) {
    for (const char* name : {"f", "g"}) {
      static_cast<void>(disk.root()->remove(name));  // left by a round whose remove failed
    }
    faults->arm({.fail_at = n});
    const auto outcomes = one_of_each();
    EXPECT_EQ(faults->failed(), 1U) << n;
    ASSERT_GE(outcomes.size(), n);
    for (std::size_t i = 0; i < n - 1; ++i) EXPECT_TRUE(outcomes[i]) << n << " " << i;
    ASSERT_FALSE(outcomes[n - 1]) << n;
    EXPECT_EQ(outcomes[n - 1].error().code, ErrorCode::io_error);
    EXPECT_NE(outcomes[n - 1].error().message.find("call " + std::to_string(n) + ":"),
              std::string::npos);
    EXPECT_NE(outcomes[n - 1].error().message.find(faults->first_failed()), std::string::npos);
  }
}

TEST_F(FaultyStorageTest, ForGoodFailsAllThatFollow) {
  const auto file = std::move(root->open("f", OpenMode::create_new)).value();
  faults->arm({.fail_at = 2, .code = ErrorCode::no_space, .for_good = true});
  EXPECT_TRUE(file->write_at(0, "abc"));
  EXPECT_EQ(file->write_at(3, "def").error().code, ErrorCode::no_space);
  EXPECT_EQ(file->allocate(10).error().code, ErrorCode::no_space);
  EXPECT_EQ(file->sync_data().error().code, ErrorCode::io_error);  // never no_space
  EXPECT_EQ(root->remove("f").error().code, ErrorCode::no_space);
  EXPECT_EQ(faults->failed(), 4U);
  EXPECT_EQ(read_all(*file), "abc");
  EXPECT_EQ(faults->first_failed(), "write_at memory:/f (offset 3)");
  faults->disarm();
  EXPECT_TRUE(file->write_at(3, "def"));
}

TEST_F(FaultyStorageTest, AFailedSyncIsForgotten) {
  const auto file = std::move(root->open("f", OpenMode::create_new)).value();
  faults->arm({.fail_at = 1});
  EXPECT_FALSE(file->sync_data());
  EXPECT_TRUE(file->sync_data());
}

TEST_F(FaultyStorageTest, AShortWriteLeavesHalf) {
  const auto file = std::move(root->open("f", OpenMode::create_new)).value();
  faults->arm({.fail_at = 1, .short_write = true});
  const std::vector<std::string_view> pieces{"abc", "", "defgh"};
  EXPECT_FALSE(file->write_at(0, pieces));
  EXPECT_EQ(read_all(*file), "abcd");
  faults->arm({.fail_at = 1, .short_write = true});
  EXPECT_FALSE(file->write_at(4, "xyz"));
  EXPECT_EQ(read_all(*file), "abcdx");
}

TEST_F(FaultyStorageTest, ReadsAreCountedOnlyWhenAsked) {
  {
    const auto file = std::move(root->open("f", OpenMode::create_new)).value();
    EXPECT_TRUE(file->write_at(0, "abc"));
  }
  faults->arm({.fail_at = 1});
  EXPECT_EQ(read_all(*root->open("f", OpenMode::read_only).value()), "abc");
  EXPECT_TRUE(root->list());
  EXPECT_EQ(faults->calls(), 0U);

  faults->arm({.fail_at = 3, .reads_too = true});
  const auto file = std::move(root->open("f", OpenMode::read_write)).value();
  EXPECT_EQ(file->size().value(), 3U);
  char byte = 0;
  EXPECT_EQ(file->read_at(0, {&byte, 1}).error().code, ErrorCode::io_error);
  EXPECT_TRUE(file->read_at(0, {&byte, 1}));
  EXPECT_TRUE(root->space());
  EXPECT_EQ(faults->calls(), 5U);
}

TEST_F(FaultyStorageTest, OnlySyncsAreCountedWhenAsked) {
  auto file = std::move(root->open("a", OpenMode::create_new)).value();
  faults->arm({.fail_at = 2, .syncs_only = true});
  EXPECT_TRUE(file->write_at(0, "x"));
  EXPECT_TRUE(file->sync_data());
  EXPECT_TRUE(file->write_at(0, "y"));
  EXPECT_FALSE(root->sync());
  EXPECT_EQ(faults->calls(), 2U);
  EXPECT_EQ(faults->first_failed().substr(0, 5), "sync ");
}

TEST_F(FaultyStorageTest, SubdirectoriesShareTheCount) {
  const auto sub = std::move(root->subdirectory("s", true)).value();
  faults->arm({.fail_at = 1});
  EXPECT_FALSE(sub->open("f", OpenMode::create_new));
  EXPECT_TRUE(sub->list().value().empty());
  EXPECT_EQ(faults->first_failed(), "create memory:/s/f");
}

}  // namespace
}  // namespace tarry::storage
