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
}

}  // namespace
}  // namespace tarry::core
