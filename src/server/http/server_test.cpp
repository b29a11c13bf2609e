// The server over real sockets, on a free port: HTTP as such. Waiting claims, the drain, deadlines
// and the limits have test files of their own.
#include "server/http/server.h"

#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/http_server_rig.h"
#include "wire/parts/problem.h"

namespace tarry::http {
namespace {

using tarry::testing::RawClient;

class ServerTest : public testing::HttpServerRig {};

TEST_F(ServerTest, listens_on_loopback_only) {
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "192.168.1.1"}) {
    ServerOptions options;
    options.address = address;
    Server server(engine_, options);
    const auto port = server.start();
    ASSERT_FALSE(port) << address;
    EXPECT_EQ(port.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(port.error().message.find("is not loopback"), std::string::npos);
  }
  ServerOptions options;
  options.address = "example";
  Server server(engine_, options);
  EXPECT_EQ(server.start().error().message, "listen address \"example\" is not an IP address");
}

TEST_F(ServerTest, names_a_port_that_is_taken) {
  ServerOptions options;
  options.port = start();
  Server second(engine_, options);
  const auto port = second.start();
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().code, ErrorCode::conflict);
  EXPECT_EQ(port.error().message, "cannot listen on 127.0.0.1:" + std::to_string(options.port) +
                                      ": Address already in use");
}

TEST_F(ServerTest, answers_health) {
  RawClient client(start());
  const auto response = client.get("/healthz");
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(*response.find("Content-Type"), "application/json");
  EXPECT_EQ(*response.find("Cache-Control"), "no-store");
  EXPECT_NE(response.body.find(R"("service":"tarry")"), std::string::npos);
  EXPECT_NE(response.body.find(R"("engine":"fake")"), std::string::npos);
}

TEST_F(ServerTest, is_not_well_once_the_engine_has_stopped) {
  RawClient client(start());
  // A stopped engine answers every request with the error that stopped it.
  for (const ErrorCode code : {ErrorCode::io_error, ErrorCode::closed, ErrorCode::not_found}) {
    client.send(RawClient::request("POST", "/v1/queues/q/purge"));
    engine_.next().answer(Error{code, "the disk failed"});
    EXPECT_NE(client.receive().status, 200u);
    client.send(RawClient::request("GET", "/healthz"));
    auto asked = engine_.next();
    EXPECT_EQ(std::get<core::StatsRequest>(asked.request).queue, "");
    asked.answer(Error{code, "the disk failed"});
    const auto response = client.receive();
    EXPECT_EQ(response.status, 503u);
    EXPECT_EQ(*response.find("Content-Type"), "application/problem+json");
    const char* says = code == ErrorCode::closed ? R"("code":"closed")" : R"("code":"io_error")";
    EXPECT_NE(response.body.find(says), std::string::npos) << response.body;
    EXPECT_NE(response.body.find(R"("detail":"the disk failed")"), std::string::npos);
  }
}

TEST_F(ServerTest, is_well_where_only_one_request_failed) {
  RawClient client(start());
  client.send(RawClient::request("POST", "/v1/queues/q/purge"));
  engine_.next().answer(Error{ErrorCode::io_error, "a file could not be read"});
  EXPECT_EQ(client.receive().status, 500u);
  client.send(RawClient::request("GET", "/healthz"));
  engine_.next().answer(core::Reply(StoreStats()));
  const auto response = client.receive();
  EXPECT_EQ(response.status, 200u);
  EXPECT_NE(response.body.find(R"("status":"ok")"), std::string::npos);
  EXPECT_EQ(client.get("/healthz").status, 200u);  // the engine is not asked again
}

TEST_F(ServerTest, is_well_while_what_the_engine_asks_is_away) {
  RawClient client(start());
  const Error away{ErrorCode::unavailable, "Redis at a:1 cannot be reached"};
  client.send(RawClient::request("POST", "/v1/queues/q/purge"));
  engine_.next().answer(away);
  EXPECT_EQ(client.receive().status, 503u);
  // A health check does not ask a store that may be unreachable.
  EXPECT_EQ(client.get("/healthz").status, 200u);
  // After any other error of the engine the health check asks the engine. Even then a store that is
  // unreachable counts as well.
  client.send(RawClient::request("POST", "/v1/queues/q/purge"));
  engine_.next().answer(Error{ErrorCode::io_error, "a file could not be read"});
  EXPECT_EQ(client.receive().status, 500u);
  client.send(RawClient::request("GET", "/healthz"));
  engine_.next().answer(away);
  EXPECT_EQ(client.receive().status, 200u);
  client.send(RawClient::request("GET", "/readyz"));
  engine_.next().answer(away);
  EXPECT_EQ(client.receive().status, 503u);
}

