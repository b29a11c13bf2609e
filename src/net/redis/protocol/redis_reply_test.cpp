#include "net/redis/protocol/redis_reply.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "net/redis/protocol/redis_reader.h"

namespace tarry::net {
namespace {

using Kind = RedisView::Kind;
using Fault = RedisReader::Fault;

std::optional<RedisReply> parse(std::string_view bytes) {
  RedisReader reader(1 << 20);
  reader.feed(bytes);
  return reader.next();
}

TEST(RedisReplyTest, reads_every_kind) {
  EXPECT_EQ(parse("+OK\r\n")->view().kind(), Kind::status);
  EXPECT_EQ(parse("+OK\r\n")->view().text(), "OK");
  EXPECT_TRUE(parse("-NOSCRIPT no\r\n")->view().is_error());
  EXPECT_EQ(parse("-NOSCRIPT no\r\n")->view().text(), "NOSCRIPT no");
  EXPECT_EQ(parse(":-42\r\n")->view().kind(), Kind::integer);
  EXPECT_EQ(parse(":-42\r\n")->view().integer(), -42);
  EXPECT_EQ(parse("$3\r\na\r\n\r\n")->view().kind(), Kind::text);
  EXPECT_EQ(parse("$3\r\na\r\n\r\n")->view().text(), "a\r\n");
  EXPECT_TRUE(parse("$-1\r\n")->view().is_nil());
  EXPECT_TRUE(parse("*-1\r\n")->view().is_nil());
  EXPECT_EQ(parse("*0\r\n")->view().kind(), Kind::array);
  EXPECT_EQ(parse("*0\r\n")->view().size(), 0u);
}

// Memory is taken when an array is announced. The announced elements of all arrays in a reply count
// together, at every level.
TEST(RedisReplyTest, arrays_that_cannot_all_come_are_refused_as_they_are_announced) {
  RedisReader reader(1 << 20);
  reader.feed("*200000\r\n");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.fault(), Fault::none);
  reader.feed("*200000\r\n");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.fault(), Fault::too_large);
  // Each reply is counted separately.
  RedisReader many(1 << 10);
  for (int i = 0; i < 10; ++i) {
    std::string whole = "*200\r\n";
    for (int n = 0; n < 200; ++n) whole += ":1\r\n";
    many.feed(whole);
    EXPECT_TRUE(many.next()) << i;
  }
}

TEST(RedisReplyTest, reads_nested_arrays) {
  const auto reply = parse("*2\r\n*2\r\n:1\r\n$1\r\nx\r\n*1\r\n*1\r\n$-1\r\n");
  ASSERT_TRUE(reply);
  const RedisView view = reply->view();
  ASSERT_EQ(view.size(), 2u);
  EXPECT_EQ(view[0][0].integer(), 1);
  EXPECT_EQ(view[0][1].text(), "x");
  EXPECT_EQ(view[1][0].size(), 1u);
  EXPECT_TRUE(view[1][0][0].is_nil());
}

TEST(RedisReplyTest, answers_what_is_empty_to_the_wrong_question) {
  const auto reply = parse("*2\r\n:7\r\n$5\r\nseven\r\n");
  const RedisView view = reply->view();
  EXPECT_EQ(view.integer(), 0);
  EXPECT_EQ(view.text(), "");
  EXPECT_TRUE(view[2].is_nil());
  EXPECT_TRUE(view[2][9][9].is_nil());
  EXPECT_EQ(view[0].text(), "");
  EXPECT_EQ(view[0].size(), 0u);
  EXPECT_TRUE(view[1][0].is_nil());
  EXPECT_EQ(RedisView().integer(), 0);
  EXPECT_TRUE(RedisView().is_nil());
}

