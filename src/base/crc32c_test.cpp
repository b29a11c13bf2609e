#include "base/crc32c.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace tarry::base {
namespace {

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Computes the checksum one bit at a time, as its definition says.
std::uint32_t crc_by_definition(std::string_view bytes) {
  std::uint32_t crc = 0xFFFF'FFFF;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F6'3B78 : 0);
  }
  return ~crc;
}

std::string noise(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 12345;
  for (char& c : bytes) {
    state = state * 1'664'525 + 1'013'904'223;
    c = static_cast<char>(state >> 24);
  }
  return bytes;
}

TEST(Crc32c, GivesThePublishedValues) {
  EXPECT_EQ(crc32c("123456789"), 0xE306'9283U);
  EXPECT_EQ(crc32c(""), 0U);
  // RFC 3720, B.4
  std::string bytes(32, '\0');
  EXPECT_EQ(crc32c(bytes), 0x8A91'36AAU);
  std::ranges::fill(bytes, '\xFF');
  EXPECT_EQ(crc32c(bytes), 0x62A8'AB43U);
  std::iota(bytes.begin(), bytes.end(), '\0');
  EXPECT_EQ(crc32c(bytes), 0x46DD'794EU);
  std::ranges::reverse(bytes);
  EXPECT_EQ(crc32c(bytes), 0x113F'DB5CU);
}

TEST(Crc32c, InstructionAndTablesAgreeAtEverySmallLengthAndAlignment) {
  const std::string bytes = noise(300);
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t size = 0; from + size <= bytes.size(); ++size) {
      const std::string_view part = std::string_view(bytes).substr(from, size);
      const std::uint32_t expected = crc_by_definition(part);
      ASSERT_EQ(crc32c(part), expected) << from << " " << size;
      ASSERT_EQ(detail::crc32c_tables(as_bytes(part), 0), expected) << from << " " << size;
    }
  }
}

TEST(Crc32c, LongBuffersAgreeAroundTheBordersOfTheLanes) {
  const std::string bytes = noise(4 * 3 * 1024 + 100);
  for (const std::size_t lanes : {1U, 2U, 3U, 6U, 9U, 12U}) {
    for (std::size_t size = lanes * 1024 - 9; size <= lanes * 1024 + 9; ++size) {
      const std::string_view part = std::string_view(bytes).substr(0, size);
      ASSERT_EQ(crc32c(part), crc_by_definition(part)) << size;
      ASSERT_EQ(detail::crc32c_tables(as_bytes(part), 0), crc_by_definition(part)) << size;
    }
  }
}

RC_GTEST_PROP(Crc32c, ChainsOverAnySplit, (const std::string& first, const std::string& second)) {
  RC_ASSERT(crc32c(second, crc32c(first)) == crc_by_definition(first + second));
  RC_ASSERT(detail::crc32c_tables(as_bytes(second), detail::crc32c_tables(as_bytes(first), 0)) ==
            crc_by_definition(first + second));
}

TEST(Crc32c, ChainsOverLongBuffers) {
  const std::string bytes = noise(10'000);
  const std::uint32_t whole = crc_by_definition(bytes);
  for (std::size_t split = 0; split <= bytes.size(); split += 37) {
    const std::string_view view = bytes;
    ASSERT_EQ(crc32c(view.substr(split), crc32c(view.substr(0, split))), whole) << split;
  }
}

TEST(Crc32c, SeesEveryFlippedBit) {
  std::string bytes = noise(64);
  const std::uint32_t whole = crc32c(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const char mask = static_cast<char>(1 << (bit % 8));
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
    EXPECT_NE(crc32c(bytes), whole) << bit;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
  }
}

}  // namespace
}  // namespace tarry::base