// After a push the outcome is in doubt, because it may have been carried out. After a read or a
// health check nothing is in doubt.
TEST_F(ServerTest, leaves_nobody_in_doubt_where_nothing_was_to_change) {
  RawClient client(start());
  const auto status = [&](const char* method, const char* path, const char* body, int status) {
    client.send(RawClient::request(method, path, body));
    engine_.next().answer(Error{ErrorCode::unknown_outcome, "Redis sent nothing for 10s"});
    const auto response = client.receive();
    EXPECT_EQ(response.status, static_cast<unsigned>(status)) << path;
    return response.body.find(R"("code":"unavailable")") != std::string::npos;
  };
  for (const char* path : {"/readyz", "/metrics", "/v1/queues", "/v1/queues/q",
                           "/v1/queues/q/messages", "/v1/queues/q/message?key=k"}) {
    EXPECT_TRUE(status("GET", path, "", 503)) << path;
  }
  EXPECT_TRUE(status("POST", "/v1/queues/q/get", R"({"keys":["k"]})", 503));
  EXPECT_FALSE(status("POST", "/v1/queues/q/messages", R"({"key":"k"})", 500));
  EXPECT_FALSE(status("POST", "/v1/claim", R"({"queues":["q"]})", 500));
}

TEST_F(ServerTest, is_ready_while_the_engine_answers) {
  RawClient client(start());
  for (const bool answers : {true, false, true}) {
    client.send(RawClient::request("GET", "/readyz"));
    auto asked = engine_.next();
    EXPECT_EQ(std::get<core::ListRequest>(asked.request).limit, 1u);
    if (answers) {
      asked.answer(core::Reply(core::ListReply()));
      const auto response = client.receive();
      EXPECT_EQ(response.status, 200u);
      EXPECT_EQ(response.body, R"({"status":"ready"})");
    } else {
      asked.answer(Error{ErrorCode::unavailable, "redis://h is not reachable"});
      const auto response = client.receive();
      EXPECT_EQ(response.status, 503u);
      EXPECT_EQ(*response.find("Content-Type"), "application/problem+json");
      EXPECT_EQ(*response.find("Retry-After"), "1");
      EXPECT_NE(response.body.find("redis://h is not reachable"), std::string::npos);
    }
  }
}

