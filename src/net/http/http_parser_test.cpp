#include "net/http/http_parser.h"

#include <initializer_list>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tarry::net {
namespace {

using Side = HttpParser::Side;

constexpr std::string_view kPost =
    "POST /v1/claim HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    "Content-Length: 5\r\n\r\n12345";

// Gives `bytes` in pieces of `step`, as a connection would, and returns the rest.
std::string feed_all(HttpParser& parser, std::string_view bytes, std::size_t step) {
  std::string held;
  while (!bytes.empty() && !parser.done() && !parser.fault()) {
    const std::size_t n = std::min(step, bytes.size());
    held += bytes.substr(0, n);
    bytes.remove_prefix(n);
    held.erase(0, parser.feed(held));
  }
  return held + std::string(bytes);
}

TEST(HttpParser, reads_a_request_in_pieces_of_any_size) {
  for (std::size_t step = 1; step <= kPost.size(); ++step) {
    HttpParser parser(Side::request, {});
    EXPECT_EQ(feed_all(parser, std::string(kPost) + "GET", step), "GET") << step;
    ASSERT_TRUE(parser.done()) << step << " " << parser.fault_text();
    EXPECT_EQ(parser.message().method, "POST");
    EXPECT_EQ(parser.message().target, "/v1/claim");
    EXPECT_EQ(parser.message().body, "12345");
    EXPECT_EQ(*parser.message().find("content-type"), "application/json");
    EXPECT_EQ(parser.message().find("x"), nullptr);
    EXPECT_TRUE(parser.keep_alive());
  }
}

TEST(HttpParser, reads_chunks_and_forgets_trailers) {
  const std::string chunked =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nHost: evil\r\n\r\n";
  for (std::size_t step = 1; step <= chunked.size(); ++step) {
    HttpParser parser(Side::request, {});
    EXPECT_EQ(feed_all(parser, chunked + "rest", step), "rest");
    ASSERT_TRUE(parser.done()) << step << " " << parser.fault_text();
    EXPECT_EQ(parser.message().body, "abcde");
    EXPECT_EQ(parser.message().find("Host"), nullptr);
  }
}

TEST(HttpParser, reads_responses_with_and_without_a_length) {
  HttpParser known(Side::response, {});
  EXPECT_EQ(feed_all(known, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP", 4), "HTTP");
  EXPECT_EQ(known.message().status, 200u);
  EXPECT_EQ(known.message().body, "ok");
  EXPECT_TRUE(known.keep_alive());

  HttpParser open(Side::response, {});
  EXPECT_EQ(feed_all(open, "HTTP/1.1 200 OK\r\n\r\nall of it", 4), "");
  EXPECT_FALSE(open.done());
  open.feed_end();
  EXPECT_TRUE(open.done());
  EXPECT_EQ(open.message().body, "all of it");
  EXPECT_FALSE(open.keep_alive());

  HttpParser cut(Side::response, {});
  feed_all(cut, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", 4);
  cut.feed_end();
  EXPECT_EQ(cut.fault(), HttpFault::malformed);
  HttpParser none(Side::response, {});
  none.feed_end();
  EXPECT_EQ(none.fault(), HttpFault::malformed);
}

std::optional<HttpFault> fault_in(const std::string& bytes, HttpLimits limits = {}) {
  HttpParser whole(Side::request, limits);
  feed_all(whole, bytes, bytes.size());
  HttpParser bytewise(Side::request, limits);
  feed_all(bytewise, bytes, 1);
  EXPECT_EQ(whole.fault(), bytewise.fault()) << bytes;
  EXPECT_EQ(whole.fault_text().empty(), !whole.fault());
  EXPECT_FALSE(whole.fault() && whole.done());
  return whole.fault();
}

TEST(HttpParser, refuses_what_two_readers_could_read_differently) {
  const std::string post = "POST / HTTP/1.1\r\n";
  const std::string length = "Content-Length: 1\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_EQ(fault_in(post + length + chunked + "\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + chunked + length + "\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + chunked + chunked + "\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + length + "Content-Length: 2\r\n\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + "Content-Length: +1\r\n\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + "Content-Length: 1x\r\n\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + "Content-Length: \r\n\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + "Content-Length: 18446744073709551616\r\n\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + "Transfer-Encoding: gzip, chunked\r\n\r\n"),
            HttpFault::unsupported_coding);
  EXPECT_EQ(fault_in(post + "Transfer-Encoding: gzip\r\n\r\n"), HttpFault::unsupported_coding);
  EXPECT_EQ(fault_in("POST / HTTP/1.0\r\n" + chunked + "\r\n"), HttpFault::unsupported_coding);
  EXPECT_EQ(fault_in(post + chunked + "\r\n5x\r\nhello\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + chunked + "\r\n-1\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in("POST  / HTTP/1.1\r\n\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in("POST / HTTP/2.0\r\n\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + "Bad Name: 1\r\n\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + "Name : 1\r\n\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(post + "Name: a\x01z\r\n\r\n"), HttpFault::malformed);
  EXPECT_EQ(fault_in(std::string("\x16\x03\x01\x02\x00\x01", 6)), HttpFault::malformed);
}

TEST(HttpParser, a_fault_in_the_framing_names_what_is_refused) {
  const std::string length = "Content-Length: 1\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::string one = "; one of the two is the limit";
  const std::string bytes = " is no number of bytes from 0 to 18446744073709551615";
  const std::pair<std::string, std::string> faults[] = {
      {length + "A: b\r\n" + chunked,
       R"(Transfer-Encoding "chunked" stands beside Content-Length "1")" + one},
      {chunked + "content-length: 1 \r\n",
       R"(content-length "1" stands beside Transfer-Encoding "chunked")" + one},
      {length + "Content-Length: 2\r\n",
       R"(Content-Length "2" stands beside Content-Length "1")" + one},
      {"Content-Length: 1x\r\n", R"(Content-Length "1x")" + bytes},
      {"Content-Length: \r\n", R"(Content-Length "")" + bytes},
      {"Transfer-Encoding: gzip\r\n",
       R"(the transfer coding "gzip" is not chunked, which is the only one, in HTTP/1.1)"},
  };
  for (const auto& [fields, text] : faults) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{1'000}}) {
      HttpParser parser(Side::request, {});
      feed_all(parser, "POST / HTTP/1.1\r\n" + fields + "\r\n", step);
      EXPECT_EQ(parser.fault_text(), text) << step;
    }
  }
}

TEST(HttpParser, bare_line_feeds_end_no_line) {
  const std::string bare = "POST / HTTP/1.1\nHost: a\n\n";
  for (std::size_t step = 1; step <= bare.size(); ++step) {
    HttpParser parser(Side::request, {});
    feed_all(parser, bare, step);
    EXPECT_FALSE(parser.head_done()) << step;
  }
}

TEST(HttpParser, keeps_its_limits) {
  const HttpLimits limits{.head_bytes = 256, .body_bytes = 4};
  const std::string post = "POST / HTTP/1.1\r\n";
  EXPECT_EQ(fault_in(post + "Content-Length: 5\r\n\r\n", limits), HttpFault::body_too_large);
  EXPECT_EQ(fault_in(post + "Content-Length: 4\r\n\r\n1234", limits), std::nullopt);
  EXPECT_EQ(fault_in(post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n", limits),
            HttpFault::body_too_large);
  EXPECT_EQ(fault_in(post + "X: " + std::string(300, 'x') + "\r\n\r\n", limits),
            HttpFault::head_too_large);
  EXPECT_EQ(fault_in("GET /" + std::string(300, 'x') + " HTTP/1.1\r\n\r\n", limits),
            HttpFault::head_too_large);
}

TEST(HttpParser, a_head_may_be_as_long_as_its_limit_however_it_comes) {
  const HttpLimits limits{.head_bytes = 256, .body_bytes = 1'000};
  // The head has lines of eight bytes, except for two lines.
  const auto head_of = [](std::size_t bytes) {
    std::string head = "POST / HTTP/1.1\r\nContent-Length: 500\r\n";
    while (head.size() + 18 < bytes) head += "X: xyz\r\n";
    head += "Y: ";
    head.append(bytes - head.size() - 4, 'y');
    return head + "\r\n\r\n";
  };
  const std::string body(500, 'b');
  for (const std::size_t step :
       std::initializer_list<std::size_t>{1, 2, 7, 8, 17, 38, 39, 100, 256, 257, 1'000}) {
    HttpParser most(Side::request, limits);
    feed_all(most, head_of(256) + body, step);
    EXPECT_TRUE(most.done()) << step << ": " << most.fault_text();
    EXPECT_EQ(most.message().body, body) << step;
    HttpParser over(Side::request, limits);
    feed_all(over, head_of(257) + body, step);
    EXPECT_EQ(over.fault(), HttpFault::head_too_large) << step;
    EXPECT_FALSE(over.head_done()) << step;
  }
}

// Bytes of lines that the parser has consumed count too.
TEST(HttpParser, a_head_that_comes_line_by_line_has_the_same_limit) {
  HttpParser parser(Side::request, {.head_bytes = 256, .body_bytes = 4});
  std::string held = "POST / HTTP/1.1\r\n";
  std::size_t given = held.size();
  held.erase(0, parser.feed(held));
  while (!parser.fault() && given < 10'000) {
    held += "X: xyz\r\n";
    given += 8;
    held.erase(0, parser.feed(held));
  }
  EXPECT_EQ(parser.fault(), HttpFault::head_too_large);
  EXPECT_EQ(given, 257u);
}

RC_GTEST_PROP(HttpParser, any_bytes_are_read_or_refused, (const std::string& tail)) {
  const auto cut = *rc::gen::inRange<std::size_t>(0, kPost.size());
  HttpParser parser(Side::request, {});
  feed_all(parser, std::string(kPost.substr(0, cut)) + tail, 7);
  parser.feed_end();
  RC_ASSERT(parser.done() != parser.fault().has_value());
}

}  // namespace
}  // namespace tarry::net
