// The server refuses or closes when memory, connections, descriptors or time run out, and goes on.
#include <fcntl.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/http_server_rig.h"
#include "wire/parts/problem.h"

namespace tarry::http {
namespace {

using tarry::testing::RawClient;

class ServerLimits : public testing::HttpServerRig {};

TEST_F(ServerLimits, a_request_for_which_there_is_no_memory_is_not_begun) {
  ServerOptions options;
  options.advance_clock = [](std::int64_t) { throw std::bad_alloc(); };
  std::promise<std::string> warned;
  std::atomic<int> warnings{0};
  options.log = [&](std::string_view line) {
    if (warnings++ == 0) warned.set_value(std::string(line));
  };
  const std::uint16_t port = start(std::move(options));
  RawClient handled(port);
  const auto refused = handled.post("/v1/clock/advance", R"({"by":"1s"})");
  EXPECT_EQ(refused.status, 503u);
  EXPECT_NE(refused.body.find("has not the memory for this request"), std::string::npos);
  EXPECT_TRUE(handled.wait_for_end());
  EXPECT_EQ(warned.get_future().get(), "a request could not be handled: std::bad_alloc");

  engine_.set_rule(
      [](const core::Request&) -> std::optional<Result<core::Reply>> { throw std::bad_alloc(); });
  RawClient submitted(port);
  EXPECT_EQ(submitted.post("/v1/queues/q/purge", "{}").status, 503u);
  engine_.set_rule(nullptr);
  submitted.send(RawClient::request("POST", "/v1/queues/q/purge"));
  engine_.next().answer(core::Reply(core::CountReply{1}));
  EXPECT_EQ(submitted.receive().status, 200u);
}

TEST_F(ServerLimits, an_answer_for_which_there_is_no_memory_ends_the_connection) {
  ServerOptions options;
  options.on_request = [](const RequestNote& note) {
    if (note.route == "/v1/queues/*/purge") throw std::bad_alloc();
  };
  const std::uint16_t port = start(std::move(options));
  RawClient client(port);
  client.send(RawClient::request("POST", "/v1/queues/q/purge"));
  engine_.next().answer(core::Reply(core::CountReply{1}));
  EXPECT_EQ(client.receive().status, 0u);
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(RawClient(port).get("/healthz").status, 200u);
}

TEST_F(ServerLimits, the_one_that_is_idle_for_the_longest_makes_room_for_another) {
  ServerOptions options;
  options.max_connections = 2;
  const std::uint16_t port = start(options);
  RawClient silent(port);
  RawClient kept(port);
  EXPECT_EQ(kept.get("/healthz").status, 200u);  // by now the server has both connections
  RawClient third(port);
  EXPECT_EQ(third.get("/healthz").status, 200u);
  EXPECT_TRUE(silent.wait_for_end());
  EXPECT_EQ(kept.get("/healthz").status, 200u);  // from now on the third has been idle for longer
  RawClient fourth(port);
  EXPECT_EQ(fourth.get("/healthz").status, 200u);
  EXPECT_TRUE(third.wait_for_end());
  EXPECT_EQ(kept.get("/healthz").status, 200u);
}

TEST_F(ServerLimits, has_a_reserve_for_probes_and_for_what_settles_where_none_is_idle) {
  ServerOptions options;
  options.max_connections = 1;
  const std::uint16_t port = start(options);
  RawClient first(port);
  first.send(RawClient::request("POST", "/v1/queues/q/purge"));
  auto purge = engine_.next();
  EXPECT_EQ(RawClient(port).get("/healthz").status, 200u);
  RawClient settles(port);
  settles.send(
      RawClient::request("POST", "/v1/settle", R"({"items":[{"receipt":"r1","action":"ack"}]})"));
  core::ItemsReply done;
  done.items.resize(1);
  engine_.next().answer(core::Reply(done));
  EXPECT_EQ(settles.receive().status, 200u);
  EXPECT_TRUE(settles.wait_for_end());
  RawClient pushes(port);
  const auto refused = pushes.post("/v1/queues/q/messages", R"({"key":"k"})");
  EXPECT_EQ(refused.status, 503u);
  EXPECT_NE(refused.body.find("there are 1 connections already, which is the limit; try again"),
            std::string::npos);
  EXPECT_EQ(*refused.find("Retry-After"), "1");
  EXPECT_TRUE(pushes.wait_for_end());
  RawClient silent(port);  // the next connection takes its place
  EXPECT_EQ(RawClient(port).get("/healthz").status, 200u);
  EXPECT_TRUE(silent.wait_for_end());
  purge.answer(core::Reply(core::CountReply{9}));
  EXPECT_EQ(first.receive().status, 200u);
}

// The idle deadline does not apply to a new connection, because it will soon send a request.
TEST_F(ServerLimits, a_connection_that_says_nothing_has_the_time_of_a_head) {
  ServerOptions options;
  options.head_deadline = Millis(1);
  options.idle_deadline = std::chrono::hours(1);
  const std::uint16_t port = start(options);
  EXPECT_TRUE(RawClient(port).wait_for_end());
}

// As long as it lives, this process can open only `more` further descriptors.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(int more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit low = before_;
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    low.rlim_cur = static_cast<rlim_t>(next + more);
    ::setrlimit(RLIMIT_NOFILE, &low);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_F(ServerLimits, warns_once_when_descriptors_are_short_and_goes_on_when_they_are_not) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "UBSan's vptr check opens a pipe, and reports an error where it cannot";
#endif
#endif
  std::promise<std::string> first_warning;
  std::atomic<int> warnings{0};
  ServerOptions options;
  options.log = [&](std::string_view line) {
    if (warnings++ == 0) first_warning.set_value(std::string(line));
  };
  const std::uint16_t port = start(options);
  RawClient early(port);
  EXPECT_EQ(early.get("/healthz").status, 200u);
  for (int i = 0; i < 3; ++i) {
    auto limit = std::make_optional<DescriptorLimit>(1);
    RawClient late(port);  // takes the last descriptor
    ASSERT_TRUE(late.connected());
    if (i == 0) {
      EXPECT_EQ(first_warning.get_future().get(),
                "cannot accept a connection: Too many open files; trying until it can");
    }
    // The answer shows that the server works although it could not accept a connection.
    EXPECT_EQ(early.get("/healthz").status, 200u);
    limit.reset();
    EXPECT_EQ(late.get("/healthz").status, 200u);
  }
  server_->stop();
  EXPECT_EQ(warnings, 1);
}

void expect_too_late(const net::HttpMessage& answer, const std::string& detail) {
  EXPECT_EQ(answer.status, 408u);
  EXPECT_EQ(wire::read_problem(408, answer.body), (Error{ErrorCode::unavailable, detail}));
  ASSERT_NE(answer.find("Connection"), nullptr);
  EXPECT_EQ(*answer.find("Connection"), "close");
}

TEST_F(ServerLimits, gives_up_on_a_head_that_does_not_end) {
  ServerOptions options;
  options.head_deadline = Millis(20);
  RawClient client(start(options));
  client.send("GET /healthz HTTP/1.1\r\nHost: loc");
  const auto late = client.receive();
  expect_too_late(late, "the request's head did not arrive in time");
  EXPECT_TRUE(client.wait_for_end());
}

TEST_F(ServerLimits, gives_up_on_a_body_that_does_not_end) {
  ServerOptions options;
  options.body_deadline = Millis(20);
  RawClient client(start(options));
  client.send("POST /v1/claim HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{");
  const auto late = client.receive();
  expect_too_late(late, "the body did not arrive in time");
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(engine_.submitted(), 0u);
}

TEST_F(ServerLimits, closes_a_connection_on_which_nothing_happens) {
  ServerOptions options;
  options.idle_deadline = Millis(20);
  RawClient silent(start(options));
  EXPECT_TRUE(silent.wait_for_end());
}

TEST_F(ServerLimits, closes_a_connection_on_which_nothing_happens_any_more) {
  ServerOptions options;
  // The request must arrive within the deadline, so a busy machine gets a longer one.
  for (Millis deadline(20); deadline < std::chrono::minutes(1); deadline *= 4) {
    options.idle_deadline = deadline;
    RawClient once(start(options));
    if (once.get("/healthz").status != 200) continue;
    EXPECT_TRUE(once.wait_for_end());
    return;
  }
  FAIL() << "no deadline was long enough for a request";
}

TEST_F(ServerLimits, a_request_may_wait_for_the_engine_longer_than_any_deadline) {
  ServerOptions options;
  // Long enough for the request to arrive on a busy machine; then they pass while the engine holds
  // it.
  options.idle_deadline = std::chrono::seconds(1);
  options.head_deadline = options.body_deadline = std::chrono::seconds(1);
  const std::uint16_t port = start(options);
  RawClient client(port);
  client.send(RawClient::request("POST", "/v1/queues/q/purge"));
  auto held = engine_.next();
  RawClient(port).wait_for_end();  // returns after the idle deadline has passed
  held.answer(core::Reply(core::CountReply{3}));
  EXPECT_EQ(client.receive().body, R"({"count":3})");
}

TEST_F(ServerLimits, stops_with_requests_that_the_engine_still_holds) {
  const std::uint16_t port = start();
  RawClient client(port);
  client.send(RawClient::request("POST", "/v1/queues/q/purge"));
  auto held = engine_.next();
  auto stopped = std::async(std::launch::async, [&] { server_->stop(); });
  EXPECT_TRUE(client.wait_for_end());
  held.answer(core::Reply(core::CountReply{3}));
  stopped.get();
  server_->stop();
  EXPECT_FALSE(RawClient(port).connected());
}

}  // namespace
}  // namespace tarry::http
