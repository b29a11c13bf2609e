#include "engines/redis/records/record.h"

#include <gtest/gtest.h>

namespace tarry::redis {
namespace {

TEST(QueueRecords, AreReadAsTheyAreSpelled) {
  for (const char* text : {"1 1 146", "7 256 146.3 12", "7 2 146 0 moving 4 146.1 2 9",
                           "7 4 146.1 2 retiring 2 146 0 10", "7 4 146.1 2 removing 11"}) {
    const auto record = read_record(text);
    ASSERT_TRUE(record) << text;
    std::string spelled = spell_record(*record);
    if (record->turn != 0) spelled += " " + std::to_string(record->turn);  // as scripts do
    EXPECT_EQ(spelled, text);
  }
  EXPECT_EQ(spell_record(*read_record("1 1 146 0")), "1 1 146");
}

TEST(QueueRecords, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "1", "1 1", "0 1 g", "x 1 g", "1 0 g", "1 257 g", "1 1 g x", "1 1 g 999", "1 1 g 0 1",
        "1 1 g 0 moving 2 g.1 1", "1 1 g 0 resting 2 g.1 1 5", "1 1 g 0 moving 0 g.1 1 5",
        "1 1 g 0 moving 2 g.1 1 0", "4294967296 1 g", "1 1 g 0 moving 2 g.1 1 5 6",
        "1 1 g 0 removing 0", "1 1 g 0 removing x", "1 1 g 0 moving 5"}) {
    EXPECT_FALSE(read_record(text)) << text;
  }
}

TEST(QueueRecords, SetsThatFollowEachOtherNeverShareANumber) {
  ShardSet set{1, "146", 0};
  std::uint32_t count = 0;
  for (const std::uint32_t shards : {4u, 3u, 256u, 256u, 256u, 1u, 256u, 2u, 255u, 256u, 256u}) {
    const ShardSet next = next_set(set, shards);
    EXPECT_EQ(next.shards, shards);
    EXPECT_EQ(number_of_generation(next.generation), ++count);
    EXPECT_TRUE(next.first >= set.first + set.shards || next.first + next.shards <= set.first);
    QueueRecord record{1, set, QueueRecord::Stage::moving, next, 0};
    EXPECT_TRUE(read_record(spell_record(record) + " 1")) << spell_record(record);
    set = next;
  }
}

}  // namespace
}  // namespace tarry::redis
