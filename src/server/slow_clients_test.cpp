// Slow, silent and many clients of beanstalkd's and SQS's fronts: what the server does about them
// is the session's, and holds in each protocol. server/http/ has the same tests of HTTP.
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "server/beanstalk/front.h"
#include "server/http/front.h"
#include "server/listening/reserved_port.h"
#include "server/session/fronts.h"
#include "server/sqs/front.h"
#include "support/fake_engine.h"
#include "support/raw_client.h"

namespace tarry::session {
namespace {

using tarry::testing::FakeEngine;
using tarry::testing::one_claimed;
using tarry::testing::RawClient;

constexpr Millis kSoon{20};

MakeFront make_beanstalk(Millis deadline) {
  beanstalk::FrontOptions options;
  options.command_deadline = deadline;
  return beanstalk::make_front(std::move(options));
}

MakeFront make_sqs(Millis deadline) {
  sqs::FrontOptions options;
  options.head_deadline = options.body_deadline = deadline;
  return sqs::make_front(std::move(options));
}

std::string sqs_head(std::size_t body) {
  return "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: AmazonSQS.SendMessage\r\n"
         "Content-Length: " +
         std::to_string(body) + "\r\n\r\n";
}

/// One protocol, as far as these tests need it. The engine answers none of these requests.
struct Protocol {
  const char* name;
  MakeFront (*make)(Millis deadline);
  std::string request;              // that is answered at once
  bool (*is_answered)(RawClient&);  // takes the answer to it
  std::string half_head;            // of a request with a body
  std::string (*large_head)(std::size_t body);
  std::string late;     // the first line of the answer to a late request; empty: it has none
  std::string refused;  // of the answer to a request that a limit refuses
};

const std::array kProtocols = {
    Protocol{"beanstalkd", make_beanstalk, "list-tube-used\r\n",
             [](RawClient& client) { return client.receive_line().starts_with("USING default"); },
             "put 0 0 1",
             [](std::size_t body) { return "put 0 0 1 " + std::to_string(body) + "\r\n"; }, "",
             "OUT_OF_MEMORY"},
    Protocol{"sqs", make_sqs,
             "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: AmazonSQS.Nothing\r\n"
             "Content-Length: 2\r\n\r\n{}",
             [](RawClient& client) { return client.receive().status == 400; },
             "POST / HTTP/1.1\r\nHost: loc", sqs_head, "HTTP/1.1 408", "HTTP/1.1 429"},
};

class SlowClients : public ::testing::TestWithParam<Protocol> {
 protected:
  void start(Options options = {}, Millis deadline = std::chrono::minutes(1)) {
    server_.emplace(engine_, std::move(options));
    auto port = listening::ReservedPort::reserve("127.0.0.1", 0);
    ASSERT_TRUE(port) << port.error().message;
    port_ = port->port();
    std::vector<Listening> places;
    places.push_back({GetParam().make(deadline), std::move(*port)});
    auto http = listening::ReservedPort::reserve("127.0.0.1", 0);
    ASSERT_TRUE(http) << http.error().message;
    http_ = http->port();
    places.push_back({http::make_front({}), std::move(*http)});
    const auto begun = server_->start(std::move(places));
    ASSERT_TRUE(begun) << begun.error().message;
  }

  /// Whether the client's request is answered.
  static bool is_served(RawClient& client) {
    return client.send(GetParam().request) && GetParam().is_answered(client);
  }

  /// The memory of all that clients have sent and that is not answered, by /metrics.
  std::uint64_t held() {
    RawClient client(http_);
    client.send(RawClient::request("GET", "/metrics"));
    engine_.next().answer(core::Reply(StoreStats()));
    const std::string text = client.receive().body;
    constexpr std::string_view kName = "\ntarry_used_held_bytes ";
    const std::size_t at = text.find(kName);
    EXPECT_NE(at, std::string::npos) << text;
    return at == std::string::npos ? 0 : std::stoull(text.substr(at + kName.size()));
  }

