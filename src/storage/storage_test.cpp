// The promises of every implementation of the seam: one suite, run on POSIX files, on RAM, and
// through the fault injector with no fault armed.
#include "storage/storage.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "storage/memory_storage.h"
#include "storage/posix_storage.h"
#include "support/disks/faulty_storage.h"
#include "support/temp_directory.h"

namespace tarry::storage {
namespace {

using namespace std::string_literals;

/// A place where a test can open a root directory again and again.
struct Place {
  virtual ~Place() = default;
  virtual std::unique_ptr<Directory> root() = 0;
};

struct PosixPlace : Place {
  std::unique_ptr<Directory> root() override {
    return std::move(open_directory(temp.path(), false)).value();
  }
  TempDirectory temp;
};

struct MemoryPlace : Place {
  std::unique_ptr<Directory> root() override { return disk.root(); }
  MemoryDisk disk;
};

struct FaultyPlace : MemoryPlace {
  std::unique_ptr<Directory> root() override {
    return std::make_unique<FaultyDirectory>(disk.root(), std::make_shared<Faults>());
  }
};

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Place>()> make;
};

class StorageTest : public testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Place> place = GetParam().make();
  std::unique_ptr<Directory> root = place->root();

  std::unique_ptr<File> create(std::string_view name) {
    return std::move(root->open(name, OpenMode::create_new)).value();
  }
};

INSTANTIATE_TEST_SUITE_P(
    Each, StorageTest,
    testing::Values(Kind{"posix", [] { return std::make_unique<PosixPlace>(); }},
                    Kind{"memory", [] { return std::make_unique<MemoryPlace>(); }},
                    Kind{"faulty", [] { return std::make_unique<FaultyPlace>(); }}),
    [](const auto& info) { return info.param.name; });

std::string read(const File& file, std::uint64_t offset, std::size_t length) {
  std::string bytes(length, '?');
  const auto got = file.read_at(offset, bytes);
  EXPECT_TRUE(got) << got.error().message;
  bytes.resize(got ? *got : 0);
  return bytes;
}

std::string read_all(const File& file) {
  return read(file, 0, static_cast<std::size_t>(file.size().value()) + 1);
}

#define EXPECT_OK(expression)                                    \
  do {                                                           \
    const auto outcome = (expression);                           \
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message; \
  } while (false)

/// Expects the code, and one line that names the operation and the path.
template <typename T>
void expect_error(const Result<T>& outcome, ErrorCode code, std::string_view mentions) {
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(to_string(outcome.error().code), to_string(code)) << outcome.error().message;
  EXPECT_NE(outcome.error().message.find(mentions), std::string::npos) << outcome.error().message;
  EXPECT_EQ(outcome.error().message.find('\n'), std::string::npos);
  EXPECT_TRUE(outcome.error().message.starts_with("cannot ")) << outcome.error().message;
}

TEST_P(StorageTest, ANewFileIsEmptyAndReadsBackWhatIsWritten) {
  const auto file = create("a");
  EXPECT_EQ(file->size().value(), 0U);
  EXPECT_EQ(read_all(*file), "");
  EXPECT_OK(file->write_at(0, "hello"));
  EXPECT_OK(file->write_at(5, " world"));
  EXPECT_OK(file->write_at(0, "J"));
  EXPECT_EQ(file->size().value(), 11U);
  EXPECT_EQ(read_all(*file), "Jello world");
  EXPECT_OK(file->sync_data());
  file->will_need(0, 11);
}

