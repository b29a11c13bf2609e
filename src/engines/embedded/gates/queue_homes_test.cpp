#include "engines/embedded/gates/queue_homes.h"

#include <gtest/gtest.h>

namespace tarry::embedded {
namespace {

TEST(QueueHomes, AQueueIsAtHomeUntilItIsNot) {
  QueueHomes homes;
  homes.set("q", false);
  EXPECT_EQ(homes.version(), 0u);
  EXPECT_FALSE(homes.route("q").at_home);
  homes.set("q", true);
  EXPECT_TRUE(homes.route("q").at_home);
  EXPECT_FALSE(homes.route("other").at_home);
  homes.set("q", false);
  EXPECT_FALSE(homes.route("q").at_home);
}

TEST(QueueHomes, EachChangeHasAVersion) {
  QueueHomes homes;
  homes.set("q", true);
  const std::uint64_t before = homes.route("q").version;
  homes.set("q", true);
  EXPECT_EQ(homes.version(), before);
  ASSERT_TRUE(homes.begin_change("q"));
  EXPECT_NE(homes.version(), before);
}

TEST(QueueHomes, OneChangeOfAQueueAtATime) {
  QueueHomes homes;
  ASSERT_TRUE(homes.begin_change("q"));
  EXPECT_TRUE(homes.route("q").changing);
  EXPECT_FALSE(homes.begin_change("q"));
  EXPECT_TRUE(homes.begin_change("other"));
  homes.set("q", true);
  EXPECT_TRUE(homes.route("q").changing);
  homes.end_change("q");
  EXPECT_FALSE(homes.route("q").changing);
  EXPECT_TRUE(homes.route("q").at_home);
  EXPECT_TRUE(homes.begin_change("q"));
  homes.end_change("q");
  homes.end_change("other");
  homes.end_change("none");
  EXPECT_FALSE(homes.route("other").changing);
}

}  // namespace
}  // namespace tarry::embedded