TEST_F(ServerTest, is_not_ready_while_it_stops_but_well) {
  const std::uint16_t port = start();
  RawClient ready(port);
  RawClient well(port);
  // An answer 100 shows that the server has read the head, and waits for the end of the body.
  const auto begin = [](RawClient& client, std::string_view path) {
    client.send("GET " + std::string(path) +
                " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                "Expect: 100-continue\r\n\r\n");
    EXPECT_EQ(client.receive().status, 100u);
  };
  begin(ready, "/readyz");
  begin(well, "/healthz");
  std::promise<void> begun;
  server_->drain(std::chrono::minutes(1), [](std::size_t) {});
  server_->drain(std::chrono::minutes(1), [&](std::size_t) { begun.set_value(); });
  begun.get_future().get();
  ready.send("0\r\n\r\n");
  const auto response = ready.receive();
  EXPECT_EQ(response.status, 503u);
  EXPECT_NE(response.body.find("the server is stopping"), std::string::npos);
  well.send("0\r\n\r\n");
  EXPECT_EQ(well.receive().status, 200u);
}

TEST_F(ServerTest, hands_a_push_to_the_engine_and_its_answer_back) {
  RawClient client(start());
  client.send(RawClient::request("POST", "/v1/queues/q/messages", R"({"key":"k","delay":"1s"})"));
  auto held = engine_.next();
  const auto& push = std::get<core::PushRequest>(held.request);
  EXPECT_EQ(push.queue, "q");
  ASSERT_EQ(push.items.size(), 1u);
  EXPECT_EQ(push.items[0].due, Due::after(Millis(1000)));
  core::PushReply reply;
  reply.items.push_back({std::nullopt, Outcome::pushed, 1, 5, core::append(reply.bytes, "k")});
  held.answer(core::Reply(std::move(reply)));
  const auto response = client.receive();
  EXPECT_EQ(response.status, 200u);
  EXPECT_NE(response.body.find(R"("id":"1")"), std::string::npos);
}

TEST_F(ServerTest, errors_of_the_engine_are_problems) {
  const std::uint16_t port = start();
  const std::pair<ErrorCode, unsigned> expected[] = {{ErrorCode::invalid_argument, 400},
                                                     {ErrorCode::too_large, 413},
                                                     {ErrorCode::unsupported, 501},
                                                     {ErrorCode::not_found, 404},
                                                     {ErrorCode::conflict, 409},
                                                     {ErrorCode::unavailable, 503},
                                                     {ErrorCode::no_space, 503},
                                                     {ErrorCode::closed, 503},
                                                     {ErrorCode::unknown_outcome, 500},
                                                     {ErrorCode::damaged, 500},
                                                     {ErrorCode::io_error, 500},
                                                     {ErrorCode::permission_denied, 403},
                                                     {ErrorCode::misuse, 500}};
  RawClient client(port);
  for (const auto& [code, status] : expected) {
    client.send(RawClient::request("POST", "/v1/queues/q/purge"));
    engine_.next().answer(Error{code, "what \"it\" was"});
    const auto response = client.receive();
    EXPECT_EQ(response.status, status) << to_string(code);
    EXPECT_EQ(*response.find("Content-Type"), "application/problem+json");
    EXPECT_NE(response.body.find("\"code\":\"" + std::string(to_string(code)) + "\""),
              std::string::npos);
    EXPECT_NE(response.body.find(R"("detail":"what \"it\" was")"), std::string::npos);
  }
}

TEST_F(ServerTest, gives_every_reply_an_id) {
  RawClient client(start());
  EXPECT_EQ(*client.ask("GET", "/healthz", "", "X-Request-ID: mine-1\r\n").find("X-Request-ID"),
            "mine-1");
  const std::string made =
      *client.ask("GET", "/healthz", "", "X-Request-ID: a b\r\n").find("X-Request-ID");
  EXPECT_FALSE(made.empty());
  EXPECT_NE(made, "a b");
  EXPECT_NE(*client.get("/nothing").find("X-Request-ID"), made);
}

TEST_F(ServerTest, keeps_a_connection_as_long_as_the_client_likes) {
  const std::uint16_t port = start();
  RawClient client(port);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(client.get("/healthz").status, 200u);
  const auto last = client.ask("GET", "/healthz", "", "Connection: close\r\n");
  EXPECT_EQ(*last.find("Connection"), "close");
  EXPECT_TRUE(client.wait_for_end());

  RawClient old(port);
  old.send("GET /healthz HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.receive().status, 200u);
  EXPECT_TRUE(old.wait_for_end());
}

TEST_F(ServerTest, takes_requests_that_come_all_at_once) {
  RawClient client(start());
  std::string all;
  for (int i = 0; i < 50; ++i) {
    all += RawClient::request("GET", "/healthz", "", "X-Request-ID: " + std::to_string(i) + "\r\n");
  }
  client.send(all);
  for (int i = 0; i < 50; ++i) {
    const auto response = client.receive();
    ASSERT_EQ(response.status, 200u) << i;
    EXPECT_EQ(*response.find("X-Request-ID"), std::to_string(i));
  }
}

TEST_F(ServerTest, carries_out_what_came_before_the_client_stopped_sending) {
  RawClient client(start());
  client.send(RawClient::request("POST", "/v1/queues/q/purge") +
              RawClient::request("GET", "/healthz"));
  client.end_sending();
  engine_.next().answer(core::Reply(core::CountReply{5}));
  EXPECT_EQ(client.receive().body, R"({"count":5})");
  EXPECT_EQ(client.receive().status, 200u);
  EXPECT_TRUE(client.wait_for_end());
}

TEST_F(ServerTest, passes_over_empty_lines_before_a_request) {
  const std::uint16_t port = start();
  RawClient client(port);
  const std::string get = RawClient::request("GET", "/healthz");
  client.send("\r\n" + get + "\r\n\r\n\r\n\r\n" + get + "\r");
  EXPECT_EQ(client.receive().status, 200u);
  EXPECT_EQ(client.receive().status, 200u);
  client.send("\n" + get);
  EXPECT_EQ(client.receive().status, 200u);
  for (const char* before : {"\r\n\r\n\r\n\r\n\r\n", "\r", "\r\n\r", "\n"}) {
    RawClient other(port);
    other.send(before + get);
    EXPECT_EQ(other.receive().status, 400u);
    EXPECT_TRUE(other.wait_for_end());
  }
}

TEST_F(ServerTest, closes_after_a_fault_in_the_framing) {
  const std::uint16_t port = start();
  const std::pair<std::string, unsigned> faults[] = {
      {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
       "Transfer-Encoding: chunked\r\n\r\n",
       400},
      {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"NONSENSE\r\n\r\n", 400},
      {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n",
       431},
      {"POST /v1/claim HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 413},
      {"POST /v1/claim HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: x\r\n\r\n", 417},
      {"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421},
      {"GET /healthz HTTP/1.1\r\n\r\n", 400},
      {"POST /v1/claim HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" +
           std::string(40'000, '1'),
       400},
  };
  for (const auto& [bytes, status] : faults) {
    RawClient client(port);
    // Bytes after a fault must not be taken for another request.
    client.send(bytes + RawClient::request("POST", "/v1/queues/q/purge"));
    const auto response = client.receive();
    EXPECT_EQ(response.status, status) << bytes.substr(0, 60);
    EXPECT_EQ(*response.find("Content-Type"), "application/problem+json");
    EXPECT_EQ(*response.find("Connection"), "close");
    EXPECT_TRUE(client.wait_for_end());
  }
  EXPECT_EQ(engine_.submitted(), 0u);
}

TEST_F(ServerTest, who_sends_a_body_that_is_refused_sees_why) {
  ServerOptions options;
  options.tokens = identity::Tokens::of("s3cret-of-sixteen-characters");
  options.max_body_bytes = 16 << 20;
  options.max_held_bytes = 1 << 20;
  const std::uint16_t port = start(options);
  struct Refused {
    const char* fields;
    std::size_t size;
    unsigned status;
  };
  constexpr Refused kRefused[] = {
      {"", 8 << 20, 401},
      {"Authorization: Bearer s3cret-of-sixteen-characters\r\nOrigin: http://evil.example\r\n",
       8 << 20, 403},
      {"Authorization: Bearer s3cret-of-sixteen-characters\r\n", 24 << 20, 413},
      {"Authorization: Bearer s3cret-of-sixteen-characters\r\n", 8 << 20, 429},
  };
  RawClient holds(port);
  holds.send(RawClient::request("POST", "/v1/queues/q/purge", "{}" + std::string(2 << 20, ' '),
                                "Authorization: Bearer s3cret-of-sixteen-characters\r\n"));
  auto held = engine_.next();
  for (const Refused& refused : kRefused) {
    RawClient client(port);
    const std::string body(refused.size, 'x');
    EXPECT_TRUE(client.send(RawClient::request("POST", "/v1/claim", body, refused.fields)));
    const auto answer = client.receive();
    EXPECT_EQ(answer.status, refused.status);
    EXPECT_TRUE(client.wait_for_end());
  }
  held.answer(core::Reply(core::CountReply{1}));
  EXPECT_EQ(holds.receive().status, 200u);
}

TEST_F(ServerTest, reads_chunked_bodies) {
  RawClient client(start());
  client.send(
      "POST /v1/queues/q/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n9\r\n{\"key\":\"k\r\n2\r\n\"}\r\n0\r\n\r\n");
  auto held = engine_.next();
  EXPECT_EQ(std::get<core::PushRequest>(held.request).bytes, "k");
  held.answer(Error{ErrorCode::no_space, "full"});
  EXPECT_EQ(client.receive().status, 503u);
}

TEST_F(ServerTest, asks_for_a_body_that_waits_to_be_asked_for) {
  RawClient client(start());
  client.send(
      "POST /v1/queues/q/purge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100u);
  client.send("{}");
  engine_.next().answer(core::Reply(core::CountReply{1}));
  EXPECT_EQ(client.receive().status, 200u);
}

TEST_F(ServerTest, asks_nobody_for_a_body_who_cannot_know_the_answer) {
  const std::uint16_t port = start();
  RawClient client(port);
  client.send(
      "POST /v1/queues/q/purge HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(RawClient(port).get("/healthz").status, 200u);  // by now the server has read the head
  client.send("{}");
  engine_.next().answer(core::Reply(core::CountReply{1}));
  EXPECT_EQ(client.receive().status, 200u);  // no 100 came before it
}

TEST_F(ServerTest, takes_a_body_of_many_megabytes) {
  RawClient client(start());
  const std::string payload(8 << 20, 'x');
  client.send(
      RawClient::request("POST", "/v1/queues/q/messages", "{\"payload\":\"" + payload + "\"}"));
  auto held = engine_.next();
  EXPECT_EQ(std::get<core::PushRequest>(held.request).bytes, payload);
  held.answer(Error{ErrorCode::too_large, "payload of 8388608 bytes is over the limit"});
  EXPECT_EQ(client.receive().status, 413u);
}

TEST_F(ServerTest, names_the_length_of_a_body_that_is_too_long) {
  ServerOptions options;
  options.max_body_bytes = 1000;
  RawClient client(start(std::move(options)));
  client.send(RawClient::request("POST", "/v1/claim", std::string(1001, ' ')));
  EXPECT_NE(client.receive().body.find("the body of 1001 bytes is over the limit of 1000 bytes"),
            std::string::npos);
}

TEST_F(ServerTest, tells_of_a_store_that_fails_items_of_a_batch) {
  ServerOptions options;
  std::promise<std::string> reason;
  options.on_request = [&](const RequestNote& note) {
    if (!note.reason.empty()) reason.set_value(std::string(note.reason));
  };
  RawClient client(start(std::move(options)));
  core::PushReply pushed;
  pushed.items.resize(2);
  const auto push = [&] {
    client.send(RawClient::request("POST", "/v1/queues/q/messages", R"({"messages":[{},{}]})"));
    engine_.next().answer(core::Reply(pushed));
    EXPECT_EQ(client.receive().status, 200u);
  };
  // Errors that the client caused are not logged.
  pushed.items[0].error = Error{ErrorCode::too_large, "a payload of 9 bytes"};
  push();
  pushed.items[1].error = Error{ErrorCode::no_space, "the disk is full"};
  push();
  EXPECT_EQ(reason.get_future().get(), "the disk is full");
}

// Counts for 500 requests.
struct Told {
  int notes = 0;
  int reasons = 0;
};

TEST_F(ServerTest, the_log_is_told_seldom_of_the_same) {
  std::mutex mutex;
  Told told;
  ServerOptions options;
  options.tokens = identity::Tokens::of("secret-of-sixteen-characters");
  options.on_request = [&](const RequestNote& note) {
    const std::lock_guard lock(mutex);
    ++told.notes;
    if (!note.reason.empty()) ++told.reasons;
  };
  const std::uint16_t port = start(std::move(options));
  const auto begun = std::chrono::steady_clock::now();
  const auto ask = [&](const std::string& request, unsigned status, unsigned later = 0) {
    {
      const std::lock_guard lock(mutex);
      told = {};
    }
    for (int i = 0; i < 500; ++i) {
      RawClient client(port);
      client.send(request);
      const unsigned got = client.receive().status;
      EXPECT_TRUE(got == status || got == later) << got;
    }
    const std::lock_guard lock(mutex);
    return told;
  };
  const auto most = [&] {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::ceil<std::chrono::seconds>(now - begun).count();
  };
  // Requests that were not let in: the log gets one note a second, without text of their own.
  const Told coding =
      ask("POST /v1/claim HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: x\r\n\r\n", 501);
  EXPECT_GE(coding.notes, 1);
  EXPECT_LE(coding.notes, most());
  const Told token = ask(RawClient::request("GET", "/v1/stats"), 401, 429);
  EXPECT_LE(token.notes, 2 * most());
  EXPECT_GE(token.reasons, 1);
  const Told malformed = ask("x\r\n\r\n", 400);
  EXPECT_LE(malformed.notes, most());
  // Requests that were let in: each is noted, but only one a second with the reason.
  engine_.set_rule([](const core::Request&) -> std::optional<Result<core::Reply>> {
    return Error{ErrorCode::no_space, "full"};
  });
  const Told failed =
      ask(RawClient::request("GET", "/v1/stats", "",
                             "Authorization: Bearer secret-of-sixteen-characters\r\n"),
          503);
  EXPECT_EQ(failed.notes, 500);
  EXPECT_GE(failed.reasons, 1);
  EXPECT_LE(failed.reasons, most());
}

// The log has the whole path.
TEST_F(ServerTest, answers_name_no_path_of_the_machine) {
  ServerOptions options;
  std::promise<std::string> reason;
  options.on_request = [&](const RequestNote& note) {
    if (!note.reason.empty()) reason.set_value(std::string(note.reason));
  };
  const std::uint16_t port = start(std::move(options));
  const std::string failed = "cannot write /var/lib/tarry/0/00001.seg: No space left on device";
  RawClient client(port);
  client.send(RawClient::request("POST", "/v1/queues/q/purge"));
  engine_.next().answer(Error{ErrorCode::no_space, failed});
  const std::string body = client.receive().body;
  EXPECT_NE(body.find("cannot write 0/00001.seg: No space left on device"), std::string::npos)
      << body;
  EXPECT_EQ(reason.get_future().get(), failed);
  reason = {};
  client.send(RawClient::request("POST", "/v1/queues/q/cancel", R"({"keys":["k"]})"));
  core::ItemsReply items;
  items.items.resize(1);
  items.items[0].error = Error{ErrorCode::io_error, failed};
  engine_.next().answer(core::Reply(std::move(items)));
  EXPECT_EQ(client.receive().body.find("/var"), std::string::npos);
  EXPECT_EQ(reason.get_future().get(), failed);
}

}  // namespace
}  // namespace tarry::http
