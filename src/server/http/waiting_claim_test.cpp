// Claims that wait, and clients that go away: nothing is lost on the way.
#include <atomic>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/waiting_claim_rig.h"

namespace tarry::http {
namespace {

using tarry::testing::FakeEngine;
using tarry::testing::having_settled;
using tarry::testing::kClaim;
using tarry::testing::kSettlesToo;
using tarry::testing::one_claimed;
using tarry::testing::RawClient;

class WaitingClaim : public testing::WaitingClaimRig {};

TEST_F(WaitingClaim, is_answered_when_something_is_due) {
  RawClient client(port_);
  auto held = wait_with(client);
  held.answer(one_claimed("r1"));
  const auto response = client.receive();
  EXPECT_EQ(response.status, 200u);
  EXPECT_NE(response.body.find(R"("receipt":"r1")"), std::string::npos);
  EXPECT_EQ(client.get("/healthz").status, 200u);
  client.close();
  server_->stop();
  EXPECT_EQ(engine_.submitted(), 1u);  // nothing was released
}

TEST_F(WaitingClaim, says_how_long_it_waited_before_its_leases_began) {
  RawClient client(port_);
  auto held = wait_with(client);
  core::ClaimReply reply;
  reply.begun_at = base::BootClock::now() + Millis(60'000);
  held.answer(core::Reply(std::move(reply)));
  const std::string body = client.receive().body;
  EXPECT_TRUE(body.starts_with(R"({"messages":[],"waited_ms":60)")) << body;
}

TEST_F(WaitingClaim, is_withdrawn_when_the_client_hangs_up) {
  RawClient client(port_);
  auto held = wait_with(client);
  client.close();
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(core::Reply(core::ClaimReply()));
  server_->stop();
  EXPECT_EQ(engine_.submitted(), 1u);
}

TEST_F(WaitingClaim, is_withdrawn_when_the_client_is_reset_or_stops_sending) {
  RawClient reset(port_);
  auto first = wait_with(reset);
  reset.reset();
  engine_.wait_for_withdrawal(first.ticket);
  first.answer(core::Reply(core::ClaimReply()));

  RawClient half(port_);
  auto second = wait_with(half);
  half.end_sending();
  engine_.wait_for_withdrawal(second.ticket);
  second.answer(core::Reply(core::ClaimReply()));
  EXPECT_TRUE(half.wait_for_end());
}

TEST_F(WaitingClaim, that_was_answered_as_the_client_hung_up_is_released) {
  RawClient client(port_);
  auto held = wait_with(client);
  client.close();
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(one_claimed("r1"));  // the engine's answer and the withdrawal have crossed
  EXPECT_EQ(released(), "r1;");
}

TEST_F(WaitingClaim, behind_which_too_much_is_sent_is_withdrawn) {
  RawClient client(port_);
  auto held = wait_with(client);
  // More bytes than the server keeps: it reads no further, so it could not see that the client
  // hangs up.
  const std::string get = RawClient::request("GET", "/healthz");
  std::size_t count = 0;
  std::string all;
  for (; all.size() < 100'000; ++count) all += get;
  client.send(all);
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(core::Reply(core::ClaimReply()));
  EXPECT_EQ(client.receive().body, R"({"messages":[]})");
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(client.receive().status, 200u) << i;
}

TEST_F(WaitingClaim, that_is_read_when_too_much_is_behind_it_already_is_withdrawn) {
  RawClient client(port_);
  client.send(RawClient::request("POST", "/v1/queues/q/purge"));
  auto purge = engine_.next();
  client.send(RawClient::request("POST", "/v1/claim", kClaim) + std::string(100'000, 'x'));
  purge.answer(core::Reply(core::CountReply{9}));
  EXPECT_EQ(client.receive().body, R"({"count":9})");
  auto held = engine_.next();
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(core::Reply(core::ClaimReply()));
  EXPECT_EQ(client.receive().status, 200u);
}

TEST_F(WaitingClaim, whose_client_ended_behind_unread_bytes_is_released) {
  RawClient client(port_);
  auto held = wait_with(client);
  client.send(std::string(100'000, 'x'));
  engine_.wait_for_withdrawal(held.ticket);  // from now on the server reads no more
  client.end_sending();
  held.answer(one_claimed("r1"));  // the engine's answer and the withdrawal have crossed
  EXPECT_EQ(released(), "r1;");
}

TEST_F(WaitingClaim, whose_client_sends_no_more_is_withdrawn_at_once) {
  RawClient client(port_);
  client.send(RawClient::request("POST", "/v1/queues/q/purge") +
              RawClient::request("POST", "/v1/claim", kClaim));
  auto purge = engine_.next();
  client.end_sending();
  purge.answer(core::Reply(core::CountReply{9}));
  EXPECT_EQ(client.receive().body, R"({"count":9})");
  auto held = engine_.next();
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(core::Reply(core::ClaimReply()));
  EXPECT_TRUE(client.wait_for_end());
}

TEST_F(WaitingClaim, whose_client_went_unseen_is_released) {
  RawClient client(port_);
  auto held = wait_with(client);
  // More pipelined bytes than the server keeps: it reads no further, and cannot see that the client
  // hangs up.
  client.send(std::string(100'000, 'x'));
  client.reset();
  held.answer(one_claimed("r1", std::string(1 << 20, 'x')));
  EXPECT_EQ(released(), "r1;");
}

TEST_F(WaitingClaim, whose_reply_is_cut_is_released) {
  RawClient client(port_);
  auto held = wait_with(client);
  // The answer is too large for the kernel's buffers, so the write is still in progress when the
  // client goes.
  held.answer(one_claimed("r1", std::string(32 << 20, 'x')));
  client.reset();
  EXPECT_EQ(released(), "r1;");
}

TEST_F(WaitingClaim, whose_client_does_not_read_is_released) {
  ServerOptions options;
  options.write_deadline = Millis(20);
  start(options);
  RawClient client(port_);
  auto held = wait_with(client);
  held.answer(one_claimed("r1", std::string(32 << 20, 'x')));
  EXPECT_EQ(released(), "r1;");
  EXPECT_EQ(client.receive().status, 0u);  // the answer is cut off, and the connection closed
}

TEST_F(WaitingClaim, counts_for_what_it_holds) {
  ServerOptions options;
  options.max_held_bytes = 50'000;
  start(std::move(options));
  // Each name is short in JSON, but takes more memory.
  std::string body = R"({"wait":"1m","queues":["q")";
  for (int i = 1; i < 2'000; ++i) body += R"(,"q")";
  body += "]}";
  RawClient first(port_);
  // Over the limit, but nothing else is held.
  first.send(RawClient::request("POST", "/v1/claim", body));
  auto held = engine_.next();
  RawClient second(port_);
  EXPECT_EQ(second.post("/v1/claim", R"({"queues":["q"]})").status, 429u);
  held.answer(core::Reply(core::ClaimReply()));
  EXPECT_EQ(first.receive().status, 200u);
  second.send(RawClient::request("POST", "/v1/claim", body));
  engine_.next().answer(core::Reply(core::ClaimReply()));
  EXPECT_EQ(second.receive().status, 200u);
}

TEST_F(WaitingClaim, counts_for_what_is_sent_ahead) {
  ServerOptions options;
  options.max_held_bytes = 20'000;
  start(std::move(options));
  const auto begin_body = [&] {
    auto client = std::make_unique<RawClient>(port_);
    client->send(
        "POST /v1/queues/q/purge HTTP/1.1\r\nHost: localhost\r\n"
        "Content-Type: application/json\r\nExpect: 100-continue\r\n"
        "Content-Length: 5000\r\n\r\n");
    return client;
  };
  RawClient ahead(port_);
  auto held = wait_with(ahead);
  ahead.send(std::string(40'000, 'x'));
  unsigned status = 0;
  for (int i = 0; i < 10'000 && status != 429; ++i) status = begin_body()->receive().status;
  EXPECT_EQ(status, 429u);  // comes once the server has read the bytes
  ahead.reset();
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(core::Reply(core::ClaimReply()));
  EXPECT_EQ(begin_body()->receive().status, 100u);
}

// A payload that is larger than the sockets' buffers, so that the server holds it until its client
// is gone.
const std::string& never_taken() {
  static const std::string payload(32 << 20, 'x');
  return payload;
}

TEST_F(WaitingClaim, whose_reply_comes_while_too_much_is_held_is_released) {
  ServerOptions options;
  options.max_held_bytes = 1 << 20;
  start(std::move(options));
  RawClient first(port_);
  auto answered = wait_with(first);
  RawClient second(port_);
  auto held = wait_with(second);
  RawClient getting(port_);
  getting.send(RawClient::request("POST", "/v1/queues/q/get", R"({"keys":["k"]})"));
  auto get = engine_.next();
  answered.answer(one_claimed("r1", never_taken()));
  held.answer(one_claimed("r2"));
  EXPECT_EQ(released(), "r2;");
  const auto busy = second.receive();
  expect_busy(busy, "all answers", 524'288);
  core::GetReply got;
  got.items.emplace_back(MessageInfo());
  got.bytes = sizeof(MessageInfo);
  get.answer(core::Reply(got));
  EXPECT_EQ(getting.receive().status, 429u);
  first.reset();
  EXPECT_EQ(released(), "r1;");
  auto again = wait_with(second);
  again.answer(one_claimed("r3"));
  EXPECT_EQ(second.receive().status, 200u);
  // Shows that the server has noted the hand-over of r3.
  EXPECT_EQ(second.get("/healthz").status, 200u);
}

TEST_F(WaitingClaim, whose_turn_to_be_written_comes_while_too_much_is_held_is_released) {
  std::promise<void> looks_away;
  std::promise<void> looks_again;
  ServerOptions options;
  options.max_held_bytes = 20 << 20;
  options.on_request = [&](const RequestNote& note) {
    if (note.route != "/healthz") return;
    looks_away.set_value();
    looks_again.get_future().get();
  };
  start(std::move(options));
  RawClient first(port_);
  auto large = wait_with(first);
  RawClient second(port_);
  auto small = wait_with(second);
  RawClient other(port_);
  other.send(RawClient::request("GET", "/healthz"));
  looks_away.get_future().get();
  large.answer(one_claimed("r1", std::string(6 << 20, '\0')));  // as JSON it is six times as large
  small.answer(one_claimed("r2"));
  looks_again.set_value();
  EXPECT_EQ(released(), "r2;");
  EXPECT_EQ(second.receive().status, 429u);
  EXPECT_EQ(other.receive().status, 200u);
  first.reset();
  EXPECT_EQ(released(), "r1;");
}

TEST_F(WaitingClaim, whose_reply_has_no_memory_is_released) {
  ServerOptions options;
  options.on_request = [](const RequestNote& note) {
    if (note.route == "/v1/claim") throw std::bad_alloc();
  };
  start(std::move(options));
  RawClient client(port_);
  auto held = wait_with(client);
  held.answer(one_claimed("r1"));
  EXPECT_EQ(released(), "r1;");
  EXPECT_EQ(client.receive().status, 0u);
  EXPECT_TRUE(client.wait_for_end());
}

// An engine that accepts a request and then throws, because it has no memory to say so.
class ThrowingEngine : public FakeEngine {
 public:
  core::Ticket submit(core::Request request, core::Completion completion) override {
    const core::Ticket ticket = FakeEngine::submit(std::move(request), std::move(completion));
    if (ticket == 1) throw std::bad_alloc();
    return ticket;
  }
};

TEST_F(WaitingClaim, that_the_engine_kept_as_it_threw_is_released) {
  ThrowingEngine engine;
  ServerOptions options = at_a_free_port();
  Server server(engine, options);
  RawClient client(*server.start());
  client.send(RawClient::request("POST", "/v1/claim", kClaim));
  auto held = engine.next();
  EXPECT_EQ(client.receive().status, 0u);  // no 503, because the request may have been carried out
  EXPECT_TRUE(client.wait_for_end());
  held.answer(one_claimed("r1"));
  auto release = engine.next();
  EXPECT_EQ(std::get<core::SettleRequest>(release.request).bytes, "r1");
  release.answer(core::Reply(core::ItemsReply()));
}

TEST_F(WaitingClaim, that_cannot_be_released_is_warned_of) {
  RawClient client(port_);
  auto held = wait_with(client);
  client.close();
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(one_claimed("r1"));
  engine_.next().answer(Error{ErrorCode::io_error, "the disk failed"});
  EXPECT_EQ(warned_.get_future().get(),
            "1 claimed messages could not be released, and wait for their leases: "
            "the disk failed");
}

TEST_F(WaitingClaim, whatever_leaves_a_handler_does_not_end_the_server) {
  ServerOptions options = at_a_free_port();
  std::promise<void> warned;
  options.log = [&](std::string_view line) {
    if (line.find("could not be released") != line.npos) warned.set_value();
    throw std::runtime_error("there is no log");
  };
  Server server(engine_, std::move(options));
  const std::uint16_t port = *server.start();
  RawClient client(port);
  auto held = wait_with(client);
  client.close();
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(one_claimed("r1"));
  engine_.next().answer(Error{ErrorCode::io_error, "the disk failed"});
  warned.get_future().get();
  EXPECT_EQ(RawClient(port).get("/nothing").status, 404u);
}

TEST_F(WaitingClaim, brings_its_settlements_with_it) {
  RawClient client(port_);
  client.send(RawClient::request("POST", "/v1/claim", kSettlesToo));
  auto held = engine_.next();
  const auto& settle = std::get<core::ClaimRequest>(held.request).settle;
  ASSERT_EQ(settle.items.size(), 1u);
  EXPECT_EQ(core::view(settle.bytes, settle.items[0].receipt), "r0");
  held.answer(having_settled());
  EXPECT_EQ(client.receive().body,
            R"({"messages":[],"settled":[{"outcome":"done"},{"error":{"code":"invalid_argument",)"
            R"("message":"the item lacks \"action\""}}]})");
}

constexpr const char* kOldToken = "old-of-sixteen-characters";
constexpr const char* kNewToken = "new-of-sixteen-characters";

std::string authorized(std::string_view token) {
  return RawClient::request("POST", "/v1/claim", kClaim,
                            "Authorization: Bearer " + std::string(token) + "\r\n");
}

TEST_F(WaitingClaim, ends_when_another_token_takes_the_place_of_its_own) {
  ServerOptions options;
  options.tokens = identity::Tokens::of(kOldToken);
  start(std::move(options));
  RawClient nothing(port_);
  nothing.send(authorized(kOldToken));
  auto waiting = engine_.next();
  RawClient taken(port_);
  taken.send(authorized(kOldToken));
  auto claimed = engine_.next();
  RawClient coming(port_);
  const std::string request = authorized(kOldToken);
  coming.send(request.substr(0, request.size() - 1));
  // By now the server has read the request.
  EXPECT_EQ(RawClient(port_).get("/healthz").status, 200u);
  server_->set_tokens(identity::Tokens::of(kOldToken));  // changes nothing
  server_->set_tokens(identity::Tokens::of(kNewToken));
  EXPECT_EQ(coming.receive().status, 401u);
  engine_.wait_for_withdrawal(waiting.ticket);
  waiting.answer(core::Reply(core::ClaimReply()));
  const auto refused = nothing.receive();
  EXPECT_EQ(refused.status, 401u);
  EXPECT_NE(refused.body.find("the token is no longer valid"), std::string::npos);
  EXPECT_TRUE(nothing.wait_for_end());
  engine_.wait_for_withdrawal(claimed.ticket);
  claimed.answer(one_claimed("r1"));
  EXPECT_EQ(released(), "r1;");
  EXPECT_EQ(taken.receive().status, 401u);

  RawClient next(port_);
  next.send(authorized(kNewToken));
  engine_.next().answer(one_claimed("r2"));
  EXPECT_EQ(next.receive().status, 200u);
  // Shows that the server has noted the hand-over of r2.
  EXPECT_EQ(next.get("/healthz").status, 200u);
}

TEST_F(WaitingClaim, whose_settlements_are_done_answers_them_when_its_token_ends) {
  ServerOptions options;
  options.tokens = identity::Tokens::of(kOldToken);
  start(std::move(options));
  RawClient client(port_);
  client.send(RawClient::request("POST", "/v1/claim", kSettlesToo,
                                 "Authorization: Bearer " + std::string(kOldToken) + "\r\n"));
  auto held = engine_.next();
  server_->set_tokens(identity::Tokens::of(kNewToken));
  engine_.wait_for_withdrawal(held.ticket);
  held.answer(having_settled(one_claimed("r1")));
  EXPECT_EQ(released(), "r1;");
  const auto response = client.receive();
  EXPECT_EQ(response.status, 200u);
  EXPECT_TRUE(response.body.starts_with(R"({"messages":[],"settled":[{"outcome":"done"})"))
      << response.body;
  EXPECT_NE(response.body.find("the token is no longer valid"), std::string::npos);
}

// Of two tokens that are valid at the same time, one goes and the other one stays.
TEST_F(WaitingClaim, stays_when_another_token_than_its_own_is_withdrawn) {
  ServerOptions options;
  const auto listed = [](const char* name, const char* secret) {
    return identity::Identity{
        name, identity::Scopes::all(), {"*"}, {}, identity::digest_of(secret)};
  };
  options.tokens.add(listed("old", kOldToken));
  options.tokens.add(listed("new", kNewToken));
  start(std::move(options));
  RawClient with_old(port_);
  with_old.send(authorized(kOldToken));
  auto of_old = engine_.next();
  RawClient with_new(port_);
  with_new.send(authorized(kNewToken));
  auto of_new = engine_.next();
  identity::Tokens after;
  after.add(listed("new", kNewToken));
  server_->set_tokens(std::move(after));
  engine_.wait_for_withdrawal(of_old.ticket);
  of_old.answer(core::Reply(core::ClaimReply()));
  EXPECT_EQ(with_old.receive().status, 401u);
  of_new.answer(one_claimed("r1"));
  EXPECT_EQ(with_new.receive().status, 200u);
  // Shows that the server has noted the hand-over of r1.
  EXPECT_EQ(with_new.get("/healthz").status, 200u);
}

TEST_F(WaitingClaim, gets_nothing_once_its_token_has_ended) {
  constexpr std::int64_t kEnds = 1'800'000'000'000;
  std::atomic<std::int64_t> now = kEnds - 1;
  ServerOptions options;
  options.token_clock = [&now] { return Time(Millis(now)); };
  options.tokens.add({"brief",
                      identity::Scopes::all(),
                      {"*"},
                      Time(Millis(kEnds)),
                      identity::digest_of(kOldToken)});
  start(std::move(options));
  RawClient client(port_);
  client.send(authorized(kOldToken));
  auto waiting = engine_.next();
  now = kEnds;
  waiting.answer(one_claimed("r1"));
  EXPECT_EQ(released(), "r1;");
  EXPECT_EQ(client.receive().status, 401u);
  server_.reset();  // before its clock
}

}  // namespace
}  // namespace tarry::http
