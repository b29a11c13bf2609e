#include "wire/json/json_reader.h"

#include <memory>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/call.h"
#include "wire/claim.h"
#include "wire/message.h"
#include "wire/parts/items.h"
#include "wire/push.h"
#include "wire/queue.h"
#include "wire/stats.h"

namespace tarry::wire {
namespace {

std::string parse_error(std::string_view text) {
  Document document(text.size());
  const MaybeError error = document.parse(text);
  if (!error) return "";
  EXPECT_EQ(error->code, ErrorCode::invalid_argument);
  return error->message;
}

TEST(Document, names_the_byte) {
  EXPECT_EQ(parse_error("{\"a\":1}"), "");
  EXPECT_EQ(parse_error(" [1, 2.5e3, \"x\", null] \n"), "");
  EXPECT_EQ(parse_error(""), "the body is empty, not JSON");
  EXPECT_NE(parse_error("{\"a\" 1}").find("the body is not JSON: "), std::string::npos);
  EXPECT_NE(parse_error("{\"a\" 1}").find(" at byte 5"), std::string::npos);
  for (const char* bad : {"{", "[1,]", "{\"a\":1,}", "01", "'a'", "// x\n1", "{} {}", "nul",
                          "\"\xff\"", "\"\\ud800\"", "\"\x01\"", "NaN", "+1", "{a:1}"}) {
    EXPECT_NE(parse_error(bad), "") << bad;
  }
}

TEST(Document, refuses_a_name_that_occurs_twice) {
  EXPECT_EQ(parse_error(R"({"a":1,"b":2,"a":3})"), "the field \"a\" occurs twice");
  EXPECT_EQ(parse_error(R"({"x":[{"\u0061":1,"a":3}]})"), "the field \"a\" occurs twice");
  EXPECT_EQ(parse_error(R"({"":1,"":3})"), "the field \"\" occurs twice");
  EXPECT_EQ(parse_error(R"({"a":{"a":{"b":1}},"b":[{"a":1},{"a":1}],"c":{}})"), "");
}

TEST(Document, limits_the_nesting) {
  EXPECT_EQ(parse_error(std::string(kMaxDepth, '[') + std::string(kMaxDepth, ']')), "");
  EXPECT_EQ(parse_error(std::string(kMaxDepth + 1, '[') + std::string(kMaxDepth + 1, ']')),
            "the JSON is nested deeper than the limit of 16 levels");
  EXPECT_NE(parse_error(std::string(100'000, '[')), "");
}

// The error of reading `text` as a message.
std::string push_error(const std::string& text) {
  const auto push = decode_push("q", text);
  return push ? "" : push.error().message;
}

TEST(Fields, refuses_what_nobody_asked_for) {
  EXPECT_EQ(
      push_error(R"({"prioritty":5})"),
      "unknown field \"prioritty\"; known: key, key_base64, payload, payload_base64, "
      "delay_ms, delay, due_ms, due, headers, header_list, priority, if_exists, max_attempts, "
      "expire_ms, expire, expire_at_ms, expire_at, spread_ms, spread");
  EXPECT_EQ(push_error(R"({"messages":[],"key":"k"})"), "unknown field \"key\"; known: messages");
}

TEST(Fields, names_the_wrong_type) {
  EXPECT_EQ(push_error(R"({"priority":"5"})"),
            "\"priority\" must be a whole number from 0 to 4294967295, not the string \"5\"");
  EXPECT_EQ(push_error(R"({"priority":-1})"),
            "\"priority\" must be a whole number from 0 to 4294967295, not the number -1");
  EXPECT_EQ(push_error(R"({"priority":4294967296})"),
            "\"priority\" must be a whole number from 0 to 4294967295, not the number 4294967296");
  EXPECT_EQ(push_error(R"({"priority":18446744073709551615})"),
            "\"priority\" must be a whole number from 0 to 4294967295, "
            "not the number 18446744073709551615");
  EXPECT_EQ(push_error(R"({"key":7})"), "\"key\" must be a string, not the number 7");
  EXPECT_EQ(push_error(R"({"payload":{"a":1}})"), "\"payload\" must be a string, not an object");
  EXPECT_EQ(push_error(R"({"payload":null})"), "\"payload\" must be a string, not null");
  EXPECT_EQ(push_error(R"({"messages":{}})"), "\"messages\" must be an array, not an object");
  EXPECT_EQ(push_error("[]"), "the message must be an object, not an array");
  EXPECT_EQ(push_error("true"), "the message must be an object, not true");
  EXPECT_EQ(push_error(R"({"if_exists":"rejct"})"),
            "\"if_exists\" is \"rejct\"; it must be one of: reject, keep, replace, earlier, later");
}

TEST(Fields, takes_one_form_of_a_value) {
  EXPECT_EQ(push_error(R"({"payload":"a","payload_base64":"YQ=="})"),
            "the message has both \"payload\" and \"payload_base64\"; give one of them");
  EXPECT_EQ(push_error(R"({"delay":"1s","due":"2026-11-20T10:00:00Z"})"),
            "the message has both a delay and a due time; give one of them");
  EXPECT_EQ(push_error(R"({"delay":"1s","delay_ms":5})"),
            "the message has both \"delay\" and \"delay_ms\"; give one of them");
}

TEST(Fields, takes_both_forms_of_a_time_that_agree) {
  for (const char* same : {R"({"due":"2026-11-20T10:00:00.007Z","due_ms":1795168800007})",
                           R"({"due":"2026-11-20T11:00:00.007+01:00","due_ms":1795168800007})",
                           R"({"due":1795168800007,"due_ms":1795168800007})"}) {
    EXPECT_EQ(push_error(same), "") << same;
  }
  const std::string other = "\"due_ms\" is 1795168800007, which is another time; give one of them";
  EXPECT_EQ(push_error(R"({"due":"2026-11-20T10:00:00Z","due_ms":1795168800007})"),
            "\"due\" is \"2026-11-20T10:00:00Z\" and " + other);
  EXPECT_EQ(push_error(R"({"due":1795168800008,"due_ms":1795168800007})"),
            "\"due\" is 1795168800008 and " + other);
  EXPECT_NE(push_error(R"({"due":"soon","due_ms":1795168800007})").find("\"soon\""),
            std::string::npos);
}

TEST(Fields, reads_delays_and_due_times) {
  const auto due = [](const char* text) {
    const auto push = decode_push("q", text);
    EXPECT_TRUE(push) << push.error().message;
    return push ? push->request.items[0].due : Due();
  };
  EXPECT_EQ(due("{}"), Due());
  EXPECT_EQ(due(R"({"delay":"1.5s"})"), Due::after(Millis(1500)));
  EXPECT_EQ(due(R"({"delay":1500})"), Due::after(Millis(1500)));
  EXPECT_EQ(due(R"({"delay_ms":-5})"), Due::after(Millis(-5)));  // the engine refuses it
  EXPECT_EQ(due(R"({"due":"2020-09-13T12:26:40Z"})"), Due::at(Time(Millis(1'600'000'000'000))));
  EXPECT_EQ(due(R"({"due":1600000000000})"), Due::at(Time(Millis(1'600'000'000'000))));
  EXPECT_EQ(due(R"({"due_ms":1600000000005})"), Due::at(Time(Millis(1'600'000'000'005))));
  EXPECT_EQ(due(R"({"due":"2030-01-31T09:00+01:00"})"), due(R"({"due":"2030-01-31T08:00:00Z"})"));
}

// Fields and JSON Schema have the same notion of a whole number.
TEST(Fields, takes_whole_numbers_however_they_are_written) {
  const auto item = [](const std::string& text) {
    const auto push = decode_push("q", text);
    EXPECT_TRUE(push) << text << ": " << push.error().message;
    return push ? push->request.items[0] : core::PushItem();
  };
  for (const char* seven : {"7", "70e-1", "7E0"}) {
    const std::string number(seven);
    EXPECT_EQ(item("{\"priority\":" + number + "}").priority, 7u) << seven;
    EXPECT_EQ(item("{\"delay\":" + number + "}").due, Due::after(Millis(7))) << seven;
    EXPECT_EQ(item("{\"delay_ms\":-" + number + "}").due, Due::after(Millis(-7))) << seven;
  }
  for (const char* seven : {"7.0", "0.7e1"}) {
    EXPECT_EQ(item("{\"priority\":" + std::string(seven) + "}").priority, 7u) << seven;
  }
  EXPECT_EQ(item(R"({"due":16e11})").due, Due::at(Time(Millis(1'600'000'000'000))));
  EXPECT_NE(push_error(R"({"due":16e8})").find("is 1600000000, which looks like seconds"),
            std::string::npos);
  EXPECT_EQ(push_error(R"({"priority":1.5})"),
            "\"priority\" must be a whole number from 0 to 4294967295, not the number 1.5E0");
  // A double this large stands for several whole numbers, so it is refused.
  for (const char* none : {"1.5", "1e16", "1e19", "1e300", "-1e300", "1e400"}) {
    EXPECT_NE(push_error("{\"delay_ms\":" + std::string(none) + "}"), "") << none;
    EXPECT_NE(push_error("{\"priority\":" + std::string(none) + "}"), "") << none;
  }
}

// Java's common library writes a Duration of half an hour as 1800.000000000.
TEST(Fields, refuses_a_number_with_a_decimal_point_for_a_time) {
  EXPECT_EQ(push_error(R"({"delay":1800.000000000})"),
            "\"delay\" is 1800 with a decimal point, as some programs write seconds; milliseconds "
            "must be a whole number without one, anything else text such as \"30s\"");
  EXPECT_EQ(push_error(R"({"due":1700000000.000000000})"),
            "\"due\" is 1700000000 with a decimal point, as some programs write seconds; "
            "milliseconds must be a whole number without one, anything else text such as "
            "\"2026-11-20T10:00:00Z\"");
  for (const char* field : {"delay", "delay_ms", "due", "due_ms"}) {
    for (const char* number : {"1800.0", "0.0", "1.5", "18e-1", "1.8e3", "1764000000000.0"}) {
      const std::string text = "{\"" + std::string(field) + "\":" + number + "}";
      EXPECT_NE(push_error(text).find("with a decimal point"), std::string::npos) << text;
    }
  }
  for (const char* body : {R"({"queues":["q"],"wait":20.0})", R"({"queues":["q"],"lease":30.0})"}) {
    EXPECT_NE(decode_claim(body).error().message.find("with a decimal point"), std::string::npos);
  }
  EXPECT_FALSE(decode_configure("q", R"({"remember":86400.0})"));
}

TEST(Fields, refuses_seconds_for_milliseconds) {
  for (const char* body : {R"({"due":1600000000})", R"({"due_ms":1600000000})",
                           R"({"due":1600000000,"due_ms":1600000000})"}) {
    EXPECT_NE(push_error(body).find(
                  "is 1600000000, which looks like seconds; milliseconds since 1970 must be at "
                  "least 1000000000000 (2001-09-09), or 0; give an earlier time as text"),
              std::string::npos)
        << push_error(body);
  }
  const auto paused = decode_pause("q", R"({"until_ms":1700000000})");
  ASSERT_FALSE(paused);
  EXPECT_NE(paused.error().message.find("\"until_ms\" is 1700000000"), std::string::npos);
  EXPECT_EQ(push_error(R"({"due":0})"), "");
  EXPECT_EQ(push_error(R"({"due_ms":0})"), "");
  EXPECT_EQ(push_error(R"({"due":"1970-01-19T12:26:40Z"})"), "");
  EXPECT_EQ(push_error(R"({"due":"1970-01-19T12:26:40Z","due_ms":1600000000})"), "");
}

TEST(Fields, refuses_times_that_are_none) {
  EXPECT_NE(push_error(R"({"delay":"soon"})").find("\"delay\": "), std::string::npos);
  EXPECT_NE(push_error(R"({"delay":"soon"})").find("\"soon\""), std::string::npos);
  EXPECT_NE(push_error(R"({"due":"2026-11-20T10:00:00"})").find("\"due\": "), std::string::npos);
  EXPECT_NE(push_error(R"({"delay":1.5})"), "");
  EXPECT_NE(push_error(R"({"delay":99999999999999999999})"), "");
  EXPECT_NE(push_error(R"({"delay":true})"), "");
}

TEST(Fields, refuses_a_number_past_what_a_double_holds) {
  const auto with_max = [](const std::string& max) {
    return decode_store_stats(R"({"engine":"e","queues":[],"lateness":{"max_ms":)" + max + "}}");
  };
  const auto largest = with_max("1e308");
  ASSERT_TRUE(largest);
  EXPECT_EQ(largest->lateness.max, 1e308);
  const auto beyond = with_max("1e309");
  ASSERT_FALSE(beyond);
  EXPECT_NE(beyond.error().message.find("\"max_ms\" must be a number that a double can hold"),
            std::string::npos)
      << beyond.error().message;
}

TEST(Fields, names_bad_base64) {
  EXPECT_NE(push_error(R"({"payload_base64":"a"})").find("\"payload_base64\": "),
            std::string::npos);
  EXPECT_NE(push_error(R"({"key_base64":"!!!!"})").find("\"key_base64\": "), std::string::npos);
}

TEST(Push, one_bad_message_fails_alone) {
  const auto push =
      decode_push("q", R"({"messages":[{"key":"a","payload":"1"},{"key":"b","payload_base64":"?"},7,
               {"key":"c","headers":{"bad name":"x"},"payload":"lost"},{"key":"d"}]})");
  ASSERT_TRUE(push) << push.error().message;
  EXPECT_FALSE(push->single);
  ASSERT_EQ(push->request.items.size(), 2u);
  EXPECT_EQ(core::view(push->request.bytes, push->request.items[0].key), "a");
  EXPECT_EQ(core::view(push->request.bytes, push->request.items[1].key), "d");
  EXPECT_EQ(push->request.bytes, "a1d");  // nothing of the bad items is left in it
  ASSERT_EQ(push->bad.size(), 3u);
  EXPECT_EQ(push->bad[0].index, 1u);
  EXPECT_EQ(push->bad[1].index, 2u);
  EXPECT_EQ(push->bad[1].error.message, "the message must be an object, not the number 7");
  EXPECT_EQ(push->bad[2].index, 3u);
  EXPECT_NE(push->bad[2].error.message.find("bad name"), std::string::npos);
}

TEST(Push, an_empty_key_is_a_mistake) {
  EXPECT_EQ(push_error(R"({"key":""})"), "\"key\" is empty; leave it out, and the store makes one");
}

std::string many(std::string_view item, std::size_t count) {
  std::string text;
  text.reserve((item.size() + 1) * count);
  for (std::size_t i = 0; i < count; ++i) (text += i == 0 ? "" : ",") += item;
  return text;
}

// The text after the excess item is not JSON, which shows that the reader stops before it.
TEST(Push, too_many_messages_fail_as_a_whole_and_are_read_no_further) {
  const auto refused = [](const std::string& body) {
    const auto push = decode_push("q", body + ",nonsense");
    EXPECT_FALSE(push);
    EXPECT_EQ(push.error().code, ErrorCode::too_large);
    return push.error().message;
  };
  for (const char* item :
       {"{}", "0", "-1", "18446744073709551615", "1.5", "true", "null", "\"\"", "[]"}) {
    EXPECT_EQ(refused("{\"messages\":[" + many(item, core::kMaxBatch + 1)),
              "\"messages\" has 10001 items or more; the limit is 10000 a request");
    EXPECT_EQ(refused("[" + many(item, core::kMaxBatch + 1)),
              "the body has 10001 items or more; the limit is 10000 a request");
  }
  EXPECT_EQ(refused(R"({"x":{"y":[1]},"a\u0022":[)" + many("0", core::kMaxBatch + 1)),
            "\"a\\\"\" has 10001 items or more; the limit is 10000 a request");
}

TEST(Push, a_batch_may_be_full) {
  const auto push = decode_push("q", "{\"messages\":[" + many("{}", core::kMaxBatch) + "]}");
  ASSERT_TRUE(push);
  EXPECT_EQ(push->request.items.size(), core::kMaxBatch);
}

TEST(Push, too_many_values_fail_as_a_whole_and_are_read_no_further) {
  const std::string message = "{\"headers\":[" + many("0", 200) + "]}";
  const auto push = decode_push("q", "{\"messages\":[" + many(message, 5'000) + ",nonsense");
  ASSERT_FALSE(push);
  EXPECT_EQ(push.error().code, ErrorCode::too_large);
  EXPECT_EQ(push.error().message,
            "the body has 1000001 values or more; the limit is 1000000 a request");
}

TEST(Push, a_message_fails_alone_that_has_more_headers_than_a_batch_has_messages) {
  const auto push = decode_push(
      "q", "{\"messages\":[{\"headers\":[" + many("0", 2 * core::kMaxBatch) + "]},{}]}");
  ASSERT_TRUE(push);
  EXPECT_EQ(push->bad.size(), 1u);
  EXPECT_EQ(push->request.items.size(), 1u);
}

TEST(Stats, may_have_more_queues_than_a_request_has_items) {
  StoreStats stats;
  stats.engine = "fake";
  stats.queues.resize(core::kMaxBatch + 1);
  const auto read = decode_store_stats(encode_store_stats(stats));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->queues.size(), core::kMaxBatch + 1);
}

TEST(Push, headers_take_the_forms_of_older_versions_too) {
  const auto headers = [](const std::string& json) {
    const auto push = decode_push("q", "{\"headers\":" + json + "}");
    return push ? push->request.bytes : "error: " + push.error().message;
  };
  EXPECT_EQ(headers(R"({"a":"1","b":"2"})"), headers(R"([["a","1"],["b","2"]])"));
  EXPECT_EQ(headers(R"({"a":{"base64":"MQ=="}})"), headers(R"({"a":"1"})"));
  EXPECT_EQ(headers(R"({"a":1})"),
            "error: the value of header \"a\" must be a string or {\"base64\": \"...\"}, "
            "not the number 1");
  EXPECT_NE(headers(R"([["a"]])").find("must be [name, value]"), std::string::npos);
  EXPECT_NE(headers("7").find("not the number 7"), std::string::npos);
}

TEST(Push, a_header_list_has_all_headers) {
  const auto headers = [](const std::string& fields) {
    const auto push = decode_push("q", "{" + fields + "}");
    return push ? push->request.bytes : "error: " + push.error().message;
  };
  const std::string twice = headers(R"("headers":[["a","1"],["a","2"]])");
  EXPECT_EQ(headers(R"("header_list":[{"name":"a","value":"1"},{"name":"a","value":"2"}])"), twice);
  EXPECT_EQ(headers(R"("headers":{"a":"1"},)"
                    R"("header_list":[{"name":"a","value":"1"},{"name":"a","value":"2"}])"),
            twice);
  EXPECT_EQ(headers(R"("header_list":[{"name":"a","value_base64":"MQ=="}])"),
            headers(R"("headers":{"a":"1"})"));
  // Many clients send an empty list for a field that was not set.
  EXPECT_EQ(headers(R"("headers":{"a":"1"},"header_list":[])"), headers(R"("headers":{"a":"1"})"));
  EXPECT_EQ(
      headers(R"("headers":{"a":"2"},"header_list":[{"name":"a","value":"1"}])"),
      "error: \"headers\" has \"a\" with a value that \"header_list\" does not have; give one "
      "of them");
  EXPECT_EQ(headers(R"("header_list":[{"value":"1"}])"),
            "error: an item of \"header_list\" lacks \"name\"");
}

TEST(Claim, needs_queues) {
  EXPECT_EQ(decode_claim("{}").error().message, "the body lacks \"queues\"");
  EXPECT_EQ(decode_claim(R"({"queues":[7]})").error().message,
            "an item of \"queues\" must be a string, not the number 7");
}

TEST(Claim, a_bad_settlement_does_not_affect_the_others) {
  const auto claim =
      decode_claim(R"({"queues":["q"],"settle":[{"receipt":"a"},{"receipt":"b","action":"ack"}]})");
  ASSERT_TRUE(claim) << claim.error().message;
  ASSERT_EQ(claim->bad.size(), 1u);
  EXPECT_EQ(claim->bad[0].error.message, "the item lacks \"action\"");
  ASSERT_EQ(claim->request.settle.items.size(), 1u);
  core::ClaimReply reply;
  reply.settled.resize(1);
  reply.settled[0].outcome = Outcome::done;
  const std::string body = encode_claim_reply(reply, {}, claim->bad);
  EXPECT_EQ(body, R"({"messages":[],"settled":[{"error":{"code":"invalid_argument","message":)"
                  R"("the item lacks \"action\""}},{"outcome":"done"}]})");
  EXPECT_EQ(encode_claim_reply({}), R"({"messages":[]})");
}

TEST(Claim, has_results_for_all_of_its_settlements) {
  Call call;
  call.answer = Answer::claimed;
  call.items = 2;
  const auto reply = decode_answer(call, R"({"messages":[],"settled":[{"outcome":"done"}]})");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "1 results for 2 items");
}

