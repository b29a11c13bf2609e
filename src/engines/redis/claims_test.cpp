// Claims that wait at several queues, without an engine: only the test wakes them, and there are no
// sweeps.
#include "engines/redis/claims/claims.h"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engines/redis/node/start_up.h"
#include "support/claims_rig.h"
#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

class ClaimsTest : public testing::ClaimsRig<Claims>, public test::EngineCalls {
 protected:
  ClaimsTest() {
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
    steady_.close();
    end();
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

  std::unique_ptr<core::Engine> pusher_ = testing::must_open(testing::options_for(server_, clock_));
  std::unique_ptr<Ids> ids_;
  std::unique_ptr<Directory> directory_;
  Alarms steady_{io_, nullptr};
  std::unique_ptr<Identity> identity_;
  std::optional<Context> context_;
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
  settle();  // until the look at a has ended
  settle();  // until the look at b has ended
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
  identity_->doubt();  // so that the look first has to check which store this is
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
