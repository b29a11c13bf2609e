#include "engines/embedded/records/tokens.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace tarry::embedded {
namespace {

constexpr Receipt kReceipt{0x1234'5678, 42, 0x7FFF'FFFE, 0xFEDC'BA98'7654'3210, 7};
constexpr GeneratedKey kGeneratedKey{0x1234'5678, 42, 0x7FFF'FFFE, 0xFEDC'BA98'7654'3210};

template <typename Token>
std::string text_of(const Token& token) {
  const auto text = spell(token);
  return {text.data(), text.size()};
}

// Changes each character of the token's text. The result must not be another spelling of the same
// token.
template <typename Token, typename Parse>
void no_corruption_passes(const Token& token, Parse parse) {
  const std::string text = text_of(token);
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int c = 0; c < 256; ++c) {
      std::string changed = text;
      changed[i] = static_cast<char>(c);
      if (changed == text) continue;
      const auto parsed = parse(changed);
      ASSERT_FALSE(parsed == token) << i << " " << c;
      // If the changed text is another token, that token too has only one spelling.
      if (parsed) {
        ASSERT_EQ(text_of(*parsed), changed) << i << " " << c;
      }
    }
  }
}

TEST(Tokens, NoSingleCharacterCanBeChanged) {
  no_corruption_passes(kReceipt, parse_receipt);
  no_corruption_passes(kGeneratedKey, parse_generated_key);
}

TEST(Tokens, OtherLengthsAreNoTokens) {
  const std::string receipt = text_of(kReceipt);
  const std::string key = text_of(kGeneratedKey);
  for (std::size_t length = 0; length < receipt.size(); ++length) {
    EXPECT_FALSE(parse_receipt(receipt.substr(0, length)));
  }
  for (std::size_t length = 0; length < key.size(); ++length) {
    EXPECT_FALSE(parse_generated_key(key.substr(0, length)));
  }
  EXPECT_FALSE(parse_receipt(receipt + "A"));
  EXPECT_FALSE(parse_generated_key(key + "A"));
}

TEST(Tokens, ForeignTextIsNoToken) {
  EXPECT_FALSE(parse_receipt(""));
  EXPECT_FALSE(parse_generated_key(""));
  EXPECT_FALSE(parse_receipt("order:42"));
  EXPECT_FALSE(parse_generated_key("order:42"));
  EXPECT_FALSE(parse_receipt(std::string(kReceiptSize, 'r').replace(5, 1, "=")));
  EXPECT_FALSE(parse_generated_key(text_of(kReceipt)));
  EXPECT_FALSE(parse_receipt(text_of(kGeneratedKey)));
  EXPECT_FALSE(parse_receipt(std::string(kReceiptSize, '\0')));
  EXPECT_FALSE(parse_generated_key(std::string(kGeneratedKeySize, '\xFF')));
}

TEST(Tokens, AreUrlSafe) {
  for (const std::string& text : {text_of(kReceipt), text_of(kGeneratedKey)}) {
    EXPECT_EQ(
        text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
        std::string::npos);
  }
}

RC_GTEST_PROP(Tokens, RoundTrip,
              (std::uint32_t tag, std::uint16_t shard, std::uint32_t handle, std::uint64_t id,
               std::uint32_t claims)) {
  const Receipt receipt{tag, shard, handle, id, claims};
  RC_ASSERT(parse_receipt(text_of(receipt)) == receipt);
  const GeneratedKey key{tag, shard, handle, id};
  RC_ASSERT(parse_generated_key(text_of(key)) == key);
}

RC_GTEST_PROP(Tokens, AnyTextIsReadWithoutHarm, (const std::string& text)) {
  const auto receipt = parse_receipt(text);
  RC_ASSERT(!receipt || text_of(*receipt) == text);
  const auto key = parse_generated_key(text);
  RC_ASSERT(!key || text_of(*key) == text);
}

}  // namespace
}  // namespace tarry::embedded
