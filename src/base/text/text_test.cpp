#include "base/text/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <iomanip>
#include <string>
#include <string_view>

namespace tarry::base {
namespace {

constexpr std::uint64_t kMostUnsigned = ~std::uint64_t{0};

template <typename T>
std::string message_of(const Result<T>& result) {
  if (result) return "accepted as " + std::to_string(*result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  return result.error().message;
}

TEST(ParseU64, TakesDigitsWithinTheLimits) {
  EXPECT_EQ(parse_u64("0", "max", 0, 10).value(), 0U);
  EXPECT_EQ(parse_u64("10", "max", 0, 10).value(), 10U);
  EXPECT_EQ(parse_u64("007", "max", 0, 10).value(), 7U);
  EXPECT_EQ(parse_u64("18446744073709551615", "max", 0, kMostUnsigned).value(), kMostUnsigned);
}

TEST(ParseU64, NamesTheValueAndTheLimits) {
  for (const std::string text :
       {"", "11", "0", "-1", "+1", " 1", "1 ", "1.0", "0x1", "abc", "18446744073709551616"}) {
    EXPECT_EQ(message_of(parse_u64(text, "max", 1, 10)),
              "max \"" + text + "\" is not a whole number from 1 to 10");
  }
  EXPECT_FALSE(parse_u64("18446744073709551616", "max", 0, kMostUnsigned));
  EXPECT_FALSE(parse_u64(std::string_view(), "max", 0, kMostUnsigned));
}

TEST(ParseSize, TakesUnitsOfBothKinds) {
  EXPECT_EQ(parse_size("0").value(), 0U);
  EXPECT_EQ(parse_size("1048576").value(), 1'048'576U);
  EXPECT_EQ(parse_size("512B").value(), 512U);
  EXPECT_EQ(parse_size("1KiB").value(), 1024U);
  EXPECT_EQ(parse_size("64MiB").value(), 64U << 20);
  EXPECT_EQ(parse_size("2GiB").value(), 2ULL << 30);
  EXPECT_EQ(parse_size("3TiB").value(), 3ULL << 40);
  EXPECT_EQ(parse_size("1kB").value(), 1000U);
  EXPECT_EQ(parse_size("1KB").value(), 1000U);
  EXPECT_EQ(parse_size("10MB").value(), 10'000'000U);
  EXPECT_EQ(parse_size("1GB").value(), 1'000'000'000U);
  EXPECT_EQ(parse_size("1TB").value(), 1'000'000'000'000U);
  EXPECT_EQ(parse_size("18446744073709551615B").value(), kMostUnsigned);
  EXPECT_EQ(parse_size("16777215TiB").value(), 16'777'215ULL << 40);
}

TEST(ParseSize, RefusesTheRest) {
  for (const std::string text : {"", "B", "-1B", "1 MiB", "1.5MiB", "1M", "1mib", "1MiBs", " 1B"}) {
    EXPECT_EQ(message_of(parse_size(text)),
              "size \"" + text +
                  "\" is not a whole number with a unit; use 512B, 1KiB, 64MiB, 2GiB or 10MB");
  }
  for (const std::string text : {"18446744073709551616", "18446744073709551616B", "16777216TiB"}) {
    EXPECT_EQ(message_of(parse_size(text)),
              "size \"" + text + "\" is over the limit of 18446744073709551615B");
  }
}

TEST(Quoted, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(quoted(""), "\"\"");
  EXPECT_EQ(quoted("order:42 {x}"), "\"order:42 {x}\"");
  EXPECT_EQ(quoted("Zürich €5 日本 😀"), "\"Zürich €5 日本 😀\"");
}

// <iomanip> is included here, and still std::quoted must not be chosen for strings.
TEST(Quoted, IsOursForEveryKindOfString) {
  const std::string fixed = "a\nb";
  std::string variable = "a\nb";
  for (const std::string& shown :
       {quoted(fixed), quoted(variable), quoted(std::string("a\nb")), quoted("a\nb")}) {
    EXPECT_EQ(shown, R"("a\nb")");
  }
}

TEST(Quoted, EscapesWhatWouldBreakALineOrATerminal) {
  EXPECT_EQ(quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(quoted("a\n\r\tb"), R"("a\n\r\tb")");
  EXPECT_EQ(quoted(std::string_view("\0\x1B[31m\x7F", 7)), R"("\x00\x1b[31m\x7f")");
  EXPECT_EQ(quoted("\xFF\xC3"), R"("\xff\xc3")");
  EXPECT_EQ(quoted("\xC2\x85"), R"("\xc2\x85")");          // U+0085, next line
  EXPECT_EQ(quoted("\xC2\xA0"), "\"\xC2\xA0\"");           // U+00A0 is text
  EXPECT_EQ(quoted("\xE2\x80\xA8"), R"("\xe2\x80\xa8")");  // U+2028, line separator
  EXPECT_EQ(quoted("\xE2\x80\xAE"), R"("\xe2\x80\xae")");  // U+202E, right to left
  EXPECT_EQ(quoted("\xE2\x81\xA6"), R"("\xe2\x81\xa6")");  // U+2066, isolate
  EXPECT_EQ(quoted("\xE2\x80\x93"), "\"\xE2\x80\x93\"");   // U+2013 is text
}

TEST(Quoted, ShowsTheBeginningOfLongTextAndItsLength) {
  EXPECT_EQ(quoted("12345", 5), "\"12345\"");
  EXPECT_EQ(quoted("123456", 5), "\"12345\"…(6 bytes)");
  EXPECT_EQ(quoted(std::string(65, 'x')), "\"" + std::string(64, 'x') + "\"…(65 bytes)");
  EXPECT_EQ(quoted("abcdé", 5), "\"abcd\"…(6 bytes)");  // never cuts a character in half
  EXPECT_EQ(quoted("x", 0), "\"\"…(1 bytes)");
}

RC_GTEST_PROP(Quoted, IsOneLineOfValidUtf8, (const std::string& text)) {
  const std::string shown = quoted(text, 16);
  RC_ASSERT(is_valid_utf8(shown));
  for (const char c : shown) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
}

TEST(Utf8, AcceptsTheEndsOfEveryRange) {
  for (const std::string_view text :
       {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xEC\xBF\xBF", "\xED\x9F\xBF",
        "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF3\xBF\xBF\xBF", "\xF4\x8F\xBF\xBF",
        "eight ascii bytes, then \xC3\xBC and again eight"}) {
    EXPECT_TRUE(is_valid_utf8(text)) << quoted(text);
  }
  EXPECT_TRUE(is_valid_utf8(std::string_view("\0", 1)));
}

TEST(Utf8, RefusesWhatIsJustOutside) {
  for (const std::string_view text : {
           "\x80",
           "\xBF",
           "\xC0\x80",
           "\xC1\xBF",  // strays and overlong
           "\xC2",
           "\xC2\x7F",
           "\xC2\xC0",  // cut or badly continued
           "\xE0\x9F\xBF",
           "\xE0\xA0",
           "\xE1\x80\x7F",  //
           "\xED\xA0\x80",
           "\xED\xBF\xBF",  // surrogates
           "\xF0\x8F\xBF\xBF",
           "\xF0\x90\x80",
           "\xF1\x80\x80\xC0",
           "\xF4\x90\x80\x80",
           "\xF5\x80\x80\x80",
           "\xFF",  // over U+10FFFF
           "12345678\xFF",
           "1234567\xC3",  //
       }) {
    EXPECT_FALSE(is_valid_utf8(text)) << quoted(text);
    EXPECT_FALSE(is_valid_utf8("12345678" + std::string(text)));
    EXPECT_FALSE(is_valid_utf8(std::string(text) + "12345678"));
  }
}

// Encodes every code point by the plain rule.
TEST(Utf8, AcceptsEveryCodePointButSurrogates) {
  for (std::uint32_t point = 0; point < 0x11'0000; ++point) {
    std::string text;
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (point < 0x80) {
      put(point);
    } else if (point < 0x800) {
      put(0xC0 | point >> 6);
      put(0x80 | (point & 63));
    } else if (point < 0x1'0000) {
      put(0xE0 | point >> 12);
      put(0x80 | (point >> 6 & 63));
      put(0x80 | (point & 63));
    } else {
      put(0xF0 | point >> 18);
      put(0x80 | (point >> 12 & 63));
      put(0x80 | (point >> 6 & 63));
      put(0x80 | (point & 63));
    }
    const bool surrogate = point >= 0xD800 && point < 0xE000;
    ASSERT_EQ(is_valid_utf8(text), !surrogate) << point;
  }
}

}  // namespace
}  // namespace tarry::base
