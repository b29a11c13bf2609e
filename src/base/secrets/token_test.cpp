#include "base/secrets/token.h"

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

TEST(Token, OfAServerIsLongEnough) {
  EXPECT_TRUE(check_server_token(std::string(kMinServerToken, 'x')));
  EXPECT_TRUE(check_server_token(std::string(kMaxToken, 'x')));
  for (const std::size_t size : {std::size_t{1}, kMinServerToken - 1}) {
    const auto refused = check_server_token(std::string(size, 'x'));
    ASSERT_FALSE(refused) << size;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message.find("a token of " + std::to_string(size) + " character"),
              std::string::npos);
    EXPECT_NE(refused.error().message.find("it needs 16"), std::string::npos);
  }
  for (const std::string& bad : {std::string(), std::string(kMaxToken + 1, 'x'),
                                 std::string("sixteen or more, not a token")}) {
    const auto refused = check_server_token(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().message, kTokenRule);
  }
}

}  // namespace
}  // namespace tarry::base
