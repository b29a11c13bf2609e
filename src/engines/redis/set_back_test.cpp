// The clock was set back while messages of many priorities were ready. No call of a script visits
// all of them.
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

class SetBack : public ::testing::Test, public testing::OneRedisEngine {
 protected:
  static constexpr std::uint32_t kPriorities = 5'000;
  static constexpr std::uint32_t kLowest = 4'000'000'000;

  SetBack() {
    push({kLowest});  // due in any case
    clock_->advance(60'000);
    std::vector<std::uint32_t> priorities;
    for (std::uint32_t i = 0; i < kPriorities; ++i) priorities.push_back(2'000 + i);
    push(priorities);
    clock_->step_realtime(-10'000);
    (void)server_.ask({"CONFIG", "RESETSTAT"});
  }

  void push(const std::vector<std::uint32_t>& priorities) {
    core::PushRequest request;
    request.queue = "q";
    for (const std::uint32_t priority : priorities) {
      core::PushItem item;
      item.priority = priority;
      item.due = Due::at(Time(Millis(clock_->now().realtime_ms)));
      request.items.push_back(item);
    }
    for (const auto& item : take<core::PushReply>(*engine_, std::move(request)).items) {
      EXPECT_EQ(item.outcome, Outcome::pushed);
    }
  }
  std::vector<std::uint32_t> claim(Millis wait = Millis(0)) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.max = 500;
    request.lease = 1h;
    request.wait = wait;
    std::vector<std::uint32_t> priorities;
    for (const auto& item : take<core::ClaimReply>(*engine_, request).items) {
      priorities.push_back(item.priority);
    }
    return priorities;
  }
  [[nodiscard]] int calls_of(const std::string& command) const {
    const std::string told = server_.ask({"INFO", "commandstats"});
    const std::string name = "cmdstat_" + command + ":calls=";
    const std::size_t at = told.find(name);
    return at == std::string::npos ? 0 : std::stoi(told.substr(at + name.size()));
  }
};

TEST_F(SetBack, AClaimGoesPastSoManyPrioritiesAndNoMore) {
  EXPECT_TRUE(claim().empty());
  EXPECT_LT(calls_of("zrangebyscore"), 1'100);
}

// The claim skips all messages that are no longer due, in several calls. After that, claims need
// not look again before these fall due.
TEST_F(SetBack, AClaimThatWaitsGoesOnUntilItHasSeenAll) {
  auto found = std::async(std::launch::async, [this] { return claim(1h); });
  while (found.wait_for(10ms) != std::future_status::ready) clock_->advance(0);  // lets alarms run
  EXPECT_EQ(found.get(), std::vector<std::uint32_t>{kLowest});
  EXPECT_LT(calls_of("evalsha"), 20);
  (void)claim();
  EXPECT_EQ(server_.ask({"HGET", "tarry:{1}:q/0:meta", "head"}),
            "$13\r\n" + std::to_string(clock_->now().realtime_ms + 10'000) + "\r\n");
}

TEST_F(SetBack, WhenTheTimeHasComeAgainAllAreThereInTheirOrder) {
  (void)claim();
  clock_->advance(10'000);
  std::vector<std::uint32_t> all;
  for (auto some = claim(); !some.empty(); some = claim()) {
    all.insert(all.end(), some.begin(), some.end());
  }
  EXPECT_EQ(all.size(), kPriorities + 1);
  EXPECT_EQ(all.back(), kLowest);
}

}  // namespace
}  // namespace tarry::redis
