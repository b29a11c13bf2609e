#include "net/http/http_client.h"

#include <future>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/certificates.h"
#include "support/http_client_rig.h"
#include "support/raw_server.h"

namespace tarry::net {
namespace {

using tarry::testing::RawConnection;

// The parameter: whether TLS is spoken. The client promises the same with and without it.
class HttpClientTest : public testing::HttpClientRig, public ::testing::WithParamInterface<bool> {
 protected:
  HttpClientTest() : HttpClientRig(GetParam() ? tls("server") : nullptr) {}

  void open(HttpClientOptions options = {}) {
    if (GetParam()) options.tls = TlsOptions{files().certificate("ca"), {}, {}, {}};
    HttpClientRig::open(std::move(options));
  }
};

TEST_P(HttpClientTest, asks_and_keeps_the_connection) {
  open();
  auto first = send("/a?x=1", "{\"k\":1}");
  RawConnection connection = server_.accept();
  const auto request = connection.receive();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/a?x=1");
  EXPECT_EQ(request.body, "{\"k\":1}");
  EXPECT_EQ(*request.find("Host"), "127.0.0.1:" + std::to_string(server_.port()));
  EXPECT_EQ(*request.find("Content-Type"), "application/json");
  connection.answer("one");
  EXPECT_EQ(body_of(std::move(first)), "one");
  auto second = send("/b");
  EXPECT_EQ(connection.receive().target, "/b");
  connection.send("HTTP/1.1 100 Continue\r\n\r\n");
  connection.answer("two", "404 Not Found", "Connection: close\r\n");
  EXPECT_EQ(body_of(std::move(second)), "two");
  EXPECT_TRUE(connection.wait_for_end());
  auto third = send("/c");
  RawConnection other = server_.accept();
  EXPECT_EQ(other.receive().target, "/c");
  other.send("HTTP/1.1 200 OK\r\n\r\nthree");
  other.close();
  EXPECT_EQ(body_of(std::move(third)), "three");
}

TEST_P(HttpClientTest, a_refused_token_is_replaced_and_the_request_sent_again) {
  constexpr const char* kRefused = "401 Unauthorized";
  HttpClientOptions options;
  options.connections = 1;
  options.token = "the-old-one";
  std::string there = "the-old-one";  // read and written while no request is under way
  options.renew_token = [&there] { return there; };
  open(options);
  auto first = send("/1");
  RawConnection connection = server_.accept();
  EXPECT_EQ(*connection.receive().find("Authorization"), "Bearer the-old-one");
  connection.answer("no", kRefused);
  EXPECT_EQ(body_of(std::move(first)), "no");  // there is no other

  there = "a-newer-one";
  auto second = send("/2", "{\"k\":2}");
  EXPECT_EQ(*connection.receive().find("Authorization"), "Bearer the-old-one");
  connection.answer("no", kRefused);
  const auto again = connection.receive();
  EXPECT_EQ(*again.find("Authorization"), "Bearer a-newer-one");
  EXPECT_EQ(again.target + again.body, "/2{\"k\":2}");
  connection.answer("no", kRefused);
  EXPECT_EQ(body_of(std::move(second)), "no");  // once

  auto third = send("/3");
  EXPECT_EQ(*connection.receive().find("Authorization"), "Bearer a-newer-one");
  there.clear();
  connection.answer("no", kRefused);
  EXPECT_EQ(body_of(std::move(third)), "no");
}

TEST_P(HttpClientTest, no_more_connections_than_it_may_and_one_for_who_asks) {
  HttpClientOptions options;
  options.connections = 1;
  open(options);
  auto first = send("/1");
  RawConnection connection = server_.accept();
  EXPECT_EQ(connection.receive().target, "/1");
  auto second = send("/2");
  auto own = send("/own", "{}", HttpLane::own);
  RawConnection extra = server_.accept();
  EXPECT_EQ(extra.receive().target, "/own");
  connection.answer("1");
  EXPECT_EQ(body_of(std::move(first)), "1");
  EXPECT_EQ(connection.receive().target, "/2");
  connection.answer("2");
  EXPECT_EQ(body_of(std::move(second)), "2");
  extra.answer("own");
  EXPECT_EQ(body_of(std::move(own)), "own");
}

TEST_P(HttpClientTest, who_asks_for_a_reserved_connection_takes_a_common_one_only_beside_it) {
  HttpClientOptions options;
  options.connections = 1;
  options.reserved = 1;
  open(options);
  auto common = send("/common");
  RawConnection first = server_.accept();
  EXPECT_EQ(first.receive().target, "/common");
  auto reserved = send("/reserved", "{}", HttpLane::reserved);
  RawConnection second = server_.accept();
  EXPECT_EQ(second.receive().target, "/reserved");
  // The connection that becomes free first takes the request that has waited longest.
  auto beyond = send("/beyond", "{}", HttpLane::reserved);
  auto last = send("/last");
  first.answer("1");
  EXPECT_EQ(first.receive().target, "/beyond");
  auto third = send("/third", "{}", HttpLane::reserved);
  second.answer("2");
  EXPECT_EQ(second.receive().target, "/third");
  second.answer("3");
  EXPECT_EQ(body_of(std::move(common)) + body_of(std::move(reserved)), "12");
  EXPECT_EQ(body_of(std::move(third)), "3");
  first.answer("4");
  EXPECT_EQ(body_of(std::move(beyond)), "4");
  EXPECT_EQ(first.receive().target, "/last");
  first.answer("5");
  EXPECT_EQ(body_of(std::move(last)), "5");
}

TEST_P(HttpClientTest, what_waits_for_a_connection_ends_at_its_deadline) {
  HttpClientOptions options;
  options.connections = 1;
  open(options);
  auto stuck = send("/stuck");
  RawConnection connection = server_.accept();
  connection.receive();
  auto patient = send("/patient");
  auto later = send("/later", "{}", HttpLane::common, 40);
  auto sooner = send("/sooner", "{}", HttpLane::common, 20);
  for (Future* waits : {&sooner, &later}) {
    ASSERT_EQ(waits->wait_for(std::chrono::seconds(30)), std::future_status::ready);
    const auto failure = failure_of(std::move(*waits));
    EXPECT_FALSE(failure.sent);
    EXPECT_EQ(failure.error.code, ErrorCode::unavailable);
    EXPECT_EQ(failure.error.message, "not sent to 127.0.0.1:" + std::to_string(server_.port()) +
                                         " in time: every connection waits for an answer");
  }
  connection.answer("1");
  EXPECT_EQ(body_of(std::move(stuck)), "1");
  EXPECT_EQ(connection.receive().target, "/patient");
  connection.answer("2");
  EXPECT_EQ(body_of(std::move(patient)), "2");
}

TEST_P(HttpClientTest, says_when_nobody_answers_there) {
  open();
  server_.close();
  const auto failure = failure_of(send("/"));
  EXPECT_FALSE(failure.sent);
  EXPECT_EQ(failure.error.code, ErrorCode::unavailable);
  EXPECT_EQ(failure.error.message, "cannot connect to 127.0.0.1:" + std::to_string(server_.port()) +
                                       ": Connection refused");
}

TEST_P(HttpClientTest, an_answer_that_is_lost_is_an_unknown_outcome) {
  open();
  for (const bool reset : {false, true}) {
    auto lost = send("/");
    RawConnection connection = server_.accept();
    connection.receive();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
    if (reset) {
      connection.reset();
    } else {
      connection.close();
    }
    const auto failure = failure_of(std::move(lost));
    EXPECT_TRUE(failure.sent);
    EXPECT_EQ(failure.error.code, ErrorCode::unknown_outcome);
  }
  auto garbled = send("/");
  RawConnection connection = server_.accept();
  connection.receive();
  connection.send("220 ESMTP\r\n\r\n");
  const auto failure = failure_of(std::move(garbled));
  EXPECT_EQ(failure.error.code, ErrorCode::unknown_outcome);
  EXPECT_NE(failure.error.message.find("the answer is not HTTP"), std::string::npos);
}

TEST_P(HttpClientTest, an_answer_that_does_not_come_in_time_is_an_unknown_outcome) {
  open();
  // Long enough for a handshake on a machine that is busy: the request must have been sent.
  auto late = send("/", "{}", HttpLane::common, 1'000);
  RawConnection connection = server_.accept();
  connection.receive();
  const auto failure = failure_of(std::move(late));
  EXPECT_TRUE(failure.sent);
  EXPECT_EQ(failure.error.code, ErrorCode::unknown_outcome);
  EXPECT_NE(failure.error.message.find("no answer in time"), std::string::npos);
  EXPECT_TRUE(connection.wait_for_end());
}

TEST_P(HttpClientTest, a_request_that_was_not_sent_whole_is_known_to_have_failed) {
  open();
  auto cut = send("/", std::string(64 << 20, 'x'));
  RawConnection connection = server_.accept();
  EXPECT_TRUE(connection.receive_some());
  connection.reset();
  const auto failure = failure_of(std::move(cut));
  EXPECT_FALSE(failure.sent);
  EXPECT_EQ(failure.error.code, ErrorCode::unavailable);
}

TEST_P(HttpClientTest, hears_an_answer_that_comes_before_all_is_sent) {
  open();
  auto refused = send("/", std::string(64 << 20, 'x'));
  RawConnection connection = server_.accept();
  EXPECT_TRUE(connection.receive_some());
  connection.answer("too much", "413 Content Too Large");
  EXPECT_EQ(body_of(std::move(refused)), "too much");
}

TEST_P(HttpClientTest, a_kept_connection_that_died_is_replaced_unseen) {
  open();
  auto first = send("/1");
  RawConnection connection = server_.accept();
  connection.receive();
  connection.answer("1");
  EXPECT_EQ(body_of(std::move(first)), "1");
  connection.close();
  auto second = send("/2");
  RawConnection fresh = server_.accept();
  EXPECT_EQ(fresh.receive().target, "/2");
  fresh.answer("2");
  EXPECT_EQ(body_of(std::move(second)), "2");
}

TEST_P(HttpClientTest, once_one_has_failed_no_kept_connection_is_trusted) {
  open();
  auto first = send("/");
  RawConnection a = server_.accept();
  a.receive();
  auto second = send("/");
  RawConnection b = server_.accept();
  b.receive();
  a.answer("1");
  b.answer("2");
  EXPECT_EQ(body_of(std::move(first)) + body_of(std::move(second)), "12");
  EXPECT_TRUE(failure_of(send("/", "{}", HttpLane::common, 20)).sent);
  EXPECT_TRUE(a.wait_for_end());
  EXPECT_TRUE(b.wait_for_end());
}

TEST_P(HttpClientTest, closes_a_connection_that_is_idle_for_long) {
  HttpClientOptions options;
  options.idle_timeout_ms = 20;
  open(options);
  auto first = send("/1");
  RawConnection connection = server_.accept();
  connection.receive();
  connection.answer("1");
  EXPECT_EQ(body_of(std::move(first)), "1");
  EXPECT_TRUE(connection.wait_for_end());
}

TEST_P(HttpClientTest, hanging_up_ends_our_side_and_hears_the_answer_out) {
  open();
  auto call = send("/", "{}", HttpLane::own);
  RawConnection connection = server_.accept();
  connection.receive();
  run([this] { client_->hang_up(last_); });
  EXPECT_TRUE(connection.wait_for_end());
  connection.answer("was on its way");
  EXPECT_EQ(body_of(std::move(call)), "was on its way");
}

TEST_P(HttpClientTest, hanging_up_drops_what_was_not_sent) {
  HttpClientOptions options;
  options.connections = 1;
  open(options);
  auto first = send("/1");
  RawConnection connection = server_.accept();
  connection.receive();
  auto second = send("/2");
  run([this] {
    client_->hang_up(last_);
    client_->hang_up(last_);
    client_->hang_up(12345);
  });
  EXPECT_FALSE(failure_of(std::move(second)).sent);
  connection.answer("1");
  EXPECT_EQ(body_of(std::move(first)), "1");
}

TEST_P(HttpClientTest, closing_fails_what_is_outstanding) {
  HttpClientOptions options;
  options.connections = 1;
  open(options);
  auto asked = send("/1");
  RawConnection connection = server_.accept();
  connection.receive();
  auto waiting = send("/2");
  run([this] { client_->close(); });
  EXPECT_TRUE(failure_of(std::move(asked)).sent);
  EXPECT_FALSE(failure_of(std::move(waiting)).sent);
  EXPECT_TRUE(connection.wait_for_end());
  EXPECT_FALSE(failure_of(send("/3")).sent);
}

INSTANTIATE_TEST_SUITE_P(Plain, HttpClientTest, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Tls, HttpClientTest, ::testing::Values(true));

}  // namespace
}  // namespace tarry::net
