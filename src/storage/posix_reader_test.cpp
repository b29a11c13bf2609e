// Cases beyond storage_test.cpp, which holds every reader to the seam's promises: a page cache that
// lacks the wanted bytes, and a reader without its window.
#include "storage/posix_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "support/temp_directory.h"

namespace tarry::storage {
namespace {

class PosixReaderTest : public testing::Test {
 protected:
  static constexpr std::size_t kSize = 8 << 20;
  static constexpr std::size_t kLength = 140;

  PosixReaderTest() {
    std::mt19937_64 random(1);
    all.reserve(kSize);
    while (all.size() < kSize) all += static_cast<char>(random());
    std::ofstream(path, std::ios::binary) << all;
    file = open_file();
  }
  std::unique_ptr<PosixFile> open_file() const {
    return std::make_unique<PosixFile>(FileDescriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC)),
                                       path, true);
  }
  void drop_from_cache() const {
    ASSERT_TRUE(file->sync_data());
    ASSERT_EQ(::posix_fadvise(file->descriptor(), 0, 0, POSIX_FADV_DONTNEED), 0);
  }
  // Makes random reads, and checks the whole ones. Returns how many are whole.
  std::size_t read_some(bool cached_only) {
    std::array<std::array<char, kLength>, 300> bytes;
    std::vector<Read> reads(bytes.size());
    for (std::size_t i = 0; i < reads.size(); ++i) {
      reads[i].file = file.get();
      reads[i].offset = random() % (kSize - kLength);
      reads[i].into = bytes[i];
    }
    cached_only ? reader.read_cached(reads) : reader.read(reads);
    std::size_t whole = 0;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      if (!reads[i].got || *reads[i].got < kLength) continue;
      EXPECT_EQ(std::string_view(bytes[i].data(), kLength),
                std::string_view(all).substr(reads[i].offset, kLength));
      ++whole;
    }
    return whole;
  }

  TempDirectory temp;
  const std::string path = temp.path() + "/file";
  std::string all;
  std::unique_ptr<PosixFile> file;
  std::mt19937_64 random{2};
  PosixReader reader;
};

TEST_F(PosixReaderTest, ReadsAllOfAColdFile) {
  for (int i = 0; i < 100; ++i) {
    if (i % 7 == 0) drop_from_cache();
    ASSERT_EQ(read_some(false), 300u);
  }
}

TEST_F(PosixReaderTest, WhatACachedReadDoesNotGiveIsThereLater) {
  drop_from_cache();
  static_cast<void>(read_some(true));
  std::string rest(kSize, '\0');
  ASSERT_TRUE(file->read_at(0, rest));
  // By now the whole file is cached, which the reader notices after some batches.
  for (int i = 0; i < 40; ++i) ASSERT_EQ(read_some(false), 300u);
  EXPECT_EQ(read_some(true), 300u);
}

TEST_F(PosixReaderTest, LongReadsAreCachedReadsToo) {
  std::string bytes(100'000, '?');
  std::array<Read, 2> reads;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    reads[i].file = file.get();
    reads[i].offset = i * 1'000'000;
    reads[i].into = std::span<char>(bytes).subspan(i * 50'000, 50'000);
  }
  reader.read_cached(reads);
  EXPECT_EQ(bytes, all.substr(0, 50'000) + all.substr(1'000'000, 50'000));
}

TEST_F(PosixReaderTest, IsColdForAWhileAndNotForEver) {
  drop_from_cache();
  static_cast<void>(read_some(true));
  if (!reader.has_waited()) GTEST_SKIP() << "nothing can be dropped from the page cache here";
  std::string rest(kSize, '\0');
  ASSERT_TRUE(file->read_at(0, rest));
  Read one;
  one.file = file.get();
  one.into = std::span<char>(rest).first(10);
  for (int i = 0; i < 40; ++i) reader.read({&one, 1});
  EXPECT_FALSE(reader.has_waited());
}

TEST_F(PosixReaderTest, WithoutDescriptorsForAWindow) {
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  rlimit none = old;
  none.rlim_cur = static_cast<rlim_t>(file->descriptor()) + 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_EQ(read_some(true), 0u);
  EXPECT_EQ(read_some(false), 300u);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_EQ(read_some(false), 300u);
}

TEST_F(PosixReaderTest, ManyFilesAtOnce) {
  auto other = open_file();
  std::array<char, 8> bytes{};
  std::array<Read, 4> reads;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    reads[i].file = i % 2 == 0 ? file.get() : other.get();
    reads[i].offset = i * 100'000;
    reads[i].into = std::span<char>(bytes).subspan(2 * i, 2);
  }
  reader.read(reads);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    EXPECT_EQ(std::string_view(bytes.data() + 2 * i, 2),
              std::string_view(all).substr(i * 100'000, 2));
  }
}

}  // namespace
}  // namespace tarry::storage
