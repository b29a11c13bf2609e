#include "base/token.h"

#include <gtest/gtest.h>

#include <string>

namespace tarry::base {
namespace {

TEST(Token, IsWhatAHeaderFieldCanHold) {
  for (const char* good : {"a", "Zm9v", "Zm9vYg==", "0-._~+/"}) EXPECT_TRUE(is_token(good)) << good;
  EXPECT_TRUE(is_token(std::string(kMaxToken, 'x')));
  for (const char* bad : {"", "=", "a b", "a=b", "a\n", "a\"", "\xc3\xa9"}) {
    EXPECT_FALSE(is_token(bad)) << bad;
  }
  EXPECT_FALSE(is_token(std::string(kMaxToken + 1, 'x')));
}

}  // namespace
}  // namespace tarry::base
