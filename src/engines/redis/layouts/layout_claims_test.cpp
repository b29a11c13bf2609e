// Claims that wait at several queues of a layout, without the engine around them: nothing wakes
// them but the test, and their alarms do not go off.
#include "engines/redis/layouts/layout_claims.h"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include "net/redis/redis_client.h"
#include "support/redis_server.h"
#include "timing/manual_clock.h"

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

class LayoutClaimsTest : public ::testing::Test {
 protected:
  LayoutClaimsTest() {
    net::RedisOptions to;
    to.unix_path = server_.socket_path();
    client_ = std::make_unique<net::RedisClient>(io_, to);
    scripts_ = std::make_unique<Server>(*client_, &clock_);
    bool is_loaded = false;
    scripts_->load_scripts([&](const Result<void>& loaded) { is_loaded = loaded.has_value(); },
                           true);
    run_until([&] { return is_loaded; });
    context_.emplace(LayoutContext{*scripts_, spec_, names_, limits_, [](std::string_view) {}});
    claims_ = std::make_unique<LayoutClaims>(*context_, alarms_);
  }
  ~LayoutClaimsTest() override {
    alarms_.close();
    client_->close();
    io_.run_for(1min);
  }

  struct Waiting {
    std::optional<Result<core::Reply>> reply;
    [[nodiscard]] bool is_answered() const { return reply.has_value(); }
    [[nodiscard]] std::size_t found() const {
      return std::get<core::ClaimReply>(reply->value()).items.size();
    }
  };
  /// One message, of these queues.
  std::shared_ptr<Waiting> claim(std::vector<std::string> queues, Millis wait = 10min) {
    core::ClaimRequest request;
    request.queues = std::move(queues);
    request.max = 1;
    request.wait = wait;
    auto waiting = std::make_shared<Waiting>();
    auto asked = std::make_shared<Asked>();
    asked->request = std::move(request);
    asked->completion = [waiting](Result<core::Reply> reply) { waiting->reply = std::move(reply); };
    claims_->begin(++last_ticket_, asked);
    return waiting;
  }
  template <typename Condition>
  void run_until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("it never comes");
      io_.run_one_for(100ms);
    }
  }
  void run_until_they_wait(const std::string& queue, std::uint64_t claims) {
    run_until([&] { return claims_->waiting_at(queue) == claims; });
  }
  void push(const std::string& queue, const std::string& member) {
    (void)server_.ask({"ZADD", queue, "1", member});
  }

  testing::RedisServer server_;
  timing::ManualClock clock_;
  boost::asio::io_context io_{1};
  std::unique_ptr<net::RedisClient> client_;
  std::unique_ptr<Server> scripts_;
  const LayoutSpec spec_;
  const LayoutNames names_ = *LayoutNames::make(spec_);
  const core::Limits limits_;
  std::optional<LayoutContext> context_;
  Alarms alarms_{io_, &clock_};
  std::unique_ptr<LayoutClaims> claims_;
  core::Ticket last_ticket_ = 0;
};

TEST_F(LayoutClaimsTest, WhatOneLeavesOverIsForThoseThatLookElsewhereToo) {
  const auto first = claim({"a", "b"});
  const auto second = claim({"a", "b"});
  run_until_they_wait("a", 2);
  push("a", "one");
  push("a", "two");
  claims_->wake("a");  // the first one looks there
  claims_->wake("b");  // and the second one here
  run_until([&] { return first->is_answered() && second->is_answered(); });
  EXPECT_EQ(first->found(), 1u);
  EXPECT_EQ(second->found(), 1u);
}

TEST_F(LayoutClaimsTest, WhatWakesAllWakesThoseThatLookForTheFirstTimeToo) {
  const auto waiting = claim({"a"});
  do {
    io_.poll();  // until Redis has answered that there is nothing
  } while (server_.ask({"INFO", "commandstats"}).find("cmdstat_evalsha:") == std::string::npos);
  push("a", "one");
  claims_->wake_all();
  run_until([&] { return waiting->is_answered(); });
  EXPECT_EQ(waiting->found(), 1u);
}

TEST_F(LayoutClaimsTest, NothingIsKeptOfQueuesAtWhichNobodyWaitsAnyMore) {
  const auto waiting = claim({"a"});
  run_until_they_wait("a", 1);
  for (int i = 0; i < 500; ++i) {
    const auto once = claim({"q" + std::to_string(i)}, i % 2 == 0 ? 0ms : 1ms);
    if (i % 2 != 0) run_until_they_wait("q" + std::to_string(i), 1);
    clock_.advance(1);
    alarms_.moved();
    run_until([&] { return once->is_answered(); });
  }
  EXPECT_LT(claims_->watched(), 150u);
  push("a", "one");
  claims_->wake("a");
  run_until([&] { return waiting->is_answered(); });
  EXPECT_EQ(waiting->found(), 1u);
}

}  // namespace
}  // namespace tarry::redis