// Clients that are generated from the document send an empty list for a field that was not set.
TEST(Keys, an_empty_list_is_the_same_as_none) {
  const auto claim = decode_claim(R"({"queues":["q"],"keys":[],"keys_base64":[]})");
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_TRUE(claim->request.keys.empty());
  const auto revive = decode_revive("q", R"({"keys":[],"all":true})");
  ASSERT_TRUE(revive) << revive.error().message;
  EXPECT_TRUE(revive->all);
}

TEST(Keys, are_named_in_one_form) {
  const auto cancel = decode_cancel("q", R"({"keys":[],"keys_base64":["aw==","?","/w=="]})");
  ASSERT_TRUE(cancel) << cancel.error().message;
  ASSERT_EQ(cancel->request.keys.size(), 2u);
  EXPECT_EQ(core::view(cancel->request.bytes, cancel->request.keys[1]), "\xff");
  ASSERT_EQ(cancel->bad.size(), 1u);
  EXPECT_EQ(cancel->bad[0].index, 1u);
  EXPECT_EQ(decode_cancel("q", R"({"keys":["k"],"keys_base64":["aw=="]})").error().message,
            "the body has keys in both \"keys\" and \"keys_base64\"; give one of them");
  EXPECT_EQ(decode_get("q", "{}").error().message, "the body lacks \"keys\"");
}

// Any bytes are either read or refused with an error.
RC_GTEST_PROP(Push, any_bytes_are_read_or_refused, (const std::string& bytes)) {
  const auto push = decode_push("q", bytes);
  if (!push) RC_ASSERT(!push.error().message.empty());
}

// Takes a correct body and changes one byte.
RC_GTEST_PROP(Push, a_changed_byte_is_read_or_refused, ()) {
  std::string body =
      R"({"messages":[{"key":"a","payload_base64":"YWI=","delay":"1s","headers":{"x":"y"}}]})";
  const auto at = *rc::gen::inRange<std::size_t>(0, body.size());
  body[at] = *rc::gen::arbitrary<char>();
  const auto push = decode_push("q", body);
  if (push) RC_ASSERT(push->request.items.size() + push->bad.size() == 1u);
}

}  // namespace
}  // namespace tarry::wire
