#include "server/session_parts/log_throttle.h"

#include <gtest/gtest.h>

namespace tarry::session {
namespace {

using std::chrono::milliseconds;

TEST(LogThrottle, tells_one_line_a_second_and_how_many_it_left_out) {
  LogThrottle throttle;
  const LogThrottle::Clock::time_point start{};
  EXPECT_EQ(throttle.line("a", start), "a");
  EXPECT_EQ(throttle.line("b", start), std::nullopt);
  EXPECT_EQ(throttle.line("c", start + milliseconds(999)), std::nullopt);
  EXPECT_EQ(throttle.line("d", start + milliseconds(1'000)), "d (and 2 more since the last line)");
  EXPECT_EQ(throttle.line("e", start + milliseconds(1'999)), std::nullopt);
  EXPECT_EQ(throttle.line("f", start + milliseconds(9'999)), "f (and 1 more since the last line)");
  EXPECT_EQ(throttle.line("g", start + milliseconds(99'999)), "g");
}

}  // namespace
}  // namespace tarry::session
