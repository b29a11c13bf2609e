#include "core/settings/grouping.h"

#include <gtest/gtest.h>

#include "core/limits.h"
#include "core/rules/headers.h"

namespace tarry::core {
namespace {

using By = Grouping::By;

std::string error_of(const Grouping& grouping, const std::string& key, const Headers& headers) {
  const auto group = group_of(grouping, "q", key, encode_headers(headers).value());
  return group ? "" : group.error().message;
}

TEST(Grouping, IsReadAsItIsWritten) {
  for (const char* text : {"none", "key", "header:tenant", "header:a:b"}) {
    const auto grouping = parse_grouping(text);
    ASSERT_TRUE(grouping) << text;
    EXPECT_EQ(grouping_text(*grouping), text);
    EXPECT_TRUE(is_grouping(*grouping));
  }
  EXPECT_EQ(*parse_grouping("header:tenant"), (Grouping{By::header, "tenant"}));
}

TEST(Grouping, RefusesOtherText) {
  for (const std::string& text :
       {std::string(), std::string("tenant"), std::string("header"), std::string("header:"),
        "header:" + std::string(129, 'x'), std::string("header:a\nb"), std::string("KEY")}) {
    const auto grouping = parse_grouping(text);
    ASSERT_FALSE(grouping) << text;
    EXPECT_EQ(grouping.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(grouping.error().message.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(is_grouping({By::none, "tenant"}));
  EXPECT_FALSE(is_grouping({By::header, ""}));
  EXPECT_FALSE(is_grouping({static_cast<By>(3), ""}));
}

TEST(Grouping, FindsTheGroupInTheKey) {
  const auto group = [](const std::string& key) {
    const auto span = group_of({By::key, {}}, "q", key, "");
    return span ? std::string(group_in(*span, key, "")) : "refused";
  };
  EXPECT_EQ(group("order:{acme}:42"), "acme");
  EXPECT_EQ(group("{a}{b}"), "a");
  EXPECT_EQ(group("}{a}"), "a");
  EXPECT_EQ(group("{{a}}"), "{a");
  for (const char* key : {"", "order", "{", "{acme", "acme}", "{}", "}{", "{}{a}"}) {
    EXPECT_EQ(group(key), "refused") << key;
  }
}

TEST(Grouping, FindsTheGroupInTheFirstHeaderOfTheName) {
  const std::string headers =
      encode_headers({{"x", "tenant"}, {"Tenant", "acme"}, {"tenant", "other"}}).value();
  const auto span = group_of({By::header, "tenant"}, "q", "key", headers);
  ASSERT_TRUE(span);
  EXPECT_EQ(group_in(*span, "key", headers), "acme");
  EXPECT_TRUE(is_group_span(*span, 3, headers.size()));
}

TEST(Grouping, RefusesAPushWithoutAGroupInOneLine) {
  const Grouping by_header{By::header, "tenant"};
  EXPECT_EQ(error_of(by_header, "k", {{"x", "y"}}),
            "the push has no header \"tenant\": the setting group of queue \"q\" is header:tenant");
  EXPECT_FALSE(error_of(by_header, "k", {{"tenant", ""}}).empty());
  EXPECT_EQ(error_of({By::key, {}}, "k", {}),
            "the key \"k\" has no {group}: the setting group of queue \"q\" is key");
  EXPECT_EQ(error_of({By::key, {}}, "", {}),
            "the push has no key: the setting group of queue \"q\" is key");
  EXPECT_EQ(error_of(by_header, "k", {{"tenant", std::string(kMaxGroup, 'x')}}), "");
  EXPECT_NE(error_of(by_header, "k", {{"tenant", std::string(kMaxGroup + 1, 'x')}})
                .find("is over the limit of 256 bytes"),
            std::string::npos);
  EXPECT_EQ(error_of({}, "", {}), "");
}

TEST(Grouping, AMovedMessageMayHaveNoGroup) {
  EXPECT_FALSE(moved_group({By::key, {}}, "k", "").any());
  EXPECT_TRUE(moved_group({By::key, {}}, "{k}", "").any());
  const std::string headers = encode_headers({{"tenant", std::string(kMaxGroup + 1, 'x')}}).value();
  EXPECT_FALSE(moved_group({By::header, "tenant"}, "k", headers).any());
}

TEST(Grouping, ASpanLiesInTheKeyOrInTheHeaders) {
  EXPECT_TRUE(is_group_span({0, 3}, 3, 0));
  EXPECT_TRUE(is_group_span({3, 2}, 3, 2));
  EXPECT_FALSE(is_group_span({2, 2}, 3, 2));  // in both
  EXPECT_FALSE(is_group_span({3, 3}, 3, 2));
  EXPECT_FALSE(is_group_span({1, 0}, 3, 2));
  EXPECT_FALSE(is_group_span({0xFFFF'FFFF, 0xFFFF'FFFF}, 3, 2));
}

}  // namespace
}  // namespace tarry::core
