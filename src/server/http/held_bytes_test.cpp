// The limit of the memory that the server holds for all connections together: which requests it
// refuses above the limit, and which not.
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/http_server_rig.h"

namespace tarry::http {
namespace {

using tarry::testing::one_claimed;
using tarry::testing::RawClient;

class HeldBytes : public testing::HttpServerRig {
 protected:
  // The bytes held by requests, as the metrics show them.
  std::uint64_t held_by_requests(RawClient& client) {
    client.send(RawClient::request("GET", "/metrics"));
    engine_.next().answer(core::Reply(StoreStats()));
    const std::string page = client.receive().body;
    const std::string name = "tarry_http_held_bytes{held=\"requests\"} ";
    const std::size_t at = page.find(name);
    if (at == std::string::npos) throw std::runtime_error("no such metric in: " + page);
    return std::stoull(page.substr(at + name.size()));
  }
};

TEST_F(HeldBytes, bounds_the_bodies_of_all_connections_together) {
  const std::uint16_t port = start_with_limit(50'000);
  // A body that is larger than the limit is accepted while nothing else is held; otherwise it would
  // be refused for ever.
  RawClient first(port);
  first.send(RawClient::request("POST", "/v1/queues/q/messages",
                                "{\"payload\":\"" + std::string(60'000, 'x') + "\"}"));
  auto held = engine_.next();
  const std::string head =
      "POST /v1/queues/q/messages HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\nContent-Length: 4097\r\n";
  // A client that waits for 100 Continue gets the refusal instead of the 100.
  for (const std::string& begun : {head + "\r\n{", head + "Expect: 100-continue\r\n\r\n"}) {
    RawClient second(port);
    second.send(begun);
    const auto busy = second.receive();
    expect_busy(busy, "all requests", 25'000);
    EXPECT_EQ(*busy.find("Retry-After"), "1");
    EXPECT_TRUE(second.wait_for_end());
  }
  held.answer(Error{ErrorCode::no_space, "full"});
  EXPECT_EQ(first.receive().status, 503u);
  RawClient third(port);
  EXPECT_EQ(third.get("/nothing").status, 404u);
}

TEST_F(HeldBytes, takes_what_settles_and_what_is_small_while_too_much_is_held) {
  const std::uint16_t port = start_with_limit(50'000);
  RawClient first(port);
  first.send(RawClient::request("POST", "/v1/queues/q/purge", "{}" + std::string(60'000, ' ')));
  auto held = engine_.next();
  std::string receipts = R"({"items":[{"receipt":"r1","action":"ack"})";
  for (int i = 1; i < 1'000; ++i) receipts += R"(,{"receipt":"r1","action":"ack"})";
  std::string extends = R"({"items":[{"receipt":"r1"})";
  for (int i = 1; i < 1'000; ++i) extends += R"(,{"receipt":"r1"})";
  std::string keys = R"({"keys":["k")";
  for (int i = 1; i < 3'000; ++i) keys += R"(,"k")";
  const std::pair<const char*, std::string> passed[] = {
      {"/v1/settle", receipts + "]}"},
      {"/v1/extend", extends + "]}"},
      {"/v1/queues/q/cancel", keys + "]}"},
      {"http://localhost/v1/settle", receipts + "]}"},
      {"/v1/queues/q/messages", R"({"key":"k"})" + std::string(4'000, ' ')},
  };
  for (const auto& [path, body] : passed) {
    RawClient client(port);
    const std::string bytes = RawClient::request("POST", path, body, "Expect: 100-continue\r\n");
    client.send(bytes.substr(0, bytes.size() - body.size()));
    EXPECT_EQ(client.receive().status, 100u) << path;
    client.send(body);
    engine_.next().answer(Error{ErrorCode::no_space, "full"});
    EXPECT_EQ(client.receive().status, 503u) << path;
  }
  for (const char* path : {"/v1/queues/q/messages", "/v1/queues/q/reschedule", "/v1/settle/x"}) {
    RawClient client(port);
    EXPECT_EQ(client.post(path, keys + "]}").status, 429u) << path;
  }
  held.answer(core::Reply(core::CountReply{1}));
  EXPECT_EQ(first.receive().status, 200u);
}

// If bodies of requests that settle were not limited, clients that never end such bodies could use
// all memory.
TEST_F(HeldBytes, bounds_what_settles_too) {
  const std::uint16_t port = start_with_limit(50'000);
  RawClient first(port);
  first.send(RawClient::request("POST", "/v1/queues/q/purge", "{}" + std::string(60'000, ' ')));
  auto held = engine_.next();
  const std::string settle = R"({"items":[{"receipt":"r1","action":"ack"}]})";
  RawClient large(port);
  large.send(
      RawClient::request("POST", "/v1/settle", settle + std::string(session::kSettleReserve, ' ')));
  EXPECT_EQ(large.receive().status, 429u);
  EXPECT_TRUE(large.wait_for_end());
  RawClient second(port);
  second.send(RawClient::request("POST", "/v1/settle",
                                 settle + std::string(session::kSettleReserve - 10'000, ' ')));
  auto settles = engine_.next();
  RawClient third(port);
  EXPECT_EQ(third.post("/v1/settle", settle + std::string(20'000, ' ')).status, 429u);
  core::ItemsReply done;
  done.items.resize(1);
  settles.answer(core::Reply(done));
  EXPECT_EQ(second.receive().status, 200u);
  RawClient fourth(port);
  fourth.send(RawClient::request("POST", "/v1/settle", settle + std::string(20'000, ' ')));
  engine_.next().answer(core::Reply(done));
  EXPECT_EQ(fourth.receive().status, 200u);
  held.answer(core::Reply(core::CountReply{1}));
  EXPECT_EQ(first.receive().status, 200u);
}

TEST_F(HeldBytes, reads_nothing_more_while_too_much_is_held) {
  const std::uint16_t port = start_with_limit(1 << 20);
  RawClient slow(port);
  slow.send(RawClient::request("POST", "/v1/claim", R"({"queues":["q"]})"));
  // More than the sockets' buffers take.
  engine_.next().answer(one_claimed("r1", std::string(32 << 20, 'x')));
  RawClient client(port);
  const auto before = engine_.submitted();
  const std::pair<const char*, const char*> readers[] = {
      {"/v1/queues/q/messages", ""},
      {"/v1/queues/q/message?key=k", ""},
      {"/v1/queues/q/get", R"({"keys":["k"]})"},
      {"/v1/claim", R"({"queues":["q"]})"},
      {"/v1/queues", ""},
      {"/v1/queues/q", ""},
      {"/v1/queues/q/forecast?width=1m&buckets=6", ""},
      {"/v1/stats", ""},
      {"/metrics", ""},
  };
  for (const auto& [path, body] : readers) {
    const auto busy = client.ask(*body == '\0' ? "GET" : "POST", path, body);
    SCOPED_TRACE(path);
    expect_busy(busy, "all answers", 524'288);
    EXPECT_EQ(*busy.find("Retry-After"), "1");
  }
  EXPECT_EQ(engine_.submitted(), before);
  EXPECT_EQ(client.get("/healthz").status, 200u);
  const std::pair<const char*, const char*> others[] = {
      {"/v1/settle", R"({"items":[{"receipt":"r1","action":"ack"}]})"},
      {"/v1/queues/q/cancel", R"({"keys":["k"]})"},
      {"/v1/queues/q/messages", R"({"key":"k"})"},
  };
  for (const auto& [path, body] : others) {
    client.send(RawClient::request("POST", path, body));
    engine_.next().answer(Error{ErrorCode::no_space, "full"});
    EXPECT_EQ(client.receive().status, 503u) << path;
  }
  EXPECT_EQ(slow.receive().status, 200u);
  client.send(RawClient::request("GET", "/v1/stats"));
  engine_.next().answer(core::Reply(StoreStats()));
  EXPECT_EQ(client.receive().status, 200u);
}

// Requests and answers have a half of the limit each, so bodies that never end cannot stop claims.
TEST_F(HeldBytes, of_requests_stop_nothing_that_reads) {
  const std::uint16_t port = start_with_limit(1 << 20);
  RawClient stuck(port);
  const std::string body(4 << 20, ' ');
  const std::string head =
      "POST /v1/queues/q/messages HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\nContent-Length: 9000000\r\n\r\n";
  stuck.send(head + body);
  RawClient claims(port);
  while (held_by_requests(claims) < body.size()) {
  }  // waits until the server has read all that was sent
  RawClient pushes(port);
  pushes.send(head);
  EXPECT_EQ(pushes.receive().status, 429u);
  claims.send(RawClient::request("POST", "/v1/claim", R"({"queues":["q"]})"));
  engine_.next().answer(one_claimed("r1"));
  EXPECT_EQ(claims.receive().status, 200u);
  // Shows that the server has noted the hand-over of r1.
  EXPECT_EQ(claims.get("/healthz").status, 200u);
}

// The memory of a body grows as the body arrives, but not beyond its length. The metric shows the
// real memory.
TEST_F(HeldBytes, a_body_takes_no_more_than_its_length) {
  const std::uint16_t port = start();
  RawClient stuck(port);
  const std::string body((8 << 20) + 1, ' ');
  stuck.send(
      "POST /v1/queues/q/messages HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size() + 1) + "\r\n\r\n" + body);
  RawClient client(port);
  std::uint64_t held = 0;
  while (held < body.size()) held = held_by_requests(client);
  EXPECT_LE(held, body.size() + 1 + (64 << 10));  // the body, and the buffer for the next read
}

// To the server, 127.0.0.2 is another peer.
TEST_F(HeldBytes, one_peer_has_a_half_of_it) {
  const std::uint16_t port = start_with_limit(4 << 20);
  const std::string head =
      "POST /v1/queues/q/purge HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\n";
  RawClient first(port);
  first.send(head + "Content-Length: 1500000\r\n\r\n{}" + std::string(1'499'998, ' '));
  auto held = engine_.next();
  RawClient second(port);
  second.send(head + "Content-Length: 5000\r\n\r\n{}");
  expect_busy(second.receive(), "all requests of 127.0.0.1", 1'048'576);
  RawClient other(port, "127.0.0.2");
  other.send(head + "Content-Length: 5000\r\n\r\n{}" + std::string(4'998, ' '));
  engine_.next().answer(core::Reply(core::CountReply{1}));
  EXPECT_EQ(other.receive().status, 200u);
  held.answer(core::Reply(core::CountReply{1}));
  EXPECT_EQ(first.receive().status, 200u);
}

}  // namespace
}  // namespace tarry::http
