// The facts of AWS's published test suite for Signature Version 4 (aws-sig-v4-test-suite), with its
// secret, time and service.
#include "server/sqs/protocol/signature.h"

#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "net/sha256.h"

namespace tarry::sqs {
namespace {

constexpr std::string_view kNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

net::HttpMessage request(std::string method, std::string target) {
  net::HttpMessage message;
  message.method = std::move(method);
  message.target = std::move(target);
  message.fields = {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}};
  return message;
}

Signature signed_by_suite() {
  Signature signature;
  signature.access_key = "AKIDEXAMPLE";
  signature.date = "20150830";
  signature.region = "us-east-1";
  signature.service = "service";
  signature.time = "20150830T123600Z";
  signature.signed_headers = {"host", "x-amz-date"};
  return signature;
}

std::string text_of(const net::HttpMessage& message) {
  return string_to_sign(signed_by_suite(), canonical_request(message, signed_by_suite(), kNothing));
}

TEST(SignatureSuite, get_vanilla) {
  const auto message = request("GET", "/");
  EXPECT_EQ(canonical_request(message, signed_by_suite(), kNothing),
            "GET\n/\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\n"
            "host;x-amz-date\n" +
                std::string(kNothing));
  EXPECT_EQ(text_of(message),
            "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/service/aws4_request\n"
            "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63");
}

bool is_signed(std::string digits, std::string target) {
  Signature signature = signed_by_suite();
  signature.digits = std::move(digits);
  return is_signed_with(request("GET", std::move(target)), signature,
                        "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", kNothing);
}

TEST(SignatureSuite, signatures) {
  EXPECT_TRUE(is_signed("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31", "/"));
  EXPECT_TRUE(is_signed("b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
                        "/?Param2=value2&Param1=value1"));
  // Normalised paths.
  EXPECT_TRUE(
      is_signed("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31", "/example/.."));
  EXPECT_TRUE(is_signed("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31", "//"));
  EXPECT_FALSE(is_signed("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf32", "/"));
  EXPECT_FALSE(is_signed("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31", "/a"));
  EXPECT_FALSE(is_signed("", "/"));
}

TEST(SignatureText, is_read_strictly) {
  const std::string good =
      "AWS4-HMAC-SHA256 Credential=shop/20150830/eu-west-1/sqs/aws4_request, "
      "SignedHeaders=host;x-amz-date, Signature=" +
      std::string(64, 'a');
  const auto read = [](std::string field) {
    auto message = request("POST", "/");
    message.fields.push_back({"Authorization", std::move(field)});
    return read_signature(message);
  };
  const auto signature = read(good);
  ASSERT_TRUE(std::holds_alternative<Signature>(signature));
  EXPECT_EQ(std::get<Signature>(signature).access_key, "shop");
  EXPECT_EQ(std::get<Signature>(signature).region, "eu-west-1");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(read_signature(request("GET", "/?a=b"))));
  const std::string words[][2] = {{"host;", ""},           {"aws4_request", "aws3"},
                                  {"/sqs/", "/s3/"},       {"host;x-amz-date", "x-amz-date;host"},
                                  {"20150830", "2015083"}, {"Signature=a", "Signature="},
                                  {"AWS4", "AWS5"}};
  for (const auto& [from, to] : words) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    EXPECT_TRUE(std::holds_alternative<Fault>(read(bad))) << bad;
  }
}

TEST(SignatureText, what_names_the_operation_must_be_signed) {
  auto message = request("POST", "/");
  message.fields.push_back({"X-Amz-Target", "AmazonSQS.PurgeQueue"});
  message.fields.push_back({"Authorization",
                            "AWS4-HMAC-SHA256 Credential=shop/20150830/eu-west-1/sqs/aws4_request, "
                            "SignedHeaders=host;x-amz-date, Signature=" +
                                std::string(64, 'a')});
  EXPECT_TRUE(std::holds_alternative<Fault>(read_signature(message)));
}

TEST(SignatureTime, holds_for_a_quarter_of_an_hour) {
  constexpr std::int64_t kTime = 1'440'938'160'000;  // 2015-08-30T12:36:00Z
  constexpr std::int64_t kQuarter = 15ll * 60 * 1000;
  Signature signature = signed_by_suite();
  const auto holds = [&](std::int64_t at) { return !check_time(signature, Time(Millis(at))); };
  EXPECT_TRUE(holds(kTime + kQuarter));
  EXPECT_FALSE(holds(kTime + kQuarter + 1));
  EXPECT_TRUE(holds(kTime - kQuarter));
  EXPECT_FALSE(holds(kTime - kQuarter - 1));
  signature.expires_s = 3600;
  EXPECT_TRUE(holds(kTime + 3'600'000));
  EXPECT_FALSE(holds(kTime + 3'600'001));
  signature.time = "yesterday";
  EXPECT_FALSE(holds(kTime));
}

TEST(SignatureBody, must_have_the_hash_that_it_announces) {
  auto message = request("POST", "/");
  message.body = "x";
  EXPECT_EQ(std::get<std::string>(body_hash(message)), net::sha256_hex("x"));
  message.fields.push_back({"X-Amz-Content-Sha256", net::sha256_hex("y")});
  EXPECT_EQ(std::get<Fault>(body_hash(message)).kind, Kind::signature_wrong);
  message.fields.back().value = "UNSIGNED-PAYLOAD";
  EXPECT_EQ(std::get<Fault>(body_hash(message)).kind, Kind::incomplete_signature);
}

}  // namespace
}  // namespace tarry::sqs
