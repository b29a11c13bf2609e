#include "wire/json/json_writer.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text/text.h"
#include "wire/json/json_reader.h"

namespace tarry::wire {
namespace {

TEST(JsonWriter, puts_commas_where_they_belong) {
  std::string text;
  JsonWriter out(text);
  out.begin_object()
      .field("a", std::uint64_t{1})
      .name("b")
      .begin_array()
      .begin_object()
      .end_object();
  out.begin_array().end_array().number(std::int64_t{-2}).boolean(true).end_array();
  out.field_bool("c", false).name("d").begin_object().field("e", "f").end_object().end_object();
  EXPECT_EQ(text, R"({"a":1,"b":[{},[],-2,true],"c":false,"d":{"e":"f"}})");
}

TEST(JsonWriter, escapes_what_json_and_terminals_need) {
  std::string text;
  JsonWriter(text).string(std::string_view("a\"\\\n\r\t\0\x1b\x7f/\u00e4", 12));
  EXPECT_EQ(text, "\"a\\\"\\\\\\n\\r\\t\\u0000\\u001b\\u007f/\u00e4\"");
}

// The writer gathers several escapes before it appends them; runs may be longer than that.
TEST(JsonWriter, escapes_runs_of_any_length) {
  for (std::size_t length = 1; length < 200; ++length) {
    std::string zeros;
    std::string lines;
    for (std::size_t i = 0; i < length; ++i) zeros += "\\u0000";
    for (std::size_t i = 0; i < length; ++i) lines += "\\n";
    std::string text;
    JsonWriter(text).string("a" + std::string(length, '\0') + std::string(length, '\n') + "b");
    ASSERT_EQ(text, "\"a" + zeros + lines + "b\"");
  }
}

TEST(JsonWriter, says_bytes_in_base64) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().bytes_field("key", "k").bytes_field("payload", "\xff\xfe").name("l");
  out.begin_array().bytes("x").bytes("\xff").end_array().end_object();
  EXPECT_EQ(text, R"({"key":"k","payload_base64":"//4=","l":["x",{"base64":"/w=="}]})");
}

TEST(JsonWriter, shows_a_time_twice_and_one_out_of_range_as_a_number) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().time_field("due", 1'600'000'000'000).time_field("odd", -1).end_object();
  EXPECT_EQ(text, R"({"due":"2020-09-13T12:26:40.000Z","due_ms":1600000000000,"odd_ms":-1})");
}

TEST(JsonWriter, an_id_is_a_string) {
  std::string text;
  JsonWriter(text).begin_object().id_field("id", std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(text, R"({"id":"18446744073709551615")");
}

TEST(JsonWriter, no_number_is_zero) {
  std::string text;
  JsonWriter out(text);
  out.begin_array().number(std::numeric_limits<double>::quiet_NaN()).number(0.5);
  out.number(std::numeric_limits<double>::infinity()).end_array();
  EXPECT_EQ(text, "[0,0.5,0]");
}

TEST(JsonWriter, repairs_text_that_is_not_utf8) {
  std::string text;
  JsonWriter(text).string("a\xff\xc3\u00e4\xe2\x82");
  EXPECT_EQ(text, "\"a\uFFFD\uFFFD\u00e4\uFFFD\uFFFD\"");
}

RC_GTEST_PROP(JsonWriter, any_string_is_read_back_or_repaired, (const std::string& bytes)) {
  std::string text;
  JsonWriter(text).string(bytes);
  Document document(text.size());
  RC_ASSERT(!document.parse(text));
  if (base::is_valid_utf8(bytes)) {
    const auto& read = document.root().as_string();
    RC_ASSERT(std::string_view(read.data(), read.size()) == bytes);
  }
}

}  // namespace
}  // namespace tarry::wire
