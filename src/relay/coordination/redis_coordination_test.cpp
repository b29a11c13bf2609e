// Relays that divide shards among them by leases in a real Redis.
#include "relay/coordination/redis_coordination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "net/redis/redis_client.h"
#include "support/redis_server.h"

namespace tarry::relay {
namespace {

using tarry::testing::RedisServer;

constexpr std::chrono::seconds kLookPatience{30};

std::vector<Unit> shards_of_orders(std::uint32_t count) {
  std::vector<Unit> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back({"orders", i});
  return all;
}

// The coordination of one relay.
class Member {
 public:
  explicit Member(const RedisServer& server, Millis session = Millis(600'000)) {
    RedisCoordinationOptions options;
    options.connect = [path = server.socket_path()](boost::asio::io_context& io) {
      net::RedisOptions redis;
      redis.unix_path = path;
      return std::make_unique<net::RedisClient>(io, redis);
    };
    options.group = "g";
    options.session = session;
    coordination_ = redis_coordination(std::move(options));
    coordination_->start({[this](const Coordination::View& view) {
                            const std::lock_guard lock(mutex_);
                            view_ = view;
                            changed_.notify_all();
                          },
                          [this](const std::optional<Error>& error) {
                            const std::lock_guard lock(mutex_);
                            trouble_ = error;
                            ++troubles_;
                            changed_.notify_all();
                          }});
  }
  void offer(std::vector<Unit> all) { coordination_->offer(std::move(all)); }
  void leave() { coordination_.reset(); }

  template <typename Predicate>
  void await(Predicate predicate) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kLookPatience, [&] { return predicate(*this); }))
        << "has " << view_.mine.size() << " of " << view_.members << " members'";
  }
  void await_count(std::size_t mine, std::size_t members) {
    await(
        [&](const Member& m) { return m.view_.mine.size() == mine && m.view_.members == members; });
  }
  [[nodiscard]] std::set<Unit> mine() const {
    const std::lock_guard lock(mutex_);
    return {view_.mine.begin(), view_.mine.end()};
  }

  Coordination::View view_;
  std::optional<Error> trouble_;
  int troubles_ = 0;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Coordination> coordination_;
};

std::size_t moved(const std::set<Unit>& before, const std::set<Unit>& after) {
  return static_cast<std::size_t>(
      std::ranges::count_if(before, [&](const Unit& unit) { return !after.contains(unit); }));
}

TEST(RedisCoordinationTest, SharesEvenlyAsRelaysComeAndGo) {
  RedisServer server;
  Member a(server);
  a.offer(shards_of_orders(12));
  a.await_count(12, 1);
  Member b(server);
  b.offer(shards_of_orders(12));
  b.await_count(6, 2);
  a.await_count(6, 2);
  const auto a_before = a.mine();
  const auto b_before = b.mine();
  Member c(server);
  c.offer(shards_of_orders(12));
  c.await_count(4, 3);
  a.await_count(4, 3);
  b.await_count(4, 3);
  // Only the third relay's part has changed hands, and each unit has one owner.
  EXPECT_EQ(moved(a_before, a.mine()) + moved(b_before, b.mine()), 4u);
  std::set<Unit> all = a.mine();
  all.merge(b.mine());
  all.merge(c.mine());
  EXPECT_EQ(all.size(), 12u);
  const auto a_three = a.mine();
  const auto b_three = b.mine();
  c.leave();
  a.await_count(6, 2);
  b.await_count(6, 2);
  EXPECT_EQ(moved(a_three, a.mine()) + moved(b_three, b.mine()), 0u);
}

TEST(RedisCoordinationTest, WhatOneHadWhoIsGoneIsTakenOnceItsSessionIsOver) {
  RedisServer server;
  // The state that a killed relay leaves. Its session is nearly over by the server's clock.
  EXPECT_EQ(server.ask({"EVAL",
                        "local t = redis.call('TIME') "
                        "redis.call('ZADD', KEYS[1], t[1] * 1000 + 1500, 'ghost') "
                        "redis.call('HSET', KEYS[2], 'last', 1, 'ghost', 1) "
                        "for i = 0, 3 do redis.call('HSET', KEYS[3], 'orders/' .. i, 'ghost') end "
                        "return 'ok'",
                        "3", "tarry:relays:{g}:members", "tarry:relays:{g}:order",
                        "tarry:relays:{g}:units"}),
            "$2\r\nok\r\n");
  Member a(server);
  a.offer(shards_of_orders(4));
  a.await([](const Member& m) { return m.view_.members > 0; });
  // The other relay looks again when that session ends. It does not wait for a third of its own
  // session, which would be 200 s.
  a.await_count(4, 1);
  EXPECT_EQ(server.ask({"HGET", "tarry:relays:{g}:order", "ghost"}), "$-1\r\n");
}

TEST(RedisCoordinationTest, ShardsThatComeAndGoAreSharedAnew) {
  RedisServer server;
  Member a(server);
  Member b(server);
  a.offer(shards_of_orders(2));
  b.offer(shards_of_orders(2));
  a.await_count(1, 2);
  b.await_count(1, 2);
  a.offer(shards_of_orders(8));
  b.offer(shards_of_orders(8));
  a.await_count(4, 2);
  b.await_count(4, 2);
  a.offer(shards_of_orders(1));
  b.offer(shards_of_orders(1));
  a.await([&](const Member& m) { return m.view_.mine.size() <= 1; });
  b.await([&](const Member& m) { return m.view_.mine.size() <= 1; });
}

TEST(RedisCoordinationTest, AServerThatGoesIsTroubleAndWhatItForgotIsSaidAgain) {
  RedisServer server;
  Member a(server, Millis(1'000));
  a.offer(shards_of_orders(3));
  a.await_count(3, 1);
  server.kill9();
  a.await([](const Member& m) { return m.trouble_.has_value(); });
  EXPECT_EQ(a.mine().size(), 3u);  // the relay keeps its former part
  server.start();
  a.await([](const Member& m) { return !m.trouble_ && m.troubles_ == 2; });
  EXPECT_EQ(server.ask({"HLEN", "tarry:relays:{g}:units"}), ":3\r\n");
}

TEST(RedisCoordinationTest, LeavingGivesEverythingBack) {
  RedisServer server;
  {
    Member a(server);
    a.offer(shards_of_orders(3));
    a.await_count(3, 1);
  }
  EXPECT_EQ(server.ask({"EXISTS", "tarry:relays:{g}:members", "tarry:relays:{g}:units"}), ":0\r\n");
}

}  // namespace
}  // namespace tarry::relay
