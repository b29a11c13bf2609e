#include "relay/sinks/webhook/webhook_answer.h"

#include <gtest/gtest.h>

#include <string>

namespace tarry::relay {
namespace {

TEST(WebhookAnswer, IsWhatTheStatusMeans) {
  for (const long good : {200, 201, 202, 204, 299}) {
    EXPECT_EQ(webhook_answer(good, "", {}).fate, Fate::confirmed) << good;
  }
  for (const long dead : {400, 402, 404, 405, 410, 413, 422, 451}) {
    EXPECT_EQ(webhook_answer(dead, "", {}).fate, Fate::refused) << dead;
  }
  for (const long again : {301, 302, 307, 401, 407, 408, 425, 429, 500, 502, 503, 504, 599}) {
    EXPECT_EQ(webhook_answer(again, "", {}).fate, Fate::again) << again;
  }
  for (const long not_yet : {403, 409}) {
    EXPECT_EQ(webhook_answer(not_yet, "", {}).fate, Fate::not_yet) << not_yet;
  }
  const Answer refusal = webhook_answer(404, "no such\norder" + std::string(300, '.'), {});
  EXPECT_EQ(refusal.reason.find("answered 404: \"no such\\norder"), 0u) << refusal.reason;
  EXPECT_LT(refusal.reason.size(), 260u);
}

TEST(WebhookAnswer, HonoursRetryAfterForADayAtMost) {
  EXPECT_EQ(webhook_answer(429, "", Millis(5'000)).after, Millis(5'000));
  EXPECT_EQ(webhook_answer(409, "", Millis(5'000)).after, Millis(5'000));
  EXPECT_EQ(webhook_answer(503, "", std::chrono::hours(72)).after, std::chrono::hours(24));
  EXPECT_FALSE(webhook_answer(500, "", {}).after);
  EXPECT_FALSE(webhook_answer(302, "", Millis(5'000)).after);
}

}  // namespace
}  // namespace tarry::relay
