#include "wire/parts/query.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/message.h"

namespace tarry::wire {
namespace {

RC_GTEST_PROP(Percent, any_bytes_survive, (const std::string& bytes)) {
  const auto decoded = percent_decode(percent_encode(bytes));
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == bytes);
}

TEST(Percent, refuses_what_is_cut_or_no_digit) {
  EXPECT_EQ(percent_decode("a%41+").value(), "aA+");
  for (const char* bad : {"%", "%4", "%4g", "%g4", "a%", "%%41"}) {
    EXPECT_FALSE(percent_decode(bad)) << bad;
  }
  EXPECT_EQ(percent_decode("x%zz").error().message,
            "the URL has \"%zz\" where % and two hexadecimal digits must stand");
}

TEST(Query, reads_pairs) {
  auto query = Query::parse("key=a%20b+c&limit=5&&prefix_base64=/w%3D%3D");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->text("key"), "a b c");
  EXPECT_EQ(query->number("limit", 1, 10), 5u);
  EXPECT_EQ(query->bytes("prefix", "prefix_base64"), "\xff");
  EXPECT_EQ(query->text("after"), std::nullopt);
  EXPECT_FALSE(query->finish());
}

TEST(Query, refuses_the_unknown_and_the_repeated) {
  auto query = Query::parse("limt=5");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->number("limit", 1, 10), std::nullopt);
  EXPECT_EQ(query->finish()->message, "unknown parameter \"limt\"; known: limit");
  EXPECT_EQ(Query::parse("a=1&a=2").error().message, "the parameter \"a\" occurs twice");
  EXPECT_EQ(Query::parse("")->finish(), std::nullopt);
  EXPECT_EQ(Query::parse("x")->finish()->message, "unknown parameter \"x\"; known: none");
  std::string many;
  std::vector<std::string> names;
  for (int i = 0; i < 32; ++i) {
    names.push_back("p" + std::to_string(i));
    many += names.back() + "=" + std::to_string(i) + "&";
  }
  auto most = Query::parse(many);
  ASSERT_TRUE(most) << most.error().message;
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(most->text(names[static_cast<std::size_t>(i)]), std::to_string(i));
  }
  EXPECT_EQ(most->finish(), std::nullopt);
  many += "p32=";
  EXPECT_EQ(Query::parse(many).error().message, "the URL has more than the limit of 32 parameters");
}

TEST(Query, names_the_bad_value) {
  auto query = Query::parse("limit=x");
  EXPECT_EQ(query->number("limit", 1, 10), std::nullopt);
  EXPECT_EQ(query->finish()->message.find("limit \"x\" is not a whole number"), 0u);
  auto flags = Query::parse("a=true&b=false&c=1");
  EXPECT_TRUE(flags->flag("a"));
  EXPECT_FALSE(flags->flag("b"));
  EXPECT_FALSE(flags->flag("absent"));
  EXPECT_FALSE(flags->flag("c"));
  EXPECT_EQ(flags->finish()->message, "c \"1\" is neither true nor false");
  auto both = Query::parse("key=a&key_base64=YQ==");
  EXPECT_EQ(both->bytes("key", "key_base64"), std::nullopt);
  EXPECT_NE(both->finish()->message.find("give one of them"), std::string::npos);
}

TEST(List, names_the_states) {
  auto query = Query::parse("state=redy");
  EXPECT_EQ(decode_list("q", *query).error().message,
            "\"state\" is \"redy\"; it must be one of: scheduled, ready, leased, dead, remembered");
  auto key = Query::parse("");
  EXPECT_EQ(decode_get_query("q", *key).error().message, "the parameter \"key\" is missing");
}

TEST(List, reads_a_filter_and_names_its_bad_values) {
  auto query = Query::parse(
      "due_from=2030-01-31T08:00:00Z&due_to_ms=1896080400000&reason=a*&"
      "header=shop=eu=1");
  const auto filter = decode_list_filter(*query);
  EXPECT_EQ(filter.due_from, Time(Millis(1'896'076'800'000)));
  EXPECT_EQ(filter.due_to, Time(Millis(1'896'080'400'000)));
  EXPECT_EQ(filter.reason, "a*");
  EXPECT_EQ(filter.headers, (Headers{{"shop", "eu=1"}}));
  EXPECT_TRUE(decode_list("q", *query));
  const auto error_of = [](std::string_view text) {
    auto bad = Query::parse(text);
    (void)decode_list_filter(*bad);
    return decode_list("q", *bad).error().message;
  };
  EXPECT_EQ(error_of("header=shop"), "\"header\" is \"shop\"; it must be NAME=VALUE");
  EXPECT_EQ(error_of("due_to=2030-01-31T08:00:00Z&due_to_ms=1896080400000"),
            "due_to and due_to_ms: give one of them");
  EXPECT_NE(error_of("due_from=soon").find("due_from: "), std::string::npos);
  EXPECT_NE(error_of("due_from_ms=1896076800").find("due_from_ms"), std::string::npos);
}

}  // namespace
}  // namespace tarry::wire
