#include "engines/embedded/state/messages/chunked_array.h"

#include <gtest/gtest.h>

namespace tarry::embedded {
namespace {

TEST(ChunkedArray, GrowsByChunksAndMovesNothing) {
  ChunkedArray<int, 2> array;  // chunks of four
  EXPECT_EQ(array.size(), 0u);
  EXPECT_EQ(array.bytes(), 0u);
  array.grow_to(1);
  array[0] = 42;
  const int* const first = &array[0];
  array.grow_to(1000);
  EXPECT_EQ(&array[0], first);
  EXPECT_EQ(array[0], 42);
  EXPECT_EQ(array.size(), 1000u);
  EXPECT_EQ(array.bytes(), 1000 * sizeof(int));
}

TEST(ChunkedArray, NewElementsAreValueInitialised) {
  ChunkedArray<int, 2> array;
  array.grow_to(9);
  for (std::uint32_t i = 0; i < 9; ++i) EXPECT_EQ(array[i], 0);
}

TEST(ChunkedArray, NeverShrinks) {
  ChunkedArray<int, 2> array;
  array.grow_to(5);
  array[4] = 7;
  array.grow_to(2);
  EXPECT_EQ(array.size(), 5u);
  EXPECT_EQ(array[4], 7);
}

TEST(ChunkedArray, KeepsEveryElementAcrossChunkBorders) {
  ChunkedArray<std::uint32_t, 2> array;
  array.grow_to(100);
  for (std::uint32_t i = 0; i < 100; ++i) array[i] = i * i;
  const auto& read = array;
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(read[i], i * i);
}

TEST(ChunkedArray, GoesOnInBlocksOfManyChunks) {
  struct Large {
    std::uint32_t number = 7;
    char rest[4092] = {};
  };
  ChunkedArray<Large, 9> array;  // chunks of 2 MiB, the first 32 of them on their own
  constexpr std::uint32_t kSize = 512 * 50;
  for (std::uint32_t i = 0; i < kSize; ++i) {
    array.grow_to(i + 1);
    ASSERT_EQ(array[i].number, 7u);
    array[i].number = i;
  }
  for (std::uint32_t i = 0; i < kSize; ++i) ASSERT_EQ(array[i].number, i);
  EXPECT_EQ(array.bytes(), kSize * sizeof(Large));
}

}  // namespace
}  // namespace tarry::embedded
