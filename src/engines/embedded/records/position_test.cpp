#include "engines/embedded/records/position.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace tarry::embedded {
namespace {

TEST(Position, KeepsSegmentAndOffset) {
  const Position position(7, kMaxSegmentBytes - 1, 100);
  EXPECT_EQ(position.segment(7), 7u);
  EXPECT_EQ(position.segment(9), 7u);
  EXPECT_EQ(position.offset(), kMaxSegmentBytes - 1);
}

TEST(Position, SmallSizesAreRoundedToFour) {
  EXPECT_EQ(Position(1, 0, 0).size(), 0u);
  EXPECT_EQ(Position(1, 0, 1).size(), 4u);
  EXPECT_EQ(Position(1, 0, 4).size(), 4u);
  EXPECT_EQ(Position(1, 0, 5).size(), 8u);
  EXPECT_EQ(Position(1, 0, 8188).size(), 8188u);
  EXPECT_EQ(Position(1, 0, 8189).size(), 8192u);
}

// 24 bits of the number are kept; the window of live segments may lie across the wrap.
TEST(Position, TheSegmentIsFoundAcrossTheWrapOfItsBits) {
  const std::uint64_t wrap = 1u << 24;
  for (const std::uint64_t segment : {wrap - 1, wrap, wrap + 1, 5 * wrap - 1}) {
    for (const std::uint64_t newer : {0u, 1u, 1000u}) {
      EXPECT_EQ(Position(segment, 4096, 10).segment(segment + newer), segment);
    }
  }
}

RC_GTEST_PROP(Position, SizeIsEnoughAndHardlyTooMuch, ()) {
  constexpr std::uint64_t kLargest = std::uint64_t{255} << 21;
  const auto size = *rc::gen::inRange<std::uint64_t>(0, kLargest + 1);
  const Position position(1, 96, size);
  RC_ASSERT(position.size() >= size);
  RC_ASSERT(position.size() - size <= std::max<std::uint64_t>(3, size / 128));
  RC_ASSERT(position.offset() == 96u);
  RC_ASSERT(position.segment(1) == 1u);
}

// Every size class border: where an off-by-one in the rounding would show.
TEST(Position, SizesAroundEveryPowerOfTwo) {
  for (int bit = 4; bit < 29; ++bit) {
    const std::uint64_t middle = std::uint64_t{1} << bit;
    for (std::uint64_t size = middle - 17; size <= middle + 17; ++size) {
      const Position position(1, 0, size);
      ASSERT_GE(position.size(), size);
      ASSERT_LE(position.size() - size, std::max<std::uint64_t>(3, size / 128)) << size;
    }
  }
}

}  // namespace
}  // namespace tarry::embedded
