// Claims that wait at several queues, without the engine around them: nothing wakes them but the
// test, and there are no sweeps.
#include "engines/redis/claims/claims.h"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include "engines/redis/node/start_up.h"
#include "engines/redis/redis_engine.h"
#include "net/redis/redis_client.h"
#include "support/engine_calls.h"
#include "support/redis_server.h"
#include "timing/manual_clock.h"

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

class ClaimsTest : public ::testing::Test, public test::EngineCalls {
 protected:
  ClaimsTest() {
    RedisEngineOptions options;
    options.server.unix_path = server_.socket_path();
    options.clock = clock_;
    auto engine = open_redis(std::move(options));
    if (!engine) throw std::runtime_error(engine.error().message);
    pusher_ = *std::move(engine);

    net::RedisOptions to;
    to.unix_path = server_.socket_path();
    client_ = std::make_unique<net::RedisClient>(io_, to);
    scripts_ = std::make_unique<Server>(*client_, clock_.get());
    std::optional<Result<StoreFacts>> store;
    scripts_->load_scripts([&](Result<void> loaded) {
      if (!loaded) throw std::runtime_error(loaded.error().message);
      open_store(*scripts_, {}, [&](Result<StoreFacts> found) { store = std::move(found); });
    });
    run_until([&] { return store.has_value(); });
    ids_ = std::make_unique<Ids>(*scripts_);
    directory_ = std::make_unique<Directory>(*scripts_, store->value().partitions, 1, false);
    identity_ = std::make_unique<Identity>(*client_, *scripts_, *directory_, *ids_, steady_,
                                           store->value(), ServerWish(), Log());
    context_.emplace(Context{*scripts_, *directory_, *ids_, *identity_});
    claims_ = std::make_unique<Claims>(*context_, alarms_, core::Limits());
  }
  ~ClaimsTest() override {
    alarms_.close();
    steady_.close();
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
  void run_until_they_wait(const std::string& queue, std::uint64_t claims) {
    run_until([&] { return claims_->waiting_at(queue) == claims; });
  }
  template <typename Condition>
  void run_until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("it never comes");
      io_.run_one_for(100ms);
    }
  }
  /// Waits until everything sent to Redis so far has been answered.
  void settle() {
    bool answered = false;
    scripts_->command(net::RedisCommand("PING"), [&](auto) { answered = true; });
    run_until([&] { return answered; });
  }
  void push(std::string_view queue, Millis delay, std::size_t messages = 1) {
    core::PushRequest push;
    push.queue = queue;
    push.items.resize(messages);
    for (core::PushItem& item : push.items) item.due = Due::after(delay);
    (void)take<core::PushReply>(*pusher_, push);
  }

  testing::RedisServer server_;
  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
  std::unique_ptr<core::Engine> pusher_;
  boost::asio::io_context io_{1};
  std::unique_ptr<net::RedisClient> client_;
  std::unique_ptr<Server> scripts_;
  std::unique_ptr<Ids> ids_;
  std::unique_ptr<Directory> directory_;
  Alarms steady_{io_, nullptr};
  std::unique_ptr<Identity> identity_;
  std::optional<Context> context_;
  Alarms alarms_{io_, clock_.get()};
  std::unique_ptr<Claims> claims_;
  core::Ticket last_ticket_ = 0;
};

TEST_F(ClaimsTest, WhatOneLeavesOverIsForThoseThatLookElsewhereToo) {
  push("a", 24h);
  push("b", 24h);
  const auto first = claim({"a", "b"});
  const auto second = claim({"a", "b"});
  run_until_they_wait("a", 2);
  push("a", 0h, 2);
  claims_->wake("a");  // the first one looks there
  claims_->wake("b");  // and the second one here
  run_until([&] { return first->is_answered() && second->is_answered(); });
  EXPECT_EQ(first->found(), 1u);
  EXPECT_EQ(second->found(), 1u);
}

TEST_F(ClaimsTest, AQueueIsLookedAtWhenItsNextMessageIsDueAlthoughAllLookElsewhereMeanwhile) {
  push("a", 24h);
  push("b", 24h);
  const auto waiting = claim({"a", "b"}, 12h);
  run_until_they_wait("a", 1);
  push("a", 1h);
  claims_->wake("a");
  claims_->wake("b");
  settle();  // the look at a
  settle();  // that at b
  clock_->advance(2 * 3'600'000);
  alarms_.moved();
  run_until([&] { return waiting->is_answered(); });
  EXPECT_EQ(waiting->found(), 1u);
}

TEST_F(ClaimsTest, WhatAWithdrawnOneDoesNotLookAtTheNextOneDoes) {
  push("a", 24h);
  const auto first = claim({"a"});
  const auto second = claim({"a"});
  run_until_they_wait("a", 2);
  push("a", 0h);
  scripts_->command(net::RedisCommand("PING"), [&](auto) { claims_->withdraw(1); });
  identity_->doubt();  // so that it looks not before it is asked which store this is
  claims_->wake("a");
  run_until([&] { return second->is_answered(); });
  EXPECT_EQ(second->found(), 1u);
  EXPECT_EQ(first->found(), 0u);
}

TEST_F(ClaimsTest, NothingIsKeptOfQueuesAtWhichNobodyWaitsAnyMore) {
  push("a", 24h);
  const auto first = claim({"a", "no-such-queue"}, 1h);
  const auto second = claim({"a"}, 12h);
  run_until_they_wait("a", 2);
  EXPECT_EQ(claims_->watched(), 2u);
  claims_->wake("a");  // one of them looks
  claims_->withdraw(1);
  settle();
  EXPECT_EQ(claims_->watched(), 1u);
  clock_->advance(25 * 3'600'000);  // past both alarms of the ended claim
  alarms_.moved();
  run_until([&] { return second->is_answered(); });
  EXPECT_EQ(claims_->watched(), 0u);
}

}  // namespace
}  // namespace tarry::redis
