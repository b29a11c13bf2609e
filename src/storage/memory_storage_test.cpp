// Behaviour specific to RAM: capacity, and contents that outlive the directories opened on them.
#include "storage/memory_storage.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace tarry::storage {
namespace {

constexpr std::uint64_t kKiB = 1024;

TEST(MemoryStorage, AFileTakesItsSizeInWholePages) {
  const MemoryDisk disk;
  const auto root = disk.root();
  const auto file = std::move(root->open("a", OpenMode::create_new)).value();
  EXPECT_EQ(disk.used_bytes(), 0U);
  ASSERT_TRUE(file->write_at(0, "x"));
  EXPECT_EQ(disk.used_bytes(), 4 * kKiB);
  ASSERT_TRUE(file->write_at(1, std::string(4095, 'x')));
  EXPECT_EQ(disk.used_bytes(), 4 * kKiB);
  ASSERT_TRUE(file->allocate(64 * kKiB));
  EXPECT_EQ(disk.used_bytes(), 64 * kKiB);
  ASSERT_TRUE(file->truncate(5 * kKiB));
  EXPECT_EQ(disk.used_bytes(), 8 * kKiB);
}

TEST(MemoryStorage, WhatDoesNotFitIsNoSpaceAndChangesNothing) {
  const MemoryDisk disk(64 * kKiB);
  const auto root = disk.root();
  const auto file = std::move(root->open("a", OpenMode::create_new)).value();
  ASSERT_TRUE(file->write_at(0, std::string(60 * kKiB, 'x')));
  const auto refused = file->write_at(60 * kKiB, std::string(4 * kKiB + 1, 'y'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::no_space);
  EXPECT_EQ(refused.error().message,
            "cannot write memory:/a (offset 61440): No space left on device");
  EXPECT_EQ(file->allocate(65 * kKiB).error().code, ErrorCode::no_space);
  EXPECT_EQ(file->truncate(65 * kKiB).error().code, ErrorCode::no_space);
  EXPECT_EQ(file->size().value(), 60 * kKiB);
  EXPECT_EQ(disk.used_bytes(), 60 * kKiB);
  EXPECT_EQ(root->space().value().free_bytes, 4 * kKiB);
  EXPECT_EQ(root->space().value().total_bytes, 64 * kKiB);
  EXPECT_TRUE(file->write_at(60 * kKiB, std::string(4 * kKiB, 'y')));
}

TEST(MemoryStorage, ReservedRoomCanBeWrittenOnAFullDisk) {
  MemoryDisk disk(64 * kKiB);
  const auto root = disk.root();
  const auto file = std::move(root->open("a", OpenMode::create_new)).value();
  ASSERT_TRUE(file->allocate(64 * kKiB));
  disk.set_capacity(1 * kKiB);
  EXPECT_EQ(root->space().value().free_bytes, 0U);
  EXPECT_TRUE(file->write_at(0, std::string(64 * kKiB, 'x')));
  EXPECT_FALSE(file->write_at(64 * kKiB, "x"));
  const auto other = std::move(root->open("b", OpenMode::create_new)).value();
  EXPECT_FALSE(other->write_at(0, "x"));
  const auto lock = root->lock("lock", "me");
  EXPECT_TRUE(lock) << lock.error().message;
  disk.set_capacity(128 * kKiB);
  EXPECT_TRUE(file->write_at(64 * kKiB, "x"));
}

TEST(MemoryStorage, RoomComesBackWhenTheLastHandleOfARemovedFileGoes) {
  const MemoryDisk disk(64 * kKiB);
  const auto root = disk.root();
  auto file = std::move(root->open("a", OpenMode::create_new)).value();
  ASSERT_TRUE(file->allocate(64 * kKiB));
  ASSERT_TRUE(root->remove("a"));
  EXPECT_EQ(disk.used_bytes(), 64 * kKiB);
  file.reset();
  EXPECT_EQ(disk.used_bytes(), 0U);
}

TEST(MemoryStorage, RoomComesBackWhenAFileIsReplaced) {
  const MemoryDisk disk;
  const auto root = disk.root();
  ASSERT_TRUE(root->open("a", OpenMode::create_new).value()->allocate(64 * kKiB));
  ASSERT_TRUE(root->open("b", OpenMode::create_new).value()->allocate(4 * kKiB));
  ASSERT_TRUE(root->rename("b", "a"));
  EXPECT_EQ(disk.used_bytes(), 4 * kKiB);
}

TEST(MemoryStorage, ContentsOutliveTheDiskObjectWhileSomethingIsOpen) {
  auto file = [] {
    const MemoryDisk disk;
    const auto root = disk.root();
    return std::move(root->subdirectory("s", true).value()->open("a", OpenMode::create_new))
        .value();
  }();
  ASSERT_TRUE(file->write_at(0, "abc"));
  char bytes[4];
  EXPECT_EQ(file->read_at(0, bytes).value(), 3U);
  EXPECT_EQ(std::string_view(bytes, 3), "abc");
}

TEST(MemoryStorage, DisksAreApart) {
  const auto one = memory_directory();
  const auto two = memory_directory();
  ASSERT_TRUE(one->open("a", OpenMode::create_new));
  EXPECT_TRUE(two->list().value().empty());
}

TEST(MemoryStorage, AHugeSparseFileCostsOnlyWhatIsWritten) {
  const MemoryDisk disk;
  const auto root = disk.root();
  const auto file = std::move(root->open("a", OpenMode::create_new)).value();
  constexpr std::uint64_t kFar = 1ULL << 50U;
  ASSERT_TRUE(file->write_at(kFar, "x"));
  EXPECT_EQ(file->size().value(), kFar + 1);
  char byte = 0;
  EXPECT_EQ(file->read_at(kFar, {&byte, 1}).value(), 1U);
  EXPECT_EQ(byte, 'x');
  EXPECT_EQ(file->read_at(kFar / 2, {&byte, 1}).value(), 1U);
  EXPECT_EQ(byte, '\0');
}

// Runs in a process of its own, because afterwards no address space is left for anything else.
TEST(MemoryStorage, NoAddressSpaceIsAFullDiskBeforeTheProcessHasNoneLeft) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * page + (400U << 20U);
    const rlimit limit{most, most};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(10);
    const auto root = memory_directory();
    auto file = root->open("a", OpenMode::create_new);
    if (!file) ::_exit(11);
    std::uint64_t size = 0;
    Result<void> done;
    while ((done = (*file)->allocate(size + (4U << 20U)))) size += 4U << 20U;
    if (done.error().code != ErrorCode::no_space) ::_exit(12);
    if (size < (100U << 20U) || (*file)->size().value() != size) ::_exit(13);
    // The promised bytes can be written, and other things still find memory.
    const std::string bytes(1U << 20U, 'x');
    for (std::uint64_t at = 0; at < size; at += bytes.size()) {
      if (!(*file)->write_at(at, bytes)) ::_exit(14);
    }
    if ((*file)->write_at(size, bytes)) ::_exit(15);
    // Mapped and unmapped, because a sanitizer keeps for itself what `delete` gives back.
    constexpr std::size_t kOthers = 160U << 20U;
    void* others =
        ::mmap(nullptr, kOthers, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (others == MAP_FAILED || ::munmap(others, kOthers) != 0) ::_exit(17);
    // This asks for less than before, because other parts of the process have taken some of the
    // rest.
    if (!(*file)->truncate(size / 2) || !(*file)->allocate(size / 4 * 3)) ::_exit(16);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace tarry::storage
