#include "core/rules/expiry.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace tarry::core {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kDueMs = 1'900'000'000'000;

PushItem item_of(std::optional<Millis> expire, std::optional<std::int64_t> at = {}) {
  PushItem item;
  item.expire = expire;
  if (at) item.expire_at = Time(Millis(*at));
  return item;
}

TEST(Expiry, IsThePushsElseTheQueues) {
  EXPECT_EQ(*expiry_of(item_of({}), kDueMs, 0ms), Expiry());
  EXPECT_EQ(*expiry_of(item_of({}), kDueMs, 5s), (Expiry{kDueMs + 5'000, 5'000}));
  EXPECT_EQ(*expiry_of(item_of(2s), kDueMs, 5s), (Expiry{kDueMs + 2'000, 2'000}));
  EXPECT_EQ(*expiry_of(item_of({}, kDueMs + 1), kDueMs, 5s), (Expiry{kDueMs + 1, 0}));
}

TEST(Expiry, IsAfterTheDueTime) {
  const auto refused = expiry_of(item_of({}, kDueMs), kDueMs, 5s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "expire_at 2030-03-17T17:46:40.000Z must be after the due time, "
            "2030-03-17T17:46:40.000Z");
}

// A message that was retried there is due later than when it was pushed, perhaps after its expiry.
TEST(Expiry, OfAMovedMessageIsWhatItWas) {
  EXPECT_EQ(moved_expiry(item_of({}), kDueMs), Expiry());
  EXPECT_EQ(moved_expiry(item_of(2s, kDueMs - 7), kDueMs), (Expiry{kDueMs - 7, 2'000}));
  EXPECT_EQ(moved_expiry(item_of({}, kDueMs - 7), kDueMs), (Expiry{kDueMs - 7, 0}));
  EXPECT_EQ(moved_expiry(item_of(2s), kDueMs), (Expiry{kDueMs + 2'000, 2'000}));
  EXPECT_EQ(moved_expiry(item_of(2s, 0), kDueMs), Expiry());
}

TEST(Expiry, MovesWithTheDueTimeUnlessItIsFixed) {
  EXPECT_EQ(rescheduled({kDueMs - 7, 2'000}, kDueMs), (Expiry{kDueMs + 2'000, 2'000}));
  EXPECT_EQ(rescheduled({kDueMs + 1, 0}, kDueMs), (Expiry{kDueMs + 1, 0}));
  EXPECT_EQ(rescheduled({kDueMs, 0}, kDueMs), Expiry());
  EXPECT_EQ(rescheduled({}, kDueMs), Expiry());
}

TEST(Expiry, AFixedOneRefusesALaterDueTime) {
  EXPECT_FALSE(check_reschedule({}, kDueMs));
  EXPECT_FALSE(check_reschedule({kDueMs, 2'000}, kDueMs));
  EXPECT_FALSE(check_reschedule({kDueMs + 1, 0}, kDueMs));
  EXPECT_EQ(check_reschedule({kDueMs, 0}, kDueMs)->message,
            "due time 2030-03-17T17:46:40.000Z must be before the message expires, at "
            "2030-03-17T17:46:40.000Z");
}

TEST(Expiry, IsRefusedByNameWhereMessagesCannotExpire) {
  EXPECT_FALSE(refuse_expiry("redis", item_of({})));
  EXPECT_EQ(refuse_expiry("redis", item_of(90s))->message,
            "redis cannot expire messages (expire 1m30s); a file: store can");
  EXPECT_NE(refuse_expiry("redis", item_of({}, kDueMs))->message.find("expire_at 2030"),
            std::string::npos);
  EXPECT_FALSE(refuse_expiry("redis", SettingsPatch{.expire = 0ms, .on_expiry = OnExpiry::end}));
  EXPECT_EQ(refuse_expiry("redis", SettingsPatch{.on_expiry = OnExpiry::dead})->code,
            ErrorCode::unsupported);
  EXPECT_TRUE(refuse_expiry("redis", SettingsPatch{.expire = 1ms}));
}

TEST(Expiry, TheRulesHaveNames) {
  EXPECT_EQ(on_expiry_names(), (std::vector<std::string_view>{"end", "dead"}));
  for (const OnExpiry rule : kEveryOnExpiry) EXPECT_EQ(on_expiry_from(to_string(rule)), rule);
  EXPECT_FALSE(on_expiry_from("End"));
}

}  // namespace
}  // namespace tarry::core
