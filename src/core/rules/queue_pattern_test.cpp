#include "core/rules/queue_pattern.h"

#include <gtest/gtest.h>

namespace tarry::core {
namespace {

TEST(QueuePattern, IsANameOrABeginning) {
  for (const char* good : {"orders", "orders.*", "*", "o*", ".*", "..*", "..."}) {
    EXPECT_FALSE(check_queue_pattern(good)) << good;
  }
  for (const char* bad : {"", "**", "a*b", "*.orders", "or ders*", "a*b*", ".", ".."}) {
    const auto error = check_queue_pattern(bad);
    ASSERT_TRUE(error) << bad;
    EXPECT_EQ(error->code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(check_queue_pattern("a*b")->message, "pattern \"a*b\" may have a * at its end only");
}

TEST(QueuePattern, MatchesTheNameOrWhatBeginsSo) {
  EXPECT_TRUE(matches("orders", "orders"));
  EXPECT_FALSE(matches("orders", "orders.eu"));
  EXPECT_TRUE(matches("orders*", "orders"));
  EXPECT_TRUE(matches("orders.*", "orders.eu"));
  EXPECT_FALSE(matches("orders.*", "orders"));
  EXPECT_TRUE(matches("*", "anything"));
}

TEST(QueuePattern, OverlapsWhereOneQueueCouldMatchBoth) {
  EXPECT_TRUE(overlap("orders", "orders"));
  EXPECT_FALSE(overlap("orders", "mails"));
  EXPECT_TRUE(overlap("orders.*", "orders.eu"));
  EXPECT_TRUE(overlap("orders.eu", "orders.*"));
  EXPECT_FALSE(overlap("orders.*", "orders"));
  EXPECT_TRUE(overlap("orders.*", "orders.eu.*"));
  EXPECT_TRUE(overlap("*", "mails"));
  EXPECT_FALSE(overlap("orders.*", "mails.*"));
}

TEST(QueuePattern, CoversAnotherOneThatMatchesNoMore) {
  EXPECT_TRUE(covers("orders", "orders"));
  EXPECT_FALSE(covers("orders", "orders*"));
  EXPECT_TRUE(covers("orders.*", "orders.eu"));
  EXPECT_TRUE(covers("orders.*", "orders.eu.*"));
  EXPECT_TRUE(covers("orders.*", "orders.*"));
  EXPECT_FALSE(covers("orders.eu.*", "orders.*"));
  EXPECT_FALSE(covers("orders.*", "orders"));
  EXPECT_TRUE(covers("*", "*"));
  EXPECT_FALSE(covers("mails.*", "*"));
}

TEST(QueuePattern, AllowsWhatOneOfThemMatches) {
  const auto only = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"orders.*", "mails"});
  EXPECT_TRUE(allows(only, "orders.eu"));
  EXPECT_TRUE(allows(only, "mails"));
  EXPECT_FALSE(allows(only, "mails.eu"));
  EXPECT_FALSE(allows(std::make_shared<const std::vector<std::string>>(), "mails"));
  EXPECT_TRUE(allows(nullptr, "mails"));
}

}  // namespace
}  // namespace tarry::core
