#include "core/rules/headers.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>

#include "core/limits.h"

namespace tarry::core {
namespace {

TEST(CoreHeaders, AreEncodedAsLengthsAndBytes) {
  const auto encoded = encode_headers({{"ab", "xyz"}, {"c", ""}});
  ASSERT_TRUE(encoded);
  EXPECT_EQ(*encoded, std::string_view("\2\0ab\3\0xyz\1\0c\0\0", 14));
  EXPECT_EQ(*encode_headers({}), "");
}

TEST(CoreHeaders, ComeBackAsTheyWent) {
  const Headers headers = {{"Content-Type", "text/plain"}, {"x", std::string("\0\n\xFF", 3)}};
  const auto decoded = decode_headers(*encode_headers(headers));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, headers);
}

TEST(CoreHeaders, AreFoundByNameWhateverTheCase) {
  const std::string encoded = *encode_headers({{"Type", "1"}, {"type", "2"}, {"Other", ""}});
  EXPECT_EQ(find_header(encoded, "tYPE"), "1");
  EXPECT_EQ(find_header(encoded, "other"), "");
  EXPECT_EQ(find_header(encoded, "typ"), std::nullopt);
  EXPECT_EQ(find_header("", "type"), std::nullopt);
}

TEST(CoreHeaders, NamesAreTokens) {
  for (const std::string_view name :
       {"", "a b", "a:", "caf\xC3\xA9", "a\n", "(a)", "a\x7F", "{a}"}) {
    const auto encoded = encode_headers({{std::string(name), "v"}});
    ASSERT_FALSE(encoded) << name;
    EXPECT_EQ(encoded.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(encoded.error().message.find("header name"), std::string::npos);
  }
  EXPECT_TRUE(encode_headers({{"!#$%&'*+-.^_`|~09azAZ", ""}}));
  EXPECT_TRUE(encode_headers({{std::string(255, 'n'), ""}}));
  EXPECT_FALSE(encode_headers({{std::string(256, 'n'), ""}}));
}

TEST(CoreHeaders, AreLimitedToSixteenKibTogether) {
  EXPECT_TRUE(encode_headers({{"n", std::string(kMaxHeaders - 1, 'v')}}));
  for (const Headers& over : {Headers{{"n", std::string(kMaxHeaders, 'v')}},
                              Headers{{"n", std::string(kMaxHeaders - 1, 'v')}, {"m", ""}},
                              Headers{{"n", std::string(1 << 20, 'v')}}}) {
    const auto encoded = encode_headers(over);
    ASSERT_FALSE(encoded);
    EXPECT_EQ(encoded.error().code, ErrorCode::too_large);
    std::size_t total = 0;
    for (const Header& header : over) total += header.name.size() + header.value.size();
    EXPECT_EQ(encoded.error().message,
              "headers of " + std::to_string(total) + " bytes is over the limit of 16384");
  }
}

// The journal keeps the length of the encoded headers in 16 bits, so they must stay below 64 KiB.
TEST(CoreHeaders, AreLimitedInNumberSoThatTheirCodeStaysShort) {
  Headers most(kMaxHeaderCount, {"nnn", ""});
  most[0].value = std::string(kMaxHeaders - kMaxHeaderCount * 3, 'v');
  const auto encoded = encode_headers(most);
  ASSERT_TRUE(encoded) << encoded.error().message;
  EXPECT_LT(encoded->size(), std::size_t{1} << 16);
  const auto refused = encode_headers(Headers(kMaxHeaderCount + 1, {"n", ""}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::too_large);
  EXPECT_EQ(refused.error().message, "message of 4097 headers is over the limit of 4096");
}

TEST(CoreHeaders, CutBytesAreDamaged) {
  const std::string encoded = *encode_headers({{"ab", "xyz"}});
  for (std::size_t size = 1; size < encoded.size(); ++size) {
    const auto decoded = decode_headers(std::string_view(encoded).substr(0, size));
    ASSERT_FALSE(decoded) << size;
    EXPECT_EQ(decoded.error().code, ErrorCode::damaged);
    EXPECT_EQ(find_header(std::string_view(encoded).substr(0, size), "ab"), std::nullopt);
  }
}

RC_GTEST_PROP(CoreHeaders, AnyBytesAreDecodedOrRefused, (const std::string& bytes)) {
  const auto decoded = decode_headers(bytes);
  if (!decoded) {
    RC_ASSERT(decoded.error().code == ErrorCode::damaged);
    return;
  }
  std::size_t size = 0;
  for (const Header& header : *decoded) size += 4 + header.name.size() + header.value.size();
  RC_ASSERT(size == bytes.size());
  RC_ASSERT(count_headers(bytes) == decoded->size());
}

}  // namespace
}  // namespace tarry::core
