// Two fronts at once, over one engine: HTTP, and a line protocol that is defined here. The server's
// limits and figures cover the clients of both together, and the line front has no code for tokens,
// limits, hang-ups or the drain.
#include "server/session/fronts.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "server/http/front.h"
#include "server/listening/reserved_port.h"
#include "server/session/connection.h"
#include "support/fake_engine.h"
#include "support/raw_client.h"

namespace tarry::session {
namespace {

using tarry::testing::FakeEngine;
using tarry::testing::one_claimed;
using tarry::testing::RawClient;

std::string_view word_of(Refusal::Why why) {
  switch (why) {
    case Refusal::Why::too_many_connections: return "too many";
    case Refusal::Why::token_not_valid: return "token";
    case Refusal::Why::over_limit: return "over limit";
    case Refusal::Why::too_much_held: return "too much";
    case Refusal::Why::no_memory: return "no memory";
    case Refusal::Why::late: return "late";
    case Refusal::Why::closing: return "closing";
  }
  return "?";
}

/// Answers `ping` with `pong`. `claim QUEUE` waits, and is answered with `got PAYLOAD` or `none`. A
/// refused request is answered with `no WHY`.
class LineConnection final : public Connection {
 public:
  using Connection::Connection;

  void on_reply(HeldReply& reply) override {
    const auto* claimed =
        reply.result() ? std::get_if<core::ClaimReply>(&*reply.result()) : nullptr;
    if (claimed == nullptr || claimed->items.empty()) return say("none");
    say("got " + std::string(core::view(claimed->bytes, claimed->items.front().payload)));
  }
  void on_refused(const Refusal& refusal) override {
    say("no " + std::string(word_of(refusal.why)));
  }
  void free_memory() noexcept override { lines_ = {}; }

