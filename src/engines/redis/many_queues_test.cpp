// Ten thousand idle queues cost as much as ten, by Redis's own counts of commands.
#include <atomic>
#include <future>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "engines/redis/redis_engine.h"
#include "support/redis_server.h"
#include "timing/manual_clock.h"

namespace tarry::redis {
namespace {

using tarry::testing::RedisServer;

Result<core::Reply> answer(core::Engine& engine, core::Request request) {
  std::promise<Result<core::Reply>> promise;
  engine.submit(std::move(request),
                [&](Result<core::Reply> reply) { promise.set_value(std::move(reply)); });
  return promise.get_future().get();
}

// Pushes one message into each queue; it falls due much later.
void fill(core::Engine& engine, int queues) {
  std::atomic<int> left = queues;
  std::promise<void> done;
  for (int i = 0; i < queues; ++i) {
    core::PushRequest push;
    push.queue = "q" + std::to_string(i);
    push.items.emplace_back();
    push.items.back().due = Due::after(std::chrono::hours(24));
    engine.submit(std::move(push), [&](const Result<core::Reply>& reply) {
      EXPECT_TRUE(reply) << reply.error().message;
      if (--left == 0) done.set_value();
    });
  }
  done.get_future().get();
}

// How often scripts and HGET were called, according to INFO.
std::uint64_t calls(RedisServer& server) {
  const std::string info = server.ask({"INFO", "commandstats"});
  std::uint64_t sum = 0;
  for (const std::string_view name : {"cmdstat_evalsha:", "cmdstat_eval:", "cmdstat_hget:"}) {
    const std::size_t at = info.find(std::string(name) + "calls=");
    if (at != std::string::npos) sum += std::stoull(info.substr(at + name.size() + 6));
  }
  return sum;
}

// The number of commands that an engine sends in twenty sweeps. The store has `queues` queues, and
// a claim waits at one of them.
std::uint64_t sent_in_sweeps(int queues) {
  RedisServer server;
  RedisEngineOptions options;
  options.server.unix_path = server.socket_path();
  options.clock = std::make_shared<timing::ManualClock>();
  auto opened = open_redis(options);
  EXPECT_TRUE(opened);
  core::Engine& engine = **opened;
  fill(engine, queues);
  core::ClaimRequest claim;
  claim.queues = {"q0"};
  claim.wait = std::chrono::minutes(10);
  std::atomic<bool> answered = false;
  engine.submit(claim, [&](const Result<core::Reply>&) { answered = true; });
  const auto ask = [&] {
    core::StatsRequest stats;
    stats.queue = "q0";
    return answer(engine, stats);
  };
  while (std::get<StoreStats>(*ask()).queues.at(0).waiting_claims == 0) {
    if (answered) throw std::runtime_error("the claim does not wait");
  }
  const auto sweep = [&] {
    options.clock->advance(1'300);  // one more sweep, however the interval is spread
    EXPECT_TRUE(ask());             // this is answered after the sweep's commands
    EXPECT_TRUE(ask());
  };
  sweep();  // the first sweep learns facts that later ones know
  const std::uint64_t before = calls(server);
  for (int i = 0; i < 20; ++i) sweep();
  const std::uint64_t sent = calls(server) - before;
  EXPECT_FALSE(answered);
  engine.close();
  return sent;
}

TEST(ManyQueues, AtRestTenThousandCostWhatTenDo) {
  const std::uint64_t ten = sent_in_sweeps(10);
  EXPECT_GT(ten, 20u * 16);  // every sweep visited every partition
  EXPECT_EQ(sent_in_sweeps(10'000), ten);
}

}  // namespace
}  // namespace tarry::redis
