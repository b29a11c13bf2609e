#include "core/rules/message_filter.h"

#include <gtest/gtest.h>

#include <string>

namespace tarry::core {
namespace {

MessageInfo message_of(std::string key, int due_ms, Headers headers = {}, std::string reason = {}) {
  MessageInfo info;
  info.key = std::move(key);
  info.due = Time(Millis(due_ms));
  info.headers = std::move(headers);
  info.reason = std::move(reason);
  return info;
}

TEST(MessageFilter, OneThatAsksForNothingMatchesAll) {
  EXPECT_FALSE(MessageFilter{}.narrows());
  EXPECT_TRUE(matches({}, message_of("", 0)));
  EXPECT_TRUE(matches({}, message_of("k", 5, {{"a", "b"}}, "why")));
}

TEST(MessageFilter, EachThatIsGivenMustBeMet) {
  const auto message =
      message_of("order:1", 100, {{"shop", "eu"}, {"n", ""}}, "answered 503: busy");
  const auto is_met = [&](const MessageFilter& filter) {
    EXPECT_TRUE(filter.narrows());
    return matches(filter, message);
  };
  const auto time = [](int ms) { return Time(Millis(ms)); };
  EXPECT_TRUE(is_met({.prefix = "order:"}));
  EXPECT_FALSE(is_met({.prefix = "order:12"}));
  EXPECT_TRUE(is_met({.due_from = time(100)}));
  EXPECT_FALSE(is_met({.due_from = time(101)}));
  EXPECT_TRUE(is_met({.due_to = time(101)}));
  EXPECT_FALSE(is_met({.due_to = time(100)}));
  EXPECT_TRUE(is_met({.headers = {{"shop", "eu"}}}));
  EXPECT_TRUE(is_met({.headers = {{"n", ""}, {"shop", "eu"}}}));
  EXPECT_FALSE(is_met({.headers = {{"shop", "eu"}, {"n", "1"}}}));
  EXPECT_FALSE(is_met({.headers = {{"Shop", "eu"}}}));
  EXPECT_TRUE(is_met({.reason = "answered 5??: *"}));
  EXPECT_FALSE(is_met({.reason = "answered 5??:"}));
  EXPECT_FALSE(is_met({.prefix = "order:", .due_to = time(100)}));
}

TEST(MessageFilter, AGlobIsOfTheWholeText) {
  for (const char* pattern :
       {"abc", "*", "a*", "*c", "a?c", "???", "a*b*c", "**abc**", "*?*?*?*"}) {
    EXPECT_TRUE(matches_glob(pattern, "abc")) << pattern;
  }
  for (const char* pattern : {"", "ab", "abcd", "????", "b*", "*b", "a*d", "[a]bc", "ABC"}) {
    EXPECT_FALSE(matches_glob(pattern, "abc")) << pattern;
  }
  EXPECT_TRUE(matches_glob("", ""));
  EXPECT_TRUE(matches_glob("*", ""));
  EXPECT_TRUE(matches_glob("*ab", "aab"));
  EXPECT_TRUE(matches_glob("a*ab", "aaaab"));
}

TEST(MessageFilter, AGlobOfManyStarsIsNoTrap) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(matches_glob(pattern + "b", std::string(10'000, 'a')));
}

}  // namespace
}  // namespace tarry::core
