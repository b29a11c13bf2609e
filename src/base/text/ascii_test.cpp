#include "base/text/ascii.h"

#include <gtest/gtest.h>

#include <cctype>

namespace tarry::base {
namespace {

// For all 256 bytes: in any locale, a byte beyond ASCII is not a letter, and its case does not
// change.
TEST(Ascii, AgreesWithTheCLocaleOnEveryByte) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    SCOPED_TRACE(byte);
    EXPECT_EQ(is_digit(c), byte < 128 && std::isdigit(byte) != 0);
    EXPECT_EQ(is_letter(c), byte < 128 && std::isalpha(byte) != 0);
    EXPECT_EQ(to_lower(c), byte < 128 ? static_cast<char>(std::tolower(byte)) : c);
    EXPECT_EQ(to_upper(c), byte < 128 ? static_cast<char>(std::toupper(byte)) : c);
    EXPECT_EQ(hex_value(c) >= 0, byte < 128 && std::isxdigit(byte) != 0);
  }
}

TEST(Ascii, HexDigitsHaveTheirValueInEitherCase) {
  const std::string_view lower = "0123456789abcdef";
  const std::string_view upper = "0123456789ABCDEF";
  for (int value = 0; value < 16; ++value) {
    EXPECT_EQ(hex_value(lower[static_cast<std::size_t>(value)]), value);
    EXPECT_EQ(hex_value(upper[static_cast<std::size_t>(value)]), value);
  }
}

TEST(Ascii, EqualsIgnoringCaseComparesAllOfBoth) {
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_TRUE(equals_ignoring_case("Content-Length", "CONTENT-length"));
  EXPECT_FALSE(equals_ignoring_case("Content-Length", "Content-Lengt"));
  EXPECT_FALSE(equals_ignoring_case("a", "b"));
  EXPECT_FALSE(equals_ignoring_case("[", "{"));  // 32 apart, as letters are
  EXPECT_FALSE(equals_ignoring_case("\xC4", "\xE4"));
}

TEST(Ascii, TrimmedIsWithoutTheSpacesAroundIt) {
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed(" \t "), "");
  EXPECT_EQ(trimmed("a b"), "a b");
  EXPECT_EQ(trimmed("\t a b  "), "a b");
  EXPECT_EQ(trimmed(" a\r", " \r"), "a");
  EXPECT_EQ(trimmed("\ta ", " "), "\ta");
}

}  // namespace
}  // namespace tarry::base
