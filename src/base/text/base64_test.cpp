#include "base/text/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace tarry::base {
namespace {

std::string message_of(const Result<std::string>& result) {
  if (result) return "accepted as " + *result;
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  return result.error().message;
}

TEST(Base64, GivesTheValuesOfRfc4648) {
  const std::pair<std::string, std::string> examples[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text).value(), bytes);
    const std::string bare = text.substr(0, text.find('='));
    EXPECT_EQ(base64url_encode(bytes), bare);
    EXPECT_EQ(base64url_decode(bare).value(), bytes);
  }
}

TEST(Base64, AlphabetsDifferInTheLastTwo) {
  const std::string bytes = "\xFB\xFF\xBF";
  EXPECT_EQ(base64_encode(bytes), "+/+/");
  EXPECT_EQ(base64url_encode(bytes), "-_-_");
  EXPECT_FALSE(base64_decode("-_-_"));
  EXPECT_FALSE(base64url_decode("+/+/"));
}

RC_GTEST_PROP(Base64, DecodingUndoesEncoding, (const std::string& bytes)) {
  RC_ASSERT(base64_decode(base64_encode(bytes)).value() == bytes);
  RC_ASSERT(base64url_decode(base64url_encode(bytes)).value() == bytes);
}

// Strict means that each value has one text: a text that is accepted is exactly the encoding of its
// value.
RC_GTEST_PROP(Base64, WhatIsAcceptedIsTheEncodingOfItsValue, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("AQgwZm9vYmFyab019+/-_=")));
  if (const auto bytes = base64_decode(text)) RC_ASSERT(base64_encode(*bytes) == text);
  if (const auto bytes = base64url_decode(text)) RC_ASSERT(base64url_encode(*bytes) == text);
}

TEST(Base64, NamesThePositionOfWhatIsWrong) {
  EXPECT_EQ(message_of(base64_decode("Zm9v YmFy")),
            R"(base64 "Zm9v YmFy": " " is not allowed at position 4)");
  EXPECT_EQ(message_of(base64_decode("Zm\n=")),
            R"(base64 "Zm\n=": "\n" is not allowed at position 2)");
  EXPECT_EQ(message_of(base64_decode("Zg=a")),
            R"(base64 "Zg=a": "=" is not allowed at position 2)");
  EXPECT_EQ(message_of(base64_decode("Zg")),
            R"(base64 "Zg": the padding is missing or too long at position 2)");
  EXPECT_EQ(message_of(base64_decode("Zg=")),
            R"(base64 "Zg=": the padding is missing or too long at position 3)");
  EXPECT_EQ(message_of(base64_decode("Zm9v=")),
            R"(base64 "Zm9v=": the padding is missing or too long at position 5)");
  EXPECT_EQ(message_of(base64_decode("====")),
            R"(base64 "====": "=" is not allowed at position 0)");
  EXPECT_EQ(message_of(base64_decode("Z===")),
            R"(base64 "Z===": "=" is not allowed at position 1)");
  EXPECT_EQ(message_of(base64_decode("Zh==")),
            R"(base64 "Zh==": the unused bits are not zero at position 1)");
  EXPECT_EQ(message_of(base64_decode("Zm9=")),
            R"(base64 "Zm9=": the unused bits are not zero at position 2)");
  EXPECT_EQ(message_of(base64url_decode("Zm9vY")),
            R"(base64 "Zm9vY": a single character is left over at position 4)");
  EXPECT_EQ(message_of(base64url_decode("Zg==")),
            R"(base64 "Zg==": "=" is not allowed at position 2)");
}

}  // namespace
}  // namespace tarry::base
