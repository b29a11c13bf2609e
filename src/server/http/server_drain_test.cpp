// The drain and the end of a server with claims that wait: nothing is lost on the way.
#include <functional>
#include <future>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/waiting_claim_rig.h"

namespace tarry::http {
namespace {

using tarry::testing::having_settled;
using tarry::testing::kClaim;
using tarry::testing::kSettlesToo;
using tarry::testing::one_claimed;
using tarry::testing::RawClient;

class ServerDrain : public testing::WaitingClaimRig {};

TEST_F(ServerDrain, is_released_when_the_server_stops) {
  RawClient client(port_);
  auto held = wait_with(client);
  auto stopped = std::async(std::launch::async, [&] { server_->stop(); });
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(one_claimed("r1"));
  EXPECT_EQ(released(), "r1;");
  stopped.get();
  EXPECT_TRUE(client.wait_for_end());
}

// Without the 503, a client that does not look at the answer would repeat a claim that got an empty
// list at once.
TEST_F(ServerDrain, is_told_that_the_server_closes_when_it_drains) {
  RawClient client(port_);
  auto held = wait_with(client);
  auto open = std::async(std::launch::async, [&] { return drain(Millis(60'000)); });
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(core::Reply(core::ClaimReply()));
  const auto response = client.receive();
  EXPECT_EQ(response.status, 503u);
  EXPECT_NE(response.body.find(R"("code":"closing")"), std::string::npos) << response.body;
  EXPECT_EQ(*response.find("Retry-After"), "1");
  EXPECT_EQ(*response.find("Connection"), "close");
  client.close();
  EXPECT_EQ(open.get(), 0u);
}

TEST_F(ServerDrain, whose_settlements_are_done_answers_them_when_the_server_drains) {
  RawClient client(port_);
  client.send(RawClient::request("POST", "/v1/claim", kSettlesToo));
  auto held = engine_.next();
  auto open = std::async(std::launch::async, [&] { return drain(Millis(60'000)); });
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(having_settled());
  const auto response = client.receive();
  EXPECT_EQ(response.status, 200u);
  EXPECT_NE(response.body.find(R"("settled":[{"outcome":"done"})"), std::string::npos);
  EXPECT_NE(response.body.find("the server is being stopped"), std::string::npos) << response.body;
  client.close();
  EXPECT_EQ(open.get(), 0u);
}

TEST_F(ServerDrain, that_has_something_is_not_cut_by_a_drain) {
  RawClient client(port_);
  auto held = wait_with(client);
  auto open = std::async(std::launch::async, [&] { return drain(Millis(60'000)); });
  engine_.wait_for_withdrawal(held.ticket);
  const std::string payload(4 << 20, 'x');
  held.answer(one_claimed("r1", payload));
  const auto response = client.receive();
  EXPECT_EQ(response.status, 200u);
  EXPECT_NE(response.body.find(payload), std::string::npos);
  client.close();
  EXPECT_EQ(open.get(), 0u);
  server_->stop();
  EXPECT_EQ(engine_.submitted(), 1u);  // nothing was released
}

TEST_F(ServerDrain, drain_closes_the_idle_and_takes_nobody_new) {
  RawClient idle(port_);
  EXPECT_EQ(idle.get("/healthz").status, 200u);
  EXPECT_EQ(drain(Millis(60'000)), 0u);
  EXPECT_TRUE(idle.wait_for_end());
  EXPECT_FALSE(RawClient(port_).connected());
}

// Keeps the server's thread busy within a request.
class BusyServer {
 public:
  // Must be set in the options of the server.
  [[nodiscard]] std::function<void(const RequestNote&)> hook() {
    return [this](const RequestNote& note) {
      if (note.id != "hold") return;
      held_.set_value();
      go_on_.get_future().wait();
    };
  }
  void hold(RawClient& client) {
    client.send(RawClient::request("GET", "/healthz", "", "X-Request-ID: hold\r\n"));
    held_.get_future().wait();
  }
  void go_on() { go_on_.set_value(); }

 private:
  std::promise<void> held_;
  std::promise<void> go_on_;
};

TEST_F(ServerDrain, drain_answers_what_was_sent_before_it) {
  BusyServer busy;
  ServerOptions options;
  options.on_request = busy.hook();
  start(std::move(options));
  RawClient idle(port_);
  EXPECT_EQ(idle.get("/healthz").status, 200u);
  RawClient holder(port_);
  busy.hold(holder);
  // The first request is on a connection that the server knows, the two others on connections that
  // it has not accepted yet.
  idle.send(RawClient::request("POST", "/v1/queues/q/purge"));
  RawClient fresh(port_);
  fresh.send(RawClient::request("POST", "/v1/queues/q/purge"));
  RawClient fresher(port_);
  fresher.send(RawClient::request("POST", "/v1/queues/q/purge"));
  std::promise<std::size_t> open;
  server_->drain(Millis(60'000), [&](std::size_t n) { open.set_value(n); });
  busy.go_on();
  for (int i = 0; i < 3; ++i) engine_.next().answer(core::Reply(core::CountReply{9}));
  for (RawClient* client : {&idle, &fresh, &fresher}) {
    const auto answer = client->receive();
    EXPECT_EQ(answer.body, R"({"count":9})");
    ASSERT_NE(answer.find("Connection"), nullptr);
    EXPECT_EQ(*answer.find("Connection"), "close");
    EXPECT_TRUE(client->wait_for_end());
    client->close();
  }
  EXPECT_EQ(holder.receive().status, 200u);
  EXPECT_TRUE(holder.wait_for_end());
  EXPECT_EQ(open.get_future().get(), 0u);
  EXPECT_FALSE(RawClient(port_).connected());
}

TEST_F(ServerDrain, drain_lets_a_request_that_was_begun_finish) {
  RawClient client(port_);
  EXPECT_EQ(client.get("/healthz").status, 200u);
  RawClient asking(port_);
  asking.send(RawClient::request("POST", "/v1/queues/q/purge"));
  auto purge = engine_.next();
  auto open = std::async(std::launch::async, [&] { return drain(Millis(60'000)); });
  EXPECT_TRUE(client.wait_for_end());  // shows that the drain has begun
  purge.answer(core::Reply(core::CountReply{9}));
  EXPECT_EQ(asking.receive().body, R"({"count":9})");
  asking.close();
  EXPECT_EQ(open.get(), 0u);
}

TEST_F(ServerDrain, begun_while_the_server_drains_does_not_wait) {
  engine_.complete_withdrawn();
  RawClient idle(port_);
  EXPECT_EQ(idle.get("/healthz").status, 200u);
  RawClient client(port_);
  EXPECT_EQ(client.get("/healthz").status, 200u);
  const std::string request = RawClient::request("POST", "/v1/claim", kClaim) +
                              RawClient::request("POST", "/v1/claim", kClaim);
  const std::size_t half = request.size() / 4;
  client.send(request.substr(0, half));
  // By now the server has read the first half.
  EXPECT_EQ(RawClient(port_).get("/healthz").status, 200u);
  auto open = std::async(std::launch::async, [&] { return drain(Millis(60'000)); });
  EXPECT_TRUE(idle.wait_for_end());
  client.send(request.substr(half));
  EXPECT_EQ(client.receive().status, 503u);
  client.close();
  EXPECT_EQ(open.get(), 0u);
  EXPECT_EQ(engine_.submitted(), 1u);  // the second claim was not begun
}

TEST_F(ServerDrain, drain_ends_at_its_deadline) {
  RawClient client(port_);
  auto held = wait_with(client);
  EXPECT_EQ(drain(Millis(20)), 1u);
  held.answer(core::Reply(core::ClaimReply()));
  EXPECT_EQ(client.receive().status, 503u);
}

}  // namespace
}  // namespace tarry::http
