#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tarry::base {
namespace {

// Stores on disk depend on these values: a change here makes every existing store unreadable.
TEST(KeyedHash, NeverChangesItsAnswers) {
  EXPECT_EQ(keyed_hash("", 0), 0x2D06'8005'38D3'94C2U);
  EXPECT_EQ(keyed_hash("order:42", 0), 0x78A6'B099'DB11'78C5U);
  EXPECT_EQ(keyed_hash("order:42", 0x7461'7272'79), 0xB041'F060'FE8D'DA7CU);
  EXPECT_EQ(keyed_hash(std::string(300, 'k'), 7), 0xB030'C709'88B6'C175U);
}

TEST(KeyedHash, DependsOnTheSeedAndOnEveryByte) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) seen.insert(keyed_hash("order:42", seed));
  EXPECT_EQ(seen.size(), 100U);

  const std::string key = "order:42";
  seen = {keyed_hash(key, 1)};
  for (std::size_t i = 0; i < key.size(); ++i) {
    std::string other = key;
    other[i] = '\0';
    seen.insert(keyed_hash(other, 1));
  }
  EXPECT_EQ(seen.size(), key.size() + 1);
}

TEST(KeyedHash, TakesAnEmptyViewThatPointsNowhere) {
  EXPECT_EQ(keyed_hash(std::string_view(), 5), keyed_hash(std::string_view(""), 5));
}

TEST(Spread, NeighboursLieInAllPlaces) {
  for (const int bits : {1, 3, 12}) {
    std::set<std::uint32_t> seen;
    for (std::uint64_t number = 0; number < std::uint64_t{3} << bits; ++number) {
      seen.insert(spread(number, bits));
    }
    EXPECT_EQ(seen.size(), std::size_t{1} << bits);
    EXPECT_LT(*seen.rbegin(), 1u << bits);
  }
  EXPECT_EQ(spread(1, 32), 0x9E37'79B9u);
}

}  // namespace
}  // namespace tarry::base
