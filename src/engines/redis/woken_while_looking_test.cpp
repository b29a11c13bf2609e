// Claims that wait at several queues, and wake-ups that come while they look.
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engines/redis/redis_engine.h"
#include "support/engine_calls.h"
#include "support/redis_server.h"
#include "timing/manual_clock.h"

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

class WaitingClaimsTest : public ::testing::Test, public test::EngineCalls {
 protected:
  using Reply = Result<core::Reply>;

  /// Opens an engine that never sweeps, because its clock stands still.
  std::unique_ptr<core::Engine> open() {
    RedisEngineOptions options;
    options.server.unix_path = server_.socket_path();
    options.clock = std::make_shared<timing::ManualClock>();
    auto engine = open_redis(std::move(options));
    EXPECT_TRUE(engine) << (engine ? "" : engine.error().message);
    return engine ? std::move(*engine) : nullptr;
  }

  testing::RedisServer server_;
};

// The engine reads the three wake-ups at once. Two of them only say that a message is due sooner
// than before.
TEST_F(WaitingClaimsTest, LookAtEachQueueThatIsWokenWhileTheyLook) {
  const auto engine = open();
  const auto other = open();
  const std::vector<std::string> queues{"a", "b", "c"};
  for (const std::string& queue : queues) {
    (void)take<core::PushReply>(*other, push_of(queue, 24h));
  }
  core::ClaimRequest claim;
  claim.queues = queues;
  claim.wait = 10min;
  auto claimed = begin(*engine, claim);
  wait_until_it_waits(*engine, "a");

  server_.pause();
  std::vector<std::future<Reply>> pushed;
  for (const std::string& queue : queues) {
    pushed.push_back(begin(*other, push_of(queue, queue == "c" ? 0h : 12h)));
  }
  server_.cont();
  for (auto& push : pushed) ASSERT_TRUE(push.get());

  ASSERT_EQ(claimed.wait_for(1min), std::future_status::ready);
  const Reply reply = claimed.get();
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(std::get<core::ClaimReply>(*reply).items.size(), 1u);
}

}  // namespace
}  // namespace tarry::redis
