#include "engines/redis/layouts/redisson_value.h"

#include <gtest/gtest.h>

#include "base/hex.h"
#include "engines/redis/layouts/layout_find.h"

namespace tarry::redis {
namespace {

using namespace std::string_literals;

std::string decoded(std::string_view value, Decode decode, bool odd = false) {
  std::string scratch;
  const Decoded result = decode_value(value, decode, scratch);
  EXPECT_EQ(result.is_odd, odd) << value;
  return std::string(result.payload);
}

TEST(RedissonValue, TextsLoseTheirFrameWhereTheyHaveOne) {
  EXPECT_EQ(decoded("\x04>\nfffffffff1", Decode::string), "fffffffff1");
  EXPECT_EQ(decoded("\x04>\0"s + std::string(256, 'x'), Decode::string), std::string(256, 'x'));
  EXPECT_EQ(decoded("\x04?\x01\x2C"s + std::string(300, 'x'), Decode::string),
            std::string(300, 'x'));
  EXPECT_EQ(decoded("\x04=", Decode::string), "");
  EXPECT_EQ(decoded("\x04>\x02\xC3\xA9\xC3\xA9", Decode::string), "\xC3\xA9\xC3\xA9");
  for (const std::string& plain :
       {"hello"s, ""s, "\x04>"s, "\x04>\x05toolong"s, "\x04?\x01"s, "\x09>\x01x"s}) {
    EXPECT_EQ(decoded(plain, Decode::string), plain);
  }
  EXPECT_EQ(decoded("\x04>\x01x", Decode::raw), "\x04>\x01x");
}

TEST(RedissonValue, JsonStringsAreTheirText) {
  EXPECT_EQ(decoded("\"h\\u00e9llo\\n\"", Decode::json), "h\xC3\xA9llo\n");
  EXPECT_EQ(decoded("{\"a\":1}", Decode::json), "{\"a\":1}");
  EXPECT_EQ(decoded("5", Decode::json), "5");
  EXPECT_EQ(decoded("{\"a\":", Decode::json, true), "{\"a\":");
  EXPECT_EQ(decoded("", Decode::json, true), "");
}

TEST(RedissonValue, WhatIsWrittenIsReadAgain) {
  for (const std::string& payload :
       {"hello"s, ""s, "5"s, "\"quoted\""s, "{\"a\":[1,2]}"s, "[draft] x"s, "{not json"s, "null"s,
        "line\nbreak \xC3\xA9 \\"s, "a\0b"s}) {
    for (const Decode decode : {Decode::raw, Decode::string, Decode::json}) {
      const auto value = encode_value(payload, decode);
      ASSERT_TRUE(value) << payload;
      EXPECT_EQ(decoded(*value, decode), payload);
    }
  }
  const auto bytes = encode_value("\xFF\xFE", Decode::json);
  ASSERT_FALSE(bytes);
  EXPECT_NE(bytes.error().message.find("decode=raw"), std::string::npos);
}

TEST(RedissonEntry, BothFormsUnpack) {
  // As a 2021 client and a 2024 one wrote them.
  const std::string old = ":\xDF\x0EO\x8C\xA7\xD4\x43\x0D\0\0\0\0\0\0\0\x04>\nfffffffff1"s;
  const auto first = unpack_entry(old);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id, old.substr(0, 8));
  EXPECT_EQ(first->value, "\x04>\nfffffffff1");
  const std::string newer =
      "\x08"
      "12345678\x02\0\0\0\0\0\0\0hi"s;
  const auto second = unpack_entry(newer);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->id, "12345678");
  EXPECT_EQ(second->value, "hi");
}

TEST(RedissonEntry, WhatIsNoneDoesNot) {
  for (const std::string& bytes :
       {""s, "x"s, "garbage"s, std::string(15, '\0'), std::string(17, '\x08'),
        "\x08"
        "12345678\x03\0\0\0\0\0\0\0hi"s,
        "\x08"
        "12345678\x01\0\0\0\0\0\0\0hi"s}) {
    EXPECT_FALSE(unpack_entry(bytes)) << base::hex_digits(bytes);
  }
}

}  // namespace
}  // namespace tarry::redis
