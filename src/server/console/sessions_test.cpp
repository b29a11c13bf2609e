#include "server/console/sessions.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/console/cookie.h"

namespace tarry::console {
namespace {

using identity::Identity;
using identity::Tokens;

constexpr Time kNow{Millis(1'900'000'000'000)};

Tokens tokens_with(std::string secret, std::optional<Time> ends = {}) {
  Tokens tokens;
  Identity who{"ann", identity::Scopes::all(), {"*"}, ends, identity::digest_of(secret)};
  tokens.add(std::move(who));
  return tokens;
}

TEST(ConsoleSessions, last_as_long_as_their_token) {
  const Tokens tokens = tokens_with("s", kNow + Millis(10));
  Sessions sessions;
  const auto id = sessions.begin(tokens.find("s"), kNow);
  ASSERT_TRUE(id);
  EXPECT_EQ(id->size(), 64u);
  EXPECT_EQ(sessions.find(*id, tokens, kNow + Millis(9))->name, "ann");
  EXPECT_EQ(sessions.find(*id, tokens, kNow + Millis(10)), nullptr);
  EXPECT_EQ(sessions.size(), 0u);
}

TEST(ConsoleSessions, end_when_the_token_is_taken_back_or_gets_other_rights) {
  const Tokens tokens = tokens_with("s");
  Sessions sessions;
  const auto id = sessions.begin(tokens.find("s"), kNow);
  Tokens others;
  others.add({"ann", {}, {"*"}, {}, identity::digest_of("s")});
  EXPECT_EQ(sessions.find(*id, others, kNow), nullptr);
  EXPECT_EQ(sessions.find(*id, tokens, kNow), nullptr);
}

TEST(ConsoleSessions, end_without_requests_and_by_a_logout) {
  const Tokens tokens = tokens_with("s");
  Sessions sessions;
  const auto idle = sessions.begin(tokens.find("s"), kNow);
  EXPECT_NE(sessions.find(*idle, tokens, kNow + Sessions::kIdle - Millis(1)), nullptr);
  EXPECT_NE(sessions.find(*idle, tokens, kNow + 2 * Sessions::kIdle - Millis(2)), nullptr);
  EXPECT_EQ(sessions.find(*idle, tokens, kNow + 3 * Sessions::kIdle), nullptr);
  const auto left = sessions.begin(tokens.find("s"), kNow);
  sessions.end(*left);
  EXPECT_EQ(sessions.find(*left, tokens, kNow), nullptr);
  EXPECT_NE(*idle, *left);
}

TEST(ConsoleSessions, are_shown_and_ended_by_a_name_that_lets_nobody_in) {
  const Tokens tokens = tokens_with("s", kNow + Millis(10));
  Sessions sessions;
  const auto first = sessions.begin(tokens.find("s"), kNow, "10.0.0.7:1 browser");
  const auto second = sessions.begin(tokens.find("s"), kNow + Millis(1));
  ASSERT_NE(sessions.find(*first, tokens, kNow + Millis(2)), nullptr);
  const auto shown = sessions.all(tokens, kNow + Millis(3));
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0].identity, "ann");
  EXPECT_EQ(shown[0].client, "10.0.0.7:1 browser");
  EXPECT_EQ(shown[0].began, kNow);
  EXPECT_EQ(shown[0].seen, kNow + Millis(2));
  EXPECT_EQ(shown[0].id, Sessions::shown_id(*first));
  EXPECT_EQ(sessions.find(shown[0].id, tokens, kNow), nullptr);
  EXPECT_EQ(sessions.end_of(""), std::nullopt);
  EXPECT_EQ(sessions.end_of(shown[0].id.substr(0, 8)), std::nullopt);
  EXPECT_EQ(sessions.end_of(*first), std::nullopt);
  EXPECT_EQ(sessions.end_of(shown[0].id), "ann");
  EXPECT_EQ(sessions.end_of(shown[0].id), std::nullopt);
  EXPECT_EQ(sessions.find(*first, tokens, kNow + Millis(3)), nullptr);
  EXPECT_NE(sessions.find(*second, tokens, kNow + Millis(3)), nullptr);
  EXPECT_TRUE(sessions.all(tokens, kNow + Millis(10)).empty());
}

TEST(ConsoleSessions, are_bounded) {
  const Tokens tokens = tokens_with("s");
  Sessions sessions;
  const auto first = sessions.begin(tokens.find("s"), kNow);
  for (std::size_t i = 0; i < Sessions::kMost; ++i) {
    ASSERT_TRUE(sessions.begin(tokens.find("s"), kNow + Millis(1)));
  }
  EXPECT_EQ(sessions.size(), Sessions::kMost);
  EXPECT_EQ(sessions.find(*first, tokens, kNow + Millis(2)), nullptr);
}

TEST(ConsoleCookie, is_found_among_others_but_not_twice) {
  const auto in = [](std::string value) {
    net::HttpMessage message;
    message.fields = {{"cookie", std::move(value)}};
    return std::string(session_in(message).value_or("none"));
  };
  EXPECT_EQ(in("tarry_session=ab"), "ab");
  EXPECT_EQ(in("a=1; tarry_session=ab ;b=2"), "ab");
  EXPECT_EQ(in("xtarry_session=ab"), "none");
  EXPECT_EQ(in("tarry_session"), "none");
  EXPECT_EQ(in(""), "none");
  EXPECT_EQ(in("tarry_session=ab; tarry_session=cd"), "none");
  EXPECT_EQ(cookie_of("ab", true), "tarry_session=ab; Path=/; HttpOnly; SameSite=Strict; Secure");
}

TEST(ConsoleCookie, is_for_no_page_of_another_origin) {
  const auto refused = [](std::vector<net::HttpField> fields) {
    net::HttpMessage message;
    message.fields = std::move(fields);
    return asks_for_another(message);
  };
  EXPECT_FALSE(refused({}));
  for (const char* good : {"same-origin", "none"}) {
    EXPECT_FALSE(refused({{"sec-fetch-site", good}})) << good;
  }
  for (const char* bad : {"cross-site", "same-site", "", "SAME-ORIGIN"}) {
    EXPECT_TRUE(refused({{"Sec-Fetch-Site", bad}})) << bad;
  }
}

}  // namespace
}  // namespace tarry::console
