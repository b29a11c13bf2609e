#include "net/redis/protocol/redis_slot.h"

#include <gtest/gtest.h>

#include "net/redis/protocol/redis_command.h"

namespace tarry::net {
namespace {

// Values from the cluster specification, and from CLUSTER KEYSLOT.
TEST(RedisSlot, AsTheClusterCounts) {
  EXPECT_EQ(redis_slot("123456789"), 0x31C3u);
  EXPECT_EQ(redis_slot("foo"), 12182u);
  EXPECT_EQ(redis_slot(""), 0u);
}

TEST(RedisSlot, OfWhatStandsBetweenTheFirstBraces) {
  EXPECT_EQ(redis_slot("tarry:{3}:orders/0:meta"), redis_slot("3"));
  EXPECT_EQ(redis_slot("{user1000}.following"), redis_slot("user1000"));
  EXPECT_EQ(redis_slot("foo{bar}{zap}"), redis_slot("bar"));
  EXPECT_EQ(redis_slot("foo{{bar}}zap"), redis_slot("{bar"));
  // Empty braces do not count: the whole key is hashed.
  EXPECT_NE(redis_slot("foo{}{bar}"), redis_slot("bar"));
  EXPECT_NE(redis_slot("foo{bar"), redis_slot("bar"));
}

TEST(RedisSlot, ACommandHasThatOfItsFirstKey) {
  RedisCommand command("EVALSHA");
  command.add("a name").add("2");
  EXPECT_FALSE(command.slot());
  command.key("{a}1").key("{b}1");
  EXPECT_EQ(command.slot(), redis_slot("a"));
}

}  // namespace
}  // namespace tarry::net
