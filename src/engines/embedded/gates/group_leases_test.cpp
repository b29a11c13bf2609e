#include "engines/embedded/gates/group_leases.h"

#include <gtest/gtest.h>

namespace tarry::embedded {
namespace {

using Taken = GroupLeases::Taken;
using Shards = GroupLeases::Shards;

TEST(GroupLeases, CountsEachGroupOverAllShards) {
  GroupLeases leases;
  leases.set_limit(2);
  leases.join({{"a", 1}});
  EXPECT_EQ(leases.take("a", 0, 0), Taken::shared);
  EXPECT_EQ(leases.take("a", 1, 0), Taken::refused);
  EXPECT_EQ(leases.take("b", 1, 0), Taken::shared);
  EXPECT_EQ(leases.of("a"), 2u);
  EXPECT_EQ(leases.of("b"), 1u);
  leases.leave({{"a", 2}, {"b", 1}});
  EXPECT_EQ(leases.of("a") + leases.of("b"), 0u);
}

TEST(GroupLeases, CountsWithoutALimitToo) {
  GroupLeases leases;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(leases.take("a", 0, 0), Taken::shared);
  EXPECT_EQ(leases.of("a"), 5u);
  leases.set_limit(3);
  EXPECT_EQ(leases.take("a", 0, 2), Taken::refused);
  EXPECT_EQ(leases.take("a", 0, 3), Taken::own);
}

TEST(GroupLeases, AShardUsesItsOwnFreedLeasesAgainUnlessAnotherWaits) {
  GroupLeases leases;
  leases.set_limit(1);
  leases.join({{"a", 1}});
  EXPECT_EQ(leases.take("a", 0, 1), Taken::own);
  EXPECT_FALSE(leases.has_room("a", 1, 0));
  EXPECT_EQ(leases.take("a", 0, 1), Taken::refused);
  EXPECT_EQ(leases.give_back({{"a", 1}}), Shards(0b11));
  EXPECT_EQ(leases.take_woken(1), std::vector<std::string>{"a"});
  EXPECT_TRUE(leases.take_woken(1).empty());
  EXPECT_EQ(leases.take("a", 1, 0), Taken::shared);
}

TEST(GroupLeases, WakesOnlyThoseThatWaitForTheGroup) {
  GroupLeases leases;
  leases.set_limit(1);
  leases.join({{"a", 1}, {"b", 1}});
  EXPECT_FALSE(leases.has_room("a", 3, 0));
  EXPECT_FALSE(leases.has_room("b", 4, 0));
  EXPECT_EQ(leases.give_back({{"a", 1}}), Shards(0b1000));
  EXPECT_TRUE(leases.take_woken(4).empty());
  EXPECT_TRUE(leases.has_room("c", 4, 0));
}

}  // namespace
}  // namespace tarry::embedded
