#include "app/output/printable.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/text/text.h"

namespace tarry::app {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  for (const char* text : {"", "order:42", R"({"a": "b\n"})", "北京 Århus 🎉", "it's \\x1b"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, EscapesWhatMovesTheCursor) {
  EXPECT_EQ(printable("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
}

TEST(Printable, EscapesControlsOfUnicode) {
  EXPECT_EQ(printable("\u009b2J"), "\\u{9b}2J");
  EXPECT_EQ(printable("abc\u202Ecba"), "abc\\u{202e}cba");
  EXPECT_EQ(printable("a\u2028b"), "a\\u{2028}b");
}

TEST(Printable, EscapesInvalidUtf8ByteByByte) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

RC_GTEST_PROP(Printable, AlwaysOneLineOfValidText, (const std::string& bytes)) {
  const std::string shown = printable(bytes);
  RC_ASSERT(base::is_valid_utf8(shown));
  for (const char c : shown) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

TEST(Columns, CountsWhatATerminalShows) {
  EXPECT_EQ(columns("order"), 5u);
  EXPECT_EQ(columns("北京"), 4u);
  EXPECT_EQ(columns("e\u0301"), 1u);
  EXPECT_EQ(columns("🎉"), 2u);
  EXPECT_EQ(columns("Århus"), 5u);
}

TEST(Clipped, CutsToTheWidth) {
  EXPECT_EQ(clipped("order:42", 8), "order:42");
  EXPECT_EQ(clipped("order:42", 7), "order:…");
  EXPECT_EQ(clipped("order:42", 1), "…");
  EXPECT_EQ(clipped("order:42", 0), "");
  EXPECT_EQ(clipped("北京北京", 6), "北京…");  // a character that would fit only half is left out
}

RC_GTEST_PROP(Clipped, NeverWider, (const std::string& bytes)) {
  const std::size_t width = *rc::gen::inRange<std::size_t>(0, 40);
  RC_ASSERT(columns(clipped(printable(bytes), width)) <= width);
}

}  // namespace
}  // namespace tarry::app