TEST_P(StorageTest, ReadsAreShortOnlyAtTheEnd) {
  const auto file = create("a");
  EXPECT_OK(file->write_at(0, "0123456789"));
  EXPECT_EQ(read(*file, 2, 3), "234");
  EXPECT_EQ(read(*file, 8, 3), "89");
  EXPECT_EQ(read(*file, 10, 3), "");
  EXPECT_EQ(read(*file, 1'000'000'000, 3), "");
  EXPECT_EQ(read(*file, 3, 0), "");
}

/// Reads pieces of `length` bytes at these offsets, all at once.
std::vector<std::string> read_together(Reader& reader, const File& file,
                                       const std::vector<std::uint64_t>& offsets,
                                       std::size_t length, bool cached_only = false) {
  std::vector<std::string> bytes(offsets.size(), std::string(length, '?'));
  std::vector<Read> reads(offsets.size());
  for (std::size_t i = 0; i < reads.size(); ++i) {
    reads[i].file = &file;
    reads[i].offset = offsets[i];
    reads[i].into = bytes[i];
  }
  cached_only ? reader.read_cached(reads) : reader.read(reads);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    EXPECT_TRUE(reads[i].got) << reads[i].got.error().message;
    bytes[i].resize(reads[i].got.value_or(0));
  }
  return bytes;
}

TEST_P(StorageTest, ManyReadsTogetherAreAsEachAlone) {
  const auto file = create("a");
  std::string all;
  for (std::uint32_t i = 0; all.size() < 3'000'000; ++i) all += std::to_string(i * 2654435761u);
  EXPECT_OK(file->write_at(0, all));
  const auto reader = root->make_reader();
  // Short and long reads, more of them than one call takes, some over the end of the file or beyond
  // it.
  for (const std::size_t length :
       std::initializer_list<std::size_t>{0, 1, 140, 5'000, 20'000, 300'000}) {
    std::vector<std::uint64_t> offsets{all.size() - 1, all.size(), all.size() + 70'000};
    for (std::uint64_t i = 0; i < 3'000'000 / (length + 2'000); ++i) {
      offsets.push_back(i * 1'234'567 % all.size());
    }
    const auto got = read_together(*reader, *file, offsets, length);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      ASSERT_EQ(got[i], all.substr(std::min(offsets[i], all.size()), length)) << offsets[i];
    }
  }
  EXPECT_EQ(read_together(*reader, *file, {}, 10).size(), 0u);
}

TEST_P(StorageTest, ReadsTogetherSeeWhatIsWrittenAndCutBetweenThem) {
  const auto file = create("a");
  const auto reader = root->make_reader();
  EXPECT_OK(file->write_at(0, std::string(10'000, 'a')));
  EXPECT_EQ(read_together(*reader, *file, {0, 9'998}, 2), (std::vector<std::string>{"aa", "aa"}));
  EXPECT_OK(file->write_at(9'000, std::string(100'000, 'b')));
  EXPECT_EQ(read_together(*reader, *file, {8'999, 50'000}, 2),
            (std::vector<std::string>{"ab", "bb"}));
  EXPECT_OK(file->truncate(9'001));
  EXPECT_EQ(read_together(*reader, *file, {50'000, 9'000, 8'998, 0}, 2),
            (std::vector<std::string>{"", "b", "aa", "aa"}));
}

// Another process may cut the file like this: the size that the reader knows is then wrong.
TEST_P(StorageTest, ReadsTogetherOfAFileThatWasCutBehindTheirBack) {
  const auto file = create("a");
  const auto reader = root->make_reader();
  EXPECT_OK(file->write_at(0, std::string(100'000, 'a')));
  EXPECT_EQ(read_together(*reader, *file, {0, 50'000, 99'998}, 2),
            (std::vector<std::string>{"aa", "aa", "aa"}));
  EXPECT_OK(root->open("a", OpenMode::read_write).value()->truncate(8'192));
  EXPECT_EQ(read_together(*reader, *file, {50'000, 0, 99'998, 8'190}, 2),
            (std::vector<std::string>{"", "aa", "", "aa"}));
}

// A cached read may also return nothing, because the bytes may have to come from the disk.
TEST_P(StorageTest, CachedReadsAreRightOrNothing) {
  const auto file = create("a");
  EXPECT_OK(file->write_at(0, std::string(100'000, 'a') + std::string(100'000, 'b')));
  const auto reader = root->make_reader();
  for (int i = 0; i < 100; ++i) {
    const auto got = read_together(*reader, *file, {99'999, 150'000, 10, 300'000}, 2, true);
    EXPECT_TRUE(got[0].empty() || got[0] == "ab") << got[0];
    EXPECT_TRUE(got[1].empty() || got[1] == "bb") << got[1];
    EXPECT_TRUE(got[2].empty() || got[2] == "aa") << got[2];
    EXPECT_EQ(got[3], "");
  }
}

TEST_P(StorageTest, GapsReadAsZeros) {
  const auto file = create("a");
  EXPECT_OK(file->write_at(3'000'000, "x"));
  EXPECT_EQ(file->size().value(), 3'000'001U);
  EXPECT_EQ(read_all(*file), std::string(3'000'000, '\0') + "x");
}

TEST_P(StorageTest, WritingNothingChangesNothing) {
  const auto file = create("a");
  EXPECT_OK(file->write_at(100, ""));
  EXPECT_OK(file->write_at(100, std::span<const std::string_view>()));
  const std::vector<std::string_view> empties(5);
  EXPECT_OK(file->write_at(100, empties));
  EXPECT_EQ(file->size().value(), 0U);
}

TEST_P(StorageTest, GatheredWritesOfMorePiecesThanOneCallTakes) {
  // 5,000 pieces of 0 to 2,000 bytes: about 5 MB, several times IOV_MAX, across chunk borders.
  std::string all;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 5000; ++i) {
    lengths.push_back(i * 7919 % 2001);
    all.append(lengths.back(), static_cast<char>('a' + i % 26));
  }
  std::vector<std::string_view> pieces;
  std::size_t at = 0;
  for (const std::size_t length : lengths) {
    pieces.push_back(std::string_view(all).substr(at, length));
    at += length;
  }
  const auto file = create("a");
  EXPECT_OK(file->write_at(0, "0123456789"));
  EXPECT_OK(file->write_at(7, pieces));
  EXPECT_EQ(file->size().value(), 7 + all.size());
  EXPECT_TRUE(read_all(*file) == "0123456" + all);
}

TEST_P(StorageTest, OnePieceOfManyMegabytes) {
  std::string big(33U << 20U, '\0');
  for (std::size_t i = 0; i < big.size(); i += 997) big[i] = static_cast<char>(i % 251);
  const auto file = create("a");
  EXPECT_OK(file->write_at(12345, big));
  EXPECT_TRUE(read(*file, 12345, big.size() + 1) == big);
}

TEST_P(StorageTest, AllocateGrowsKeepsContentsAndNeverShrinks) {
  const auto file = create("a");
  EXPECT_OK(file->write_at(0, "abc"));
  EXPECT_OK(file->allocate(100'000));
  EXPECT_EQ(file->size().value(), 100'000U);
  EXPECT_EQ(read_all(*file), "abc" + std::string(99'997, '\0'));
  EXPECT_OK(file->allocate(10));
  EXPECT_OK(file->allocate(0));
  EXPECT_EQ(file->size().value(), 100'000U);
  EXPECT_OK(file->write_at(99'999, "z"));
  EXPECT_EQ(file->size().value(), 100'000U);
}

TEST_P(StorageTest, TruncateCutsAndGrowsWithZeros) {
  const auto file = create("a");
  EXPECT_OK(file->write_at(0, std::string(3'000'000, 'x')));
  EXPECT_OK(file->truncate(1'500'000));
  EXPECT_EQ(file->size().value(), 1'500'000U);
  EXPECT_OK(file->truncate(2'500'000));
  EXPECT_EQ(read_all(*file), std::string(1'500'000, 'x') + std::string(1'000'000, '\0'));
  EXPECT_OK(file->truncate(0));
  EXPECT_EQ(read_all(*file), "");
  EXPECT_OK(file->write_at(2, "y"));
  EXPECT_EQ(read_all(*file), "\0\0y"s);
}

TEST_P(StorageTest, RangesBeyondTheLargestOffsetAreTooLarge) {
  const auto file = create("a");
  constexpr std::uint64_t kLast = INT64_MAX;
  char byte = 0;
  expect_error(file->write_at(kLast, "xy"), ErrorCode::too_large, "9223372036854775807");
  expect_error(file->write_at(UINT64_MAX, "x"), ErrorCode::too_large, "/a");
  expect_error(file->read_at(UINT64_MAX, {&byte, 1}), ErrorCode::too_large, "/a");
  expect_error(file->allocate(UINT64_MAX), ErrorCode::too_large, "/a");
  expect_error(file->truncate(UINT64_MAX), ErrorCode::too_large, "/a");
  EXPECT_EQ(file->size().value(), 0U);
}

TEST_P(StorageTest, OpenModes) {
  expect_error(root->open("a", OpenMode::read_only), ErrorCode::not_found, "/a");
  expect_error(root->open("a", OpenMode::read_write), ErrorCode::not_found, "/a");
  EXPECT_EQ(root->list().value(), std::vector<std::string>{});
  EXPECT_OK(create("a")->write_at(0, "abc"));
  expect_error(root->open("a", OpenMode::create_new), ErrorCode::conflict, "/a");
  EXPECT_OK(root->open("a", OpenMode::read_write).value()->write_at(3, "d"));
  const auto file = std::move(root->open("a", OpenMode::read_only)).value();
  EXPECT_EQ(read_all(*file), "abcd");
  expect_error(file->write_at(0, "x"), ErrorCode::misuse, "/a");
  expect_error(file->allocate(10), ErrorCode::misuse, "/a");
  expect_error(file->truncate(0), ErrorCode::misuse, "/a");
  EXPECT_EQ(read_all(*file), "abcd");
}

TEST_P(StorageTest, TwoFilesOfOneNameSeeTheSameBytes) {
  const auto writer = create("a");
  const auto reader = std::move(root->open("a", OpenMode::read_only)).value();
  EXPECT_OK(writer->write_at(0, "abc"));
  EXPECT_EQ(read_all(*reader), "abc");
}

TEST_P(StorageTest, ContentsAreThereWhenOpenedAgain) {
  EXPECT_OK(create("a")->write_at(0, "abc"));
  EXPECT_OK(root->subdirectory("s", true).value()->open("b", OpenMode::create_new));
  root.reset();
  root = place->root();
  EXPECT_EQ(root->list().value(), (std::vector<std::string>{"a", "s"}));
  EXPECT_EQ(read_all(*root->open("a", OpenMode::read_only).value()), "abc");
  EXPECT_OK(root->subdirectory("s", false).value()->open("b", OpenMode::read_only));
}

TEST_P(StorageTest, ListIsSortedAndHasFilesAndDirectories) {
  for (const char* name : {"10", "2", "b", "B", ".hidden"}) create(name);
  EXPECT_OK(root->subdirectory("dir", true));
  const std::vector<std::string> expected{".hidden", "10", "2", "B", "b", "dir"};
  EXPECT_EQ(root->list().value(), expected);
  EXPECT_EQ(root->list().value(), expected);  // a second listing is complete too
  EXPECT_OK(root->sync());
}

TEST_P(StorageTest, ARemovedFileStaysReadableWhereItIsOpen) {
  const auto file = create("a");
  EXPECT_OK(file->write_at(0, "abc"));
  EXPECT_OK(root->remove("a"));
  expect_error(root->remove("a"), ErrorCode::not_found, "/a");
  EXPECT_EQ(root->list().value(), std::vector<std::string>{});
  EXPECT_EQ(read_all(*file), "abc");
  EXPECT_EQ(read_all(*create("a")), "");
}

TEST_P(StorageTest, RenameReplaces) {
  EXPECT_OK(create("new")->write_at(0, "new"));
  EXPECT_OK(create("old")->write_at(0, "old"));
  const auto old = std::move(root->open("old", OpenMode::read_only)).value();
  EXPECT_OK(root->rename("new", "old"));
  EXPECT_EQ(root->list().value(), std::vector<std::string>{"old"});
  EXPECT_EQ(read_all(*root->open("old", OpenMode::read_only).value()), "new");
  EXPECT_EQ(read_all(*old), "old");
  EXPECT_OK(root->rename("old", "old"));
  EXPECT_OK(root->rename("old", "third"));
  EXPECT_EQ(root->list().value(), std::vector<std::string>{"third"});
  expect_error(root->rename("missing", "third"), ErrorCode::not_found, "/missing");
}

TEST_P(StorageTest, Subdirectories) {
  expect_error(root->subdirectory("s", false), ErrorCode::not_found, "/s");
  const auto sub = std::move(root->subdirectory("s", true)).value();
  EXPECT_OK(root->subdirectory("s", true));
  EXPECT_OK(sub->open("a", OpenMode::create_new));
  EXPECT_EQ(sub->path(), root->path() + "/s");
  EXPECT_EQ(root->list().value(), std::vector<std::string>{"s"});
  EXPECT_EQ(root->subdirectory("s", false).value()->list().value(), std::vector<std::string>{"a"});
}

TEST_P(StorageTest, FilesAndDirectoriesAreNotTakenForEachOther) {
  EXPECT_OK(root->subdirectory("dir", true));
  create("file");
  for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
    expect_error(root->open("dir", mode), ErrorCode::invalid_argument, "/dir");
  }
  expect_error(root->open("dir", OpenMode::create_new), ErrorCode::conflict, "/dir");
  expect_error(root->remove("dir"), ErrorCode::invalid_argument, "/dir");
  expect_error(root->rename("dir", "x"), ErrorCode::invalid_argument, "/dir");
  expect_error(root->rename("file", "dir"), ErrorCode::invalid_argument, "dir");
  expect_error(root->lock("dir", "me"), ErrorCode::invalid_argument, "/dir");
  expect_error(root->subdirectory("file", false), ErrorCode::invalid_argument, "/file");
  expect_error(root->subdirectory("file", true), ErrorCode::invalid_argument, "/file");
  EXPECT_EQ(root->list().value(), (std::vector<std::string>{"dir", "file"}));
}

TEST_P(StorageTest, NamesAreOneComponent) {
  const std::string long_name(256, 'n');
  for (const std::string& name : {""s, "."s, ".."s, "a/b"s, "/"s, "a\0b"s, long_name}) {
    expect_error(root->open(name, OpenMode::create_new), ErrorCode::invalid_argument, "name");
    expect_error(root->remove(name), ErrorCode::invalid_argument, "name");
    expect_error(root->rename(name, "x"), ErrorCode::invalid_argument, "name");
    expect_error(root->rename("x", name), ErrorCode::invalid_argument, "name");
    expect_error(root->subdirectory(name, true), ErrorCode::invalid_argument, "name");
    expect_error(root->lock(name, "me"), ErrorCode::invalid_argument, "name");
    expect_error(root->lock_shared(name), ErrorCode::invalid_argument, "name");
  }
  EXPECT_OK(root->open(long_name.substr(1), OpenMode::create_new));
  EXPECT_EQ(root->list().value().size(), 1U);
}

TEST_P(StorageTest, HandlesOutliveTheDirectory) {
  const auto file = create("a");
  auto sub = std::move(root->subdirectory("s", true)).value();
  auto lock = std::move(root->lock("l", "me")).value();
  root.reset();
  EXPECT_OK(file->write_at(0, "abc"));
  EXPECT_EQ(read_all(*file), "abc");
  EXPECT_OK(sub->open("b", OpenMode::create_new));
  expect_error(place->root()->lock("l", "you"), ErrorCode::conflict, "held by me");
  lock.reset();
  EXPECT_OK(place->root()->lock("l", "you"));
}

TEST_P(StorageTest, ALockIsExclusiveAndNamesItsHolder) {
  auto first = std::move(root->lock("lock", "pid 1234 (tarry serve)")).value();
  const auto again = place->root();
  expect_error(root->lock("lock", "pid 2"), ErrorCode::conflict, "/lock");
  expect_error(again->lock("lock", "pid 2"), ErrorCode::conflict, "held by pid 1234 (tarry serve)");
  first.reset();
  const auto second = std::move(again->lock("lock", "pid 3")).value();
  expect_error(root->lock("lock", "pid 2"), ErrorCode::conflict, "held by pid 3");
  EXPECT_EQ(root->list().value(), std::vector<std::string>{"lock"});
}

TEST_P(StorageTest, ASharedLockMakesAndWritesNothing) {
  expect_error(root->lock_shared("lock"), ErrorCode::not_found, "/lock");
  EXPECT_EQ(root->list().value(), std::vector<std::string>{});
  EXPECT_OK(create("lock")->write_at(0, "pid 99 (killed long ago)\n"));
  auto first = std::move(root->lock_shared("lock")).value();
  auto second = std::move(place->root()->lock_shared("lock")).value();
  expect_error(root->lock("lock", "pid 2"), ErrorCode::conflict, "/lock");
  first.reset();
  expect_error(root->lock("lock", "pid 2"), ErrorCode::conflict,
               "/lock: held by another process, which only reads");
  second.reset();
  EXPECT_EQ(read_all(*root->open("lock", OpenMode::read_only).value()),
            "pid 99 (killed long ago)\n");
  auto lock = std::move(root->lock("lock", "pid 3")).value();
  expect_error(root->lock_shared("lock"), ErrorCode::conflict, "held by pid 3");
  lock.reset();
  EXPECT_OK(root->lock_shared("lock"));
}

TEST_P(StorageTest, ALockTakesOverAnOldFileAndItsText) {
  EXPECT_OK(create("lock")->write_at(0, "pid 99 (killed long ago, and with a longer text)\n"));
  const auto lock = std::move(root->lock("lock", "pid 2")).value();
  EXPECT_TRUE(read_all(*root->open("lock", OpenMode::read_only).value()).ends_with("pid 2\n"));
}

TEST_P(StorageTest, AHoldersTextStaysOneLineInTheMessage) {
  const auto lock = std::move(root->lock("lock", "pid 7\x1b[31m\nsecond line")).value();
  expect_error(root->lock("lock", "pid 2"), ErrorCode::conflict, "held by pid 7?[31m");
}

TEST_P(StorageTest, SpaceIsWithinItsTotal) {
  const Space space = root->space().value();
  EXPECT_GT(space.total_bytes, 0U);
  EXPECT_LE(space.free_bytes, space.total_bytes);
}

TEST_P(StorageTest, ReadersRunWhileOneThreadAppends) {
  constexpr std::uint64_t kBlock = 8192;
  constexpr std::uint64_t kBlocks = 400;
  const auto file = create("a");
  std::atomic<std::uint64_t> written = 0;
  std::atomic<bool> wrong = false;
  std::vector<std::thread> readers;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    readers.emplace_back([&, seed] {
      std::string bytes(kBlock, '\0');
      for (std::uint64_t turn = seed; written < kBlocks; turn = turn * 31 + 7) {
        const std::uint64_t ready = written;
        if (ready == 0) continue;
        const std::uint64_t block = turn % ready;
        const auto got = file->read_at(block * kBlock, bytes);
        const auto expected = static_cast<char>('a' + block % 26);
        if (!got || *got != kBlock || bytes != std::string(kBlock, expected)) wrong = true;
      }
    });
  }
  for (std::uint64_t block = 0; block < kBlocks; ++block) {
    const std::string bytes(kBlock, static_cast<char>('a' + block % 26));
    EXPECT_OK(file->write_at(block * kBlock, bytes));
    ++written;
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_FALSE(wrong);
}

TEST_P(StorageTest, NamesMayBeMadeFromSeveralThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> made = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        // All four threads want every other name: exactly one of them may get it.
        const std::string name = i % 2 == 0
                                     ? "shared" + std::to_string(i)
                                     : "own" + std::to_string(thread) + "-" + std::to_string(i);
        if (root->open(name, OpenMode::create_new)) ++made;
        if (!root->list()) ++made;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 25 + 4 * 25);
  EXPECT_EQ(root->list().value().size(), 125U);
}

// Random writes, cuts and reservations on one file, against a plain string.
TEST_P(StorageTest, AFileIsAString) {
  EXPECT_TRUE(rc::check([this] {
    static_cast<void>(root->remove("a"));  // left by the round before
    const auto file = create("a");
    std::string model;
    const auto steps = *rc::gen::inRange(1, 20);
    for (int step = 0; step < steps; ++step) {
      // Positions around the border of the 1 MiB chunk are as frequent as small ones.
      const auto position =
          *rc::gen::oneOf(rc::gen::inRange<std::size_t>(0, 5000),
                          rc::gen::inRange<std::size_t>((1U << 20U) - 3000, (1U << 20U) + 3000));
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
        case 1: {
          const auto count = *rc::gen::inRange<std::size_t>(0, 5);
          std::vector<std::string> parts;
          for (std::size_t i = 0; i < count; ++i) {
            parts.push_back(
                std::string(*rc::gen::inRange<std::size_t>(0, 3000), *rc::gen::inRange('a', 'z')));
          }
          const std::vector<std::string_view> pieces(parts.begin(), parts.end());
          RC_ASSERT(file->write_at(position, pieces).has_value());
          std::string joined;
          for (const std::string& part : parts) joined += part;
          if (!joined.empty()) {
            model.resize(std::max(model.size(), position + joined.size()), '\0');
            model.replace(position, joined.size(), joined);
          }
          break;
        }
        case 2:
          RC_ASSERT(file->truncate(position).has_value());
          model.resize(position, '\0');
          break;
        default:
          RC_ASSERT(file->allocate(position).has_value());
          model.resize(std::max(model.size(), position), '\0');
      }
      RC_ASSERT(file->size().value() == model.size());
    }
    RC_ASSERT(read_all(*file) == model);
  }));
}

}  // namespace
}  // namespace tarry::storage