  FakeEngine engine_;
  std::optional<Fronts> server_;
  std::uint16_t port_ = 0;
  std::uint16_t http_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Fronts, SlowClients, ::testing::ValuesIn(kProtocols),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(SlowClients, a_request_that_does_not_end_is_late) {
  start({}, kSoon);
  for (const std::string& begun : {GetParam().half_head, GetParam().large_head(1000) + "part"}) {
    RawClient slow(port_);
    slow.send(begun);
    EXPECT_EQ(slow.receive_line().substr(0, GetParam().late.size()), GetParam().late) << begun;
    EXPECT_TRUE(slow.wait_for_end()) << begun;
  }
}

TEST_P(SlowClients, a_byte_now_and_then_does_not_move_the_deadline) {
  start({}, std::chrono::milliseconds(200));
  RawClient slow(port_);
  slow.send(GetParam().large_head(1'000'000));
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool is_open = true;
  while (is_open && std::chrono::steady_clock::now() < limit) {
    is_open = !slow.ends_within(Millis(10)) && slow.send("x");
  }
  EXPECT_FALSE(is_open);
}

TEST_P(SlowClients, the_one_that_is_idle_for_the_longest_makes_room) {
  Options options;
  options.max_connections = 2;
  start(std::move(options));
  RawClient first(port_);
  ASSERT_TRUE(is_served(first));
  RawClient silent(port_);
  RawClient second(port_);
  EXPECT_TRUE(is_served(second));
  EXPECT_TRUE(first.wait_for_end());
  RawClient third(port_);
  EXPECT_TRUE(is_served(third));
  EXPECT_TRUE(silent.wait_for_end());
  EXPECT_TRUE(is_served(second));
}

TEST_P(SlowClients, bodies_that_do_not_end_are_refused_over_the_limit) {
  Options options;
  options.max_held_bytes = 200'000;  // one half is for bodies
  start(std::move(options));
  RawClient greedy(port_, "127.0.0.2");
  greedy.send(GetParam().large_head(500'000) + std::string(150'000, 'x'));
  while (held() < 150'000) {
  }
  RawClient other(port_);
  other.send(GetParam().large_head(50'000) + std::string(50'000, 'x') + "\r\n");
  EXPECT_TRUE(other.receive_line().starts_with(GetParam().refused));
  RawClient small(port_);
  EXPECT_TRUE(is_served(small));
}

TEST_P(SlowClients, a_peer_has_its_share_of_connections) {
  Options options;
  options.connections_per_peer = 1;
  start(std::move(options));
  RawClient first(port_, "127.0.0.2");
  EXPECT_TRUE(is_served(first));
  RawClient second(port_, "127.0.0.2");
  second.send(GetParam().request);
  EXPECT_TRUE(second.receive_line().starts_with(GetParam().refused));
  RawClient other(port_);
  EXPECT_TRUE(is_served(other));
  EXPECT_TRUE(is_served(first));
}

TEST_P(SlowClients, a_silent_connection_ends_where_tokens_are_wanted) {
  Options options;
  options.tokens = identity::Tokens::of("sixteen-letters-");
  start(std::move(options), kSoon);
  RawClient silent(port_);
  EXPECT_TRUE(silent.wait_for_end());
}

TEST(SlowClientsOfSqs, a_silent_connection_ends) {
  FakeEngine engine;
  Fronts server(engine, Options{});
  auto port = listening::ReservedPort::reserve("127.0.0.1", 0);
  const std::uint16_t number = port->port();
  std::vector<Listening> places;
  places.push_back({make_sqs(kSoon), std::move(*port)});
  ASSERT_TRUE(server.start(std::move(places)));
  RawClient silent(number);
  EXPECT_TRUE(silent.wait_for_end());
}

/// A worker that is busy with a job is silent for long. Its connection must not end: its job would
/// be ready again.
TEST(SlowClientsOfBeanstalk, one_with_a_reserved_job_does_not_make_room) {
  FakeEngine engine;
  Options options;
  options.max_connections = 2;
  Fronts server(engine, std::move(options));
  auto port = listening::ReservedPort::reserve("127.0.0.1", 0);
  const std::uint16_t number = port->port();
  std::vector<Listening> places;
  places.push_back({make_beanstalk(kSoon), std::move(*port)});
  ASSERT_TRUE(server.start(std::move(places)));
  RawClient worker(number);
  worker.send("reserve\r\n");
  engine.next().answer(one_claimed("r1"));
  engine.next().answer(core::Reply(core::ItemsReply()));  // its lease becomes its TTR
  EXPECT_TRUE(worker.receive_line().starts_with("RESERVED "));
  EXPECT_EQ(worker.receive_line(), "hello\r");
  RawClient idle(number);
  idle.send("list-tube-used\r\n");
  EXPECT_TRUE(idle.receive_line().starts_with("USING"));
  RawClient other(number);
  other.send("list-tube-used\r\n");
  EXPECT_TRUE(other.receive_line().starts_with("USING"));
  EXPECT_TRUE(idle.wait_for_end());
  worker.send("list-tube-used\r\n");
  EXPECT_TRUE(worker.receive_line().starts_with("USING"));
  worker.close();
  engine.next().answer(core::Reply(core::ItemsReply()));  // the release
}

}  // namespace
}  // namespace tarry::session
