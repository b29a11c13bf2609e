#include "server/session/seldom.h"

#include <gtest/gtest.h>

namespace tarry::session {
namespace {

using std::chrono::milliseconds;

TEST(Seldom, tells_one_line_a_second_and_how_many_it_left_out) {
  Seldom seldom;
  const Seldom::Clock::time_point start{};
  EXPECT_EQ(seldom.line("a", start), "a");
  EXPECT_EQ(seldom.line("b", start), std::nullopt);
  EXPECT_EQ(seldom.line("c", start + milliseconds(999)), std::nullopt);
  EXPECT_EQ(seldom.line("d", start + milliseconds(1'000)), "d (and 2 more since the last line)");
  EXPECT_EQ(seldom.line("e", start + milliseconds(1'999)), std::nullopt);
  EXPECT_EQ(seldom.line("f", start + milliseconds(9'999)), "f (and 1 more since the last line)");
  EXPECT_EQ(seldom.line("g", start + milliseconds(99'999)), "g");
}

}  // namespace
}  // namespace tarry::session
