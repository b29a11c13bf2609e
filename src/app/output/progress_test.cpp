#include "app/output/progress.h"

#include <gtest/gtest.h>

#include "app/output/printable.h"

namespace tarry::app {
namespace {

using namespace std::chrono_literals;

TEST(Grouped, PutsCommas) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Counted, SaysOneAndMany) {
  EXPECT_EQ(counted(0, "message"), "0 messages");
  EXPECT_EQ(counted(1, "message"), "1 message");
  EXPECT_EQ(counted(2'000, "message"), "2,000 messages");
}

TEST(ProgressLine, ShowsShareAndTimeLeft) {
  EXPECT_EQ(progress_line("pushing", {50, 100, "1,000 messages"}, 4s, 80),
            "pushing  50% [============>           ]  1,000 messages, 4s left");
  EXPECT_EQ(progress_line("pushing", {0, 100, "0 messages"}, 4s, 80),
            "pushing   0% [>                       ]  0 messages");
  EXPECT_EQ(progress_line("pushing", {100, 100, "9 messages"}, 4s, 80),
            "pushing 100% [========================]  9 messages");
}

TEST(ProgressLine, HasNoBarInALog) {
  EXPECT_EQ(progress_line("pushing", {50, 100, "1,000 messages"}, 4s, 0),
            "pushing 50%: 1,000 messages, 4s left");
}

TEST(ProgressLine, CountsWhereTheTotalIsUnknown) {
  EXPECT_EQ(progress_line("pushing", {50, 0, "1,000 messages"}, 4s, 0), "pushing 1,000 messages");
}

TEST(ProgressLine, FitsTheTerminal) {
  EXPECT_EQ(columns(progress_line("pushing", {50, 100, "1,000 messages"}, 4s, 30)), 30u);
}

TEST(ProgressLine, AFileThatGrewIsNeverOver100Percent) {
  EXPECT_EQ(progress_line("pushing", {200, 100, "9 messages"}, 4s, 80),
            "pushing 100% [========================]  9 messages");
}

}  // namespace
}  // namespace tarry::app
