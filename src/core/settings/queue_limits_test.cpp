#include "core/settings/queue_limits.h"

#include <gtest/gtest.h>

#include <string>

#include "core/limits.h"

namespace tarry::core {
namespace {

Result<std::uint32_t> parse(std::string_view text) {
  return parse_limit("max_leased", text, kMaxMaxLeased);
}

TEST(QueueLimits, AreNumbersOrNone) {
  EXPECT_EQ(*parse("1"), 1u);
  EXPECT_EQ(*parse("1000000"), 1'000'000u);
  EXPECT_EQ(*parse("none"), 0u);
  EXPECT_EQ(limit_text(5), "5");
  EXPECT_EQ(limit_text(0), "none");
}

TEST(QueueLimits, ThatAreWrongAreRefusedWithTheValueAndTheLimit) {
  for (const char* text : {"0", "-1", "1000001", "99999999999999999999", "", "many", "1.5"}) {
    const auto limit = parse(text);
    ASSERT_FALSE(limit) << text;
    EXPECT_EQ(limit.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(limit.error().message,
              "max_leased \"" + std::string(text) + "\" must be 1 to 1000000, or none");
  }
}

TEST(QueueLimits, HoldAQueueWithSoManyLeased) {
  QueueStats stats;
  stats.leased = 5;
  EXPECT_FALSE(is_limited(stats));
  stats.settings.max_leased = 6;
  EXPECT_FALSE(is_limited(stats));
  stats.settings.max_leased = 5;
  EXPECT_TRUE(is_limited(stats));
  stats.settings.max_leased = 4;
  EXPECT_TRUE(is_limited(stats));
}

TEST(QueueLimits, AreRefusedByName) {
  EXPECT_FALSE(refuse_limits("redis", {}));
  EXPECT_FALSE(refuse_limits("redis", {.max_leased = 0}));
  EXPECT_EQ(refuse_limits("redis", {.max_leased = 5})->message,
            "redis cannot limit a queue (max_leased 5); a file: store can");
  EXPECT_EQ(refuse_limits("redis", {.group = Grouping{Grouping::By::header, "tenant"}})->message,
            "redis has no groups (group header:tenant); a file: store has");
  EXPECT_EQ(refuse_limits("redis", {.group_max_leased = 5})->message,
            "redis cannot limit a queue (group_max_leased 5); a file: store can");
  EXPECT_EQ(refuse_limits("redis", {.history = 5})->message,
            "redis keeps no histories of messages (history 5); a file: store can");
  EXPECT_FALSE(refuse_limits("redis", {.group = Grouping(), .group_max_leased = 0, .history = 0}));
}

TEST(QueueLimits, HoldTheMessagesOfAFullGroup) {
  QueueStats stats;
  stats.settings.group_max_leased = 5;
  MessageInfo message;
  message.group_leased = 5;
  EXPECT_FALSE(is_limited(message, stats));  // it has no group
  message.group = "acme";
  EXPECT_TRUE(is_limited(message, stats));
  EXPECT_EQ(limit_held(message, stats),
            "held by group_max_leased: group \"acme\" has 5 of 5 leased");
  message.group_leased = 4;
  EXPECT_FALSE(is_limited(message, stats));
}

TEST(QueueLimits, HoldAQueueWhoseGroupsAreAllHeld) {
  QueueStats stats;
  stats.settings.group_max_leased = 5;
  stats.groups_ready = 2;
  stats.groups_held = 1;
  EXPECT_FALSE(is_limited(stats));
  stats.groups_held = 2;
  EXPECT_TRUE(is_limited(stats));
  EXPECT_EQ(limit_held(stats),
            "held by group_max_leased: each group with ready messages has 5 leased");
  stats.rate_next = Time();
  EXPECT_NE(limit_held(stats).find("held by rate"), std::string::npos);
}

}  // namespace
}  // namespace tarry::core
