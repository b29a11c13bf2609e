#include "relay/sinks/webhook/webhook_request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/outgoing.h"

namespace tarry::relay {
namespace {

Delivery webhook_delivery(const Headers& headers = {}, const std::string& key = "order/42 ä") {
  test::Answers answers;
  return std::move(answers.batch({key}, headers).front().delivery);
}

std::vector<std::string> lines_of(const WebhookOptions& options, const Headers& headers) {
  const auto lines = webhook_headers(options, webhook_delivery(headers), 1'700'000'000, "/due");
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
}

TEST(WebhookRequest, RefusesWhatWouldBecomeAnotherHeader) {
  for (const std::string& value : {std::string("a\r\nHost: evil"), std::string("a\nb"),
                                   std::string("a\0b", 3), std::string("\x7f")}) {
    const Header bad{"X", value};
    const auto lines = webhook_headers({}, webhook_delivery({bad}), 0, "/due");
    ASSERT_FALSE(lines) << bad.name << bad.value;
    EXPECT_EQ(lines.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(lines.error().message.find('\n'), std::string::npos);
  }
}

TEST(WebhookRequest, AProducerSaysNothingOfWhoAsksNorOfTheWay) {
  for (const char* name : {"Cookie",
                           "authorization",
                           "Proxy-Authorization",
                           "X-Forwarded-For",
                           "x-forwarded-user",
                           "Forwarded",
                           "X-Real-IP",
                           "Content-Encoding",
                           "Content-Length",
                           "Host",
                           "Via",
                           "Upgrade",
                           "TE",
                           "Keep-Alive",
                           "Connection",
                           "Sec-Fetch-Site",
                           "X-HTTP-Method-Override",
                           "Tarry-Id",
                           "Tarry-Signature",
                           "Idempotency-Key",
                           "Origin",
                           "X-Auth-Request-User",
                           "Remote-User"}) {
    EXPECT_EQ(lines_of({}, {{name, "theirs"}}), lines_of({}, {})) << name;
  }
  EXPECT_TRUE(has(lines_of({}, {{"X-Forward", "to"}}), "X-Forward: to"));
  EXPECT_TRUE(has(lines_of({}, {{"Tarry", "x"}}), "Tarry: x"));
}

TEST(WebhookRequest, SignsAllThatTheReceiverGoesBy) {
  WebhookOptions options;
  options.secret = "sixteen bytes or more";
  const WebhookSigned parts{1'700'000'000,       1, "q", "order/42%20%C3%A4", 1, "/due",
                            "payload-order/42 ä"};
  const auto sign = [&](const WebhookSigned& one) {
    return webhook_signature(WebhookSignature::v2, options.secret, one);
  };
  EXPECT_TRUE(has(lines_of(options, {}), "Tarry-Signature: " + sign(parts)));
  std::vector<WebhookSigned> others(8, parts);
  others[0].unix_seconds = 1'700'000'001;
  others[1].id = 2;
  others[2].queue = "r";
  others[3].key = "order/43";
  others[4].attempt = 2;
  others[5].target = "/due?x";
  others[6].body = "payload";
  others[7].target = "";
  others[7].body = "/due\npayload-order/42 ä";
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_NE(sign(others[i]), sign(parts)) << i;
  // printf 'v2\n0\n7\nq\nk\n1\n/\nbody' | openssl dgst -sha256 -hmac key
  EXPECT_EQ(webhook_signature(WebhookSignature::v2, "key", {0, 7, "q", "k", 1, "/", "body"}),
            "v2=091d8853dfb7334e2f8200ec1e8491dbf9ba341ea8c98952ae74f6239a5981f7");
}

TEST(WebhookRequest, TheFirstSignatureIsStillMadeWhereItIsWanted) {
  WebhookOptions options;
  options.secret = "sixteen bytes or more";
  options.signature = WebhookSignature::v1;
  const WebhookSigned parts{1'700'000'000, 0, "", "", 0, "", "payload-order/42 ä"};
  EXPECT_TRUE(
      has(lines_of(options, {}),
          "Tarry-Signature: " + webhook_signature(WebhookSignature::v1, options.secret, parts)));
  // printf 0. | openssl dgst -sha256 -hmac key
  EXPECT_EQ(webhook_signature(WebhookSignature::v1, "key", {}),
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

}  // namespace
}  // namespace tarry::relay
