#include "base/text/hex.h"

#include <gtest/gtest.h>

namespace tarry::base {
namespace {

TEST(Hex, TwoDigitsAByte) {
  EXPECT_EQ(hex_digits(""), "");
  EXPECT_EQ(hex_digits(std::string_view("\0\x0f\xf0\xffz", 5)), "000ff0ff7a");
}

}  // namespace
}  // namespace tarry::base