TEST(RedisReplyTest, takes_a_whole_number_out_of_a_text) {
  EXPECT_EQ(parse("$3\r\n-17\r\n")->view().integer(), -17);
  EXPECT_EQ(parse("$19\r\n9223372036854775807\r\n")->view().integer(), INT64_MAX);
  EXPECT_EQ(parse("$19\r\n9223372036854775808\r\n")->view().integer(), 0);
  EXPECT_EQ(parse("$5\r\nseven\r\n")->view().integer(), 0);
  EXPECT_EQ(parse("$3\r\n1.5\r\n")->view().integer(), 0);
  EXPECT_EQ(parse("$2\r\n 1\r\n")->view().integer(), 0);
  EXPECT_EQ(parse("$0\r\n\r\n")->view().integer(), 0);
}

TEST(RedisReaderTest, waits_for_what_is_missing) {
  const std::string_view bytes = "*2\r\n$5\r\nhello\r\n:1\r\n";
  RedisReader reader(1000);
  for (const char& byte : bytes) {
    EXPECT_FALSE(reader.next());
    reader.feed({&byte, 1});
  }
  const auto reply = reader.next();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->view()[0].text(), "hello");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.fault(), Fault::none);
}

TEST(RedisReaderTest, finds_fault_with_what_is_not_redis) {
  for (const std::string_view bytes : {"HTTP/1.1 400 Bad Request\r\n\r\n", ":abc\r\n", "$x\r\n",
                                       "$-2\r\n", "*-2\r\n", "\r\n", "\x15\x03\x01\x00\x02\x02"}) {
    RedisReader reader(1000);
    reader.feed(bytes);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.fault(), Fault::protocol) << bytes;
    EXPECT_NE(reader.fault_text(), "");
    reader.feed("+OK\r\n");
    EXPECT_FALSE(reader.next());
  }
}

TEST(RedisReaderTest, bounds_depth) {
  const auto nested = [](int levels) {
    std::string bytes;
    for (int i = 0; i < levels; ++i) bytes += "*1\r\n";
    return bytes + ":1\r\n";
  };
  EXPECT_EQ(parse(nested(8))->view()[0][0][0][0][0][0][0][0].integer(), 1);
  for (const int levels : {9, 1'000'000}) {
    RedisReader reader(1 << 30);
    reader.feed(nested(levels));
    EXPECT_FALSE(reader.next());
    EXPECT_NE(reader.fault(), Fault::none);
  }
}

TEST(RedisReaderTest, bounds_one_reply_and_not_their_sum) {
  RedisReader reader(10);
  for (int i = 0; i < 100; ++i) {
    reader.feed("$4\r\nfour\r\n");  // 10 bytes
    ASSERT_TRUE(reader.next());
  }
  reader.feed("$5\r\nfives\r\n");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.fault(), Fault::too_large);
  EXPECT_NE(reader.fault_text().find("10 bytes"), std::string::npos);
}

TEST(RedisReaderTest, bounds_a_reply_that_does_not_end) {
  RedisReader reader(1000);
  reader.feed("*2\r\n$2\r\nok\r\n$100000\r\n");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.fault(), Fault::none);
  reader.feed(std::string(1000, 'x'));
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.fault(), Fault::too_large);
}

// Without this limit, hiredis would allocate 16 GB for the array.
TEST(RedisReaderTest, does_not_make_room_for_elements_that_cannot_come) {
  RedisReader reader(1 << 20);
  reader.feed("*2147483647\r\n");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.fault(), Fault::too_large);
}

// Cuts the bytes of random replies at random places: the same replies must come out, in order.
RC_GTEST_PROP(RedisReaderTest, reads_the_same_however_it_is_cut, ()) {
  const auto texts = *rc::gen::container<std::vector<std::string>>(rc::gen::string<std::string>());
  std::string bytes;
  for (const std::string& text : texts) {
    bytes += "*2\r\n$" + std::to_string(text.size()) + "\r\n" + text + "\r\n:1\r\n";
  }
  RedisReader reader(1 << 20);
  std::vector<std::string> out;
  for (std::string_view left = bytes; !left.empty();) {
    const auto size = std::min(left.size(), *rc::gen::inRange<std::size_t>(1, 40));
    reader.feed(left.substr(0, size));
    left.remove_prefix(size);
    while (const auto reply = reader.next()) out.emplace_back(reply->view()[0].text());
  }
  RC_ASSERT(out == texts);
}

}  // namespace
}  // namespace tarry::net
