#include "relay/sinks/webhook_request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/parcels.h"

namespace tarry::relay {
namespace {

Delivery webhook_delivery(const Headers& headers = {}, const std::string& key = "order/42 ä") {
  test::Answers answers;
  return std::move(answers.parcels({key}, headers).front().delivery);
}

std::vector<std::string> lines_of(const WebhookOptions& options, const Headers& headers) {
  const auto lines = webhook_headers(options, webhook_delivery(headers), 1'700'000'000);
  EXPECT_TRUE(lines) << lines.error().message;
  return lines ? *lines : std::vector<std::string>();
}

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::ranges::find(lines, line) != lines.end();
}

TEST(WebhookRequest, SaysWhatTheMessageIs) {
  const auto lines = lines_of({}, {});
  EXPECT_EQ(lines,
            (std::vector<std::string>{"Idempotency-Key: 1", "Tarry-Id: 1", "Tarry-Queue: q",
                                      "Tarry-Key: order/42%20%C3%A4", "Tarry-Attempt: 1",
                                      "Tarry-Due-Ms: 1600000000000", "Tarry-Timestamp: 1700000000",
                                      "Content-Type: application/octet-stream"}));
}

TEST(WebhookRequest, TheMessagesHeadersGoAlongButForThoseThatAreNotTheirs) {
  WebhookOptions options;
  options.token = "t0ken";
  const auto lines = lines_of(options, {{"X-Shop", "eu"},
                                        {"content-type", "application/json"},
                                        {"Host", "elsewhere"},
                                        {"Content-Length", "1"},
                                        {"transfer-encoding", "chunked"},
                                        {"Connection", "close"},
                                        {"authorization", "Bearer theirs"},
                                        {"Idempotency-Key", "theirs"},
                                        {"tarry-attempt", "7"}});
  EXPECT_TRUE(has(lines, "X-Shop: eu"));
  EXPECT_TRUE(has(lines, "Content-Type: application/json"));
  EXPECT_TRUE(has(lines, "Authorization: Bearer t0ken"));
  EXPECT_TRUE(has(lines, "Tarry-Attempt: 1"));
  EXPECT_EQ(lines.size(), 10u);
  // Without a token of ours theirs is what the receiver asks for.
  EXPECT_TRUE(
      has(lines_of({}, {{"authorization", "Bearer theirs"}}), "authorization: Bearer theirs"));
}

TEST(WebhookRequest, RefusesWhatWouldBecomeAnotherHeader) {
  for (const std::string& value : {std::string("a\r\nHost: evil"), std::string("a\nb"),
                                   std::string("a\0b", 3), std::string("\x7f")}) {
    const Header bad{"X", value};
    const auto lines = webhook_headers({}, webhook_delivery({bad}), 0);
    ASSERT_FALSE(lines) << bad.name << bad.value;
    EXPECT_EQ(lines.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(lines.error().message.find('\n'), std::string::npos);
  }
}

TEST(WebhookRequest, SignsTheTimeAndTheBody) {
  WebhookOptions options;
  options.secret = "sixteen bytes or more";
  const auto lines = lines_of(options, {});
  const std::string expected =
      webhook_signature(options.secret, 1'700'000'000, "payload-order/42 ä");
  EXPECT_TRUE(has(lines, "Tarry-Signature: " + expected));
  EXPECT_NE(expected, webhook_signature(options.secret, 1'700'000'001, "payload-order/42 ä"));
  // printf 0. | openssl dgst -sha256 -hmac key
  EXPECT_EQ(webhook_signature("key", 0, ""),
            "v1=85841b4efc3cd7776c3c8f9b7cca9e281c550e5d19889d78e9e669c6337f000d");
}

TEST(WebhookRequest, ThePathMayComeFromAHeader) {
  WebhookOptions options;
  options.path_header = "path";
  EXPECT_EQ(webhook_path(options, webhook_delivery()).value(), "");
  EXPECT_EQ(webhook_path(options, webhook_delivery({{"path", "/a?b=c"}})).value(), "/a?b=c");
  EXPECT_EQ(webhook_path({}, webhook_delivery({{"path", "/a"}})).value(), "");
  for (const char* bad : {"a", "", "/a b", "/a#b", "/\r\n", "//evil\x7f"}) {
    EXPECT_FALSE(webhook_path(options, webhook_delivery({{"path", bad}}))) << bad;
  }
  EXPECT_FALSE(webhook_path(options, webhook_delivery({{"path", "/" + std::string(4'096, 'a')}})));
}

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
