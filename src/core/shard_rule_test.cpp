#include "core/shard_rule.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tarry::core {
namespace {

TEST(ShardRule, HashesWhatStandsInTheFirstBraces) {
  struct Case {
    std::string_view key, part;
  };
  for (const Case& each :
       {Case{"order:42", "order:42"}, Case{"{user:7}:order:42", "user:7"}, Case{"a{b}c{d}", "b"},
        Case{"{}x", "{}x"}, Case{"a{}b{c}", "a{}b{c}"}, Case{"{{a}}", "{a"}, Case{"}{a}", "a"},
        Case{"{a", "{a"}, Case{"a}", "a}"}, Case{"", ""}}) {
    EXPECT_EQ(hashed_part(each.key), each.part) << each.key;
  }
}

TEST(ShardRule, KeepsTogetherWhatBelongsTogether) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(shard_of("q", "{user:7}:" + std::to_string(i), 256, 1),
              shard_of("q", "user:7", 256, 1));
  }
}

TEST(ShardRule, NeverChanges) {
  // Stores on disk depend on these answers: a change here would make their keys impossible to find.
  EXPECT_EQ(shard_of("orders", "order:42", 256, 0), 155u);
  EXPECT_EQ(shard_of("orders", "order:42", 256, 1), 245u);
  EXPECT_EQ(shard_of("orders", "{user:7}:order:42", 4, 0x1234'5678'9abc'def0), 3u);
  EXPECT_EQ(shard_of("", "", 7, 99), 1u);
}

TEST(ShardRule, DependsOnQueueAndSeed) {
  int by_queue = 0;
  int by_seed = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(i);
    by_queue += shard_of("a", key, 256, 1) != shard_of("b", key, 256, 1) ? 1 : 0;
    by_seed += shard_of("a", key, 256, 1) != shard_of("a", key, 256, 2) ? 1 : 0;
  }
  EXPECT_GT(by_queue, 90);
  EXPECT_GT(by_seed, 90);
}

TEST(ShardRule, SpreadsKeysEvenly) {
  std::array<int, 8> counts{};
  for (int i = 0; i < 8'000; ++i) ++counts[shard_of("q", "order:" + std::to_string(i), 8, 42)];
  for (const int count : counts) {
    EXPECT_GT(count, 850);
    EXPECT_LT(count, 1'150);
  }
}

RC_GTEST_PROP(ShardRule, NamesAShardThatExists, (const std::string& key, std::uint64_t seed)) {
  const auto shards = *rc::gen::inRange<std::uint32_t>(1, 257);
  RC_ASSERT(shard_of("q", key, shards, seed) < shards);
  RC_ASSERT(shard_of("q", key, 1, seed) == 0u);
}

}  // namespace
}  // namespace tarry::core
