#include "server/session_parts/store_error.h"

#include <gtest/gtest.h>

namespace tarry::session {
namespace {

TEST(WithoutPaths, LeavesTheLastTwoNamesOfEach) {
  EXPECT_EQ(without_paths("/a/b/c.seg: bad"), "b/c.seg: bad");
  EXPECT_EQ(without_paths("bad: \"/a/b/c d\", and (/e/f)."), "bad: \"b/c d\", and (e/f).");
  EXPECT_EQ(without_paths("no such directory /a/b/c/."), "no such directory b/c.");
  EXPECT_EQ(without_paths("redis://host:6379/0 is away, 3/4 of it"),
            "redis://host:6379/0 is away, 3/4 of it");
  EXPECT_EQ(without_paths("read a/b/c"), "read a/b/c");
  EXPECT_EQ(without_paths("/a"), "a");
  EXPECT_EQ(without_paths(""), "");
  EXPECT_EQ(without_paths("/"), "");
}

}  // namespace
}  // namespace tarry::session