 protected:
  void on_bytes(std::string_view bytes) override {
    lines_ += bytes;
    const std::size_t end = lines_.find('\n');
    if (!is_reading() || end == std::string::npos) return;
    const std::string line = lines_.substr(0, end);
    lines_.erase(0, end + 1);
    hold_request(memory_of(line));
    session().set_identity(identity::anyone());
    const bool pings = line == "ping";
    if (const auto refused = session().begin(pings ? Urgency::probe : Urgency::ordinary)) {
      return on_refused(*refused);
    }
    if (pings) return say("pong");
    core::ClaimRequest claim;
    claim.queues.push_back(line.substr(line.find(' ') + 1));
    claim.wait = Millis(60'000);
    ask(std::move(claim));
  }
  [[nodiscard]] Incoming incoming() const noexcept override {
    return lines_.empty() ? Incoming::nothing : Incoming::head;
  }
  [[nodiscard]] bool is_full() const noexcept override { return lines_.size() > 64 * 1024; }
  [[nodiscard]] std::uint64_t kept() const noexcept override { return memory_of(lines_); }
  void on_sent() override {
    if (context().draining || session().is_on_reserve()) {
      linger(Millis(1'000));
    } else {
      next_request();
    }
  }

 private:
  void say(std::string text) {
    RequestNote note;
    note.route = "line";
    note.status = 200;
    begin_answer(note);
    send("", std::move(text) + "\n");
  }

  std::string lines_;
};

class LineFront final : public Front {
 public:
  explicit LineFront(ServerContext& context) : Front(context, "line") {}
  [[nodiscard]] std::shared_ptr<Connection> connect(listening::Stream stream) override {
    return std::make_shared<LineConnection>(*this, std::move(stream));
  }
};

MakeFront make_line_front() {
  return [](ServerContext& context) { return std::make_unique<LineFront>(context); };
}

class TwoFronts : public ::testing::Test {
 protected:
  void start(Options options = {}) {
    server_.emplace(engine_, std::move(options));
    std::vector<Listening> places;
    http_ = add(places, http::make_front({}));
    line_ = add(places, make_line_front());
    const auto begun = server_->start(std::move(places));
    ASSERT_TRUE(begun) << begun.error().message;
  }

  static std::uint16_t add(std::vector<Listening>& places, MakeFront front) {
    auto port = listening::ReservedPort::reserve("127.0.0.1", 0);
    EXPECT_TRUE(port) << port.error().message;
    const std::uint16_t number = port->port();
    places.push_back({std::move(front), std::move(*port)});
    return number;
  }

  /// Sends a claim over HTTP, which waits, and returns it as the engine has it.
  FakeEngine::Held claim_over_http(RawClient& client) {
    client.send(RawClient::request("POST", "/v1/claim", R"({"queues":["q"],"wait":"1m"})"));
    return engine_.next();
  }
  FakeEngine::Held claim_over_lines(RawClient& client, const std::string& queue = "q") {
    client.send("claim " + queue + "\n");
    return engine_.next();
  }

  FakeEngine engine_;
  std::optional<Fronts> server_;
  std::uint16_t http_ = 0;
  std::uint16_t line_ = 0;
};

TEST_F(TwoFronts, answer_each_in_its_own_protocol) {
  start();
  RawClient http(http_);
  RawClient line(line_);
  auto from_http = claim_over_http(http);
  auto from_line = claim_over_lines(line);
  EXPECT_EQ(std::get<core::ClaimRequest>(from_line.request).queues.front(), "q");
  from_line.answer(one_claimed("r1", "for the line"));
  from_http.answer(one_claimed("r2", "for http"));
  EXPECT_EQ(line.receive_line(), "got for the line");
  EXPECT_NE(http.receive().body.find("for http"), std::string::npos);
  line.send("ping\nping\n");
  EXPECT_EQ(line.receive_line(), "pong");
  EXPECT_EQ(line.receive_line(), "pong");
}

TEST_F(TwoFronts, count_their_clients_apart) {
  start();
  RawClient line(line_);
  line.send("ping\n");
  EXPECT_EQ(line.receive_line(), "pong");
  RawClient http(http_);
  http.send(RawClient::request("GET", "/metrics"));
  engine_.next().answer(core::Reply(StoreStats()));
  const std::string text = http.receive().body;
  for (const char* told : {"\ntarry_http_connections 1\n", "\ntarry_line_connections 1\n",
                           "\ntarry_line_requests_total{route=\"line\",code=\"200\"} 1\n"}) {
    EXPECT_NE(text.find(told), std::string::npos) << told << text;
  }
}

TEST_F(TwoFronts, share_the_limit_of_connections) {
  Options options;
  options.max_connections = 1;
  start(std::move(options));
  RawClient idle(line_);
  idle.send("ping\n");
  EXPECT_EQ(idle.receive_line(), "pong");
  RawClient http(http_);
  auto waits = claim_over_http(http);
  EXPECT_TRUE(idle.wait_for_end());  // closed to make room for the client of the other front
  RawClient other(line_);
  other.send("claim q\n");
  EXPECT_EQ(other.receive_line(), "no too many");
  EXPECT_TRUE(other.wait_for_end());
  RawClient probe(line_);
  probe.send("ping\n");
  EXPECT_EQ(probe.receive_line(), "pong");
  waits.answer(core::Reply(core::ClaimReply()));
  EXPECT_EQ(http.receive().status, 200u);
}

TEST_F(TwoFronts, share_what_may_be_held) {
  Options options;
  options.max_held_bytes = 64 * 1024;  // a half of it is for answers and waiting claims
  start(std::move(options));
  RawClient line(line_);
  auto large = claim_over_lines(line, std::string(40'000, 'q'));
  RawClient http(http_, "127.0.0.2");
  EXPECT_EQ(http.post("/v1/claim", R"({"queues":["q"]})").status, 429u);
  line.close();
  engine_.wait_for_withdrawal(large.ticket);
  large.answer(core::Reply(core::ClaimReply()));
  auto asked = claim_over_http(http);
  asked.answer(core::Reply(core::ClaimReply()));
  EXPECT_EQ(http.receive().status, 200u);
}

TEST_F(TwoFronts, drain_together) {
  start();
  RawClient idle(line_);
  idle.send("ping\n");
  EXPECT_EQ(idle.receive_line(), "pong");
  RawClient http(http_);
  RawClient line(line_);
  auto from_http = claim_over_http(http);
  auto from_line = claim_over_lines(line);
  std::promise<std::size_t> open;
  server_->drain(Millis(60'000), [&](std::size_t n) { open.set_value(n); });
  for (FakeEngine::Held* claim : {&from_http, &from_line}) {
    engine_.wait_for_withdrawal(claim->ticket);
    claim->answer(core::Reply(core::ClaimReply()));
  }
  EXPECT_EQ(line.receive_line(), "no closing");
  const auto closing = http.receive();
  EXPECT_EQ(closing.status, 503u);
  EXPECT_NE(closing.body.find(R"("code":"closing")"), std::string::npos) << closing.body;
  EXPECT_TRUE(idle.wait_for_end());
  http.close();
  line.close();
  EXPECT_EQ(open.get_future().get(), 0u);
  EXPECT_FALSE(RawClient(http_).connected());
  EXPECT_FALSE(RawClient(line_).connected());
}

TEST_F(TwoFronts, end_claims_of_both_when_the_token_is_replaced) {
  Options options;
  start(std::move(options));
  RawClient http(http_);
  RawClient line(line_);
  auto from_http = claim_over_http(http);
  auto from_line = claim_over_lines(line);
  server_->set_tokens(identity::Tokens::of("sixteen-letters-"));
  for (FakeEngine::Held* claim : {&from_http, &from_line}) {
    engine_.wait_for_withdrawal(claim->ticket);
    claim->answer(core::Reply(core::ClaimReply()));
  }
  EXPECT_EQ(http.receive().status, 401u);
  EXPECT_EQ(line.receive_line(), "no token");
}

TEST_F(TwoFronts, give_back_what_a_client_that_has_gone_was_to_get) {
  start();
  RawClient line(line_);
  auto waits = claim_over_lines(line);
  line.reset();
  engine_.wait_for_withdrawal(waits.ticket);
  waits.answer(one_claimed("r1"));
  auto released = engine_.next();
  const auto& settle = std::get<core::SettleRequest>(released.request);
  ASSERT_EQ(settle.items.size(), 1u);
  EXPECT_EQ(core::view(settle.bytes, settle.items[0].receipt), "r1");
  EXPECT_EQ(settle.items[0].action, core::SettleAction::release);
  released.answer(core::Reply(core::ItemsReply()));
}

TEST_F(TwoFronts, listen_both_or_not_at_all) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("fronts-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string free = folder / "free";
  const std::string taken = folder / "taken";
  std::ofstream(taken) << "a file";
  Fronts server(engine_, Options{});
  std::vector<Listening> places;
  places.push_back({http::make_front({}), free});
  places.push_back({make_line_front(), taken});
  const auto begun = server.start(std::move(places));
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::conflict);
  EXPECT_FALSE(std::filesystem::exists(free));
  EXPECT_TRUE(std::filesystem::exists(taken));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tarry::session
