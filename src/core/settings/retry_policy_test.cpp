#include "core/settings/retry_policy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <set>

#include "core/limits.h"

namespace tarry::core {
namespace {

using namespace std::chrono_literals;

QueueSettings between(Millis least, Millis most) {
  QueueSettings settings;
  settings.backoff_min = least;
  settings.backoff_max = most;
  return settings;
}

// Computes the full delay, from which the jitter is taken, by arithmetic that cannot overflow.
std::int64_t full_delay(std::int64_t least, std::int64_t most, std::uint32_t attempt) {
  long double full = static_cast<long double>(least);
  for (std::uint32_t i = 1; i < attempt && full < static_cast<long double>(most); ++i) full *= 2;
  return full >= static_cast<long double>(most) ? most : static_cast<std::int64_t>(full);
}

TEST(RetryPolicy, DoublesUpToTheMost) {
  const QueueSettings settings = between(1s, 10s);
  struct Step {
    std::uint32_t attempt;
    std::int64_t least, most;
  };
  for (const Step& step :
       {Step{1, 500, 1'000}, Step{2, 1'000, 2'000}, Step{3, 2'000, 4'000}, Step{4, 4'000, 8'000},
        Step{5, 5'000, 10'000}, Step{99, 5'000, 10'000}}) {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    std::int64_t highest = 0;
    for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
      const std::int64_t ms = backoff_ms(settings, step.attempt, seed);
      lowest = std::min(lowest, ms);
      highest = std::max(highest, ms);
    }
    EXPECT_GE(lowest, step.least);
    EXPECT_LE(highest, step.most);
    // The random delays cover the whole range of the jitter.
    EXPECT_LT(lowest, step.least + (step.most - step.least) / 20);
    EXPECT_GT(highest, step.most - (step.most - step.least) / 20);
  }
}

TEST(RetryPolicy, NeighbouringSeedsDoNotComeBackTogether) {
  std::set<std::int64_t> delays;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    delays.insert(backoff_ms(between(1min, 10min), 1, seed));
  }
  EXPECT_GT(delays.size(), 90u);
}

TEST(RetryPolicy, NoBackoffMeansAtOnce) {
  for (const std::uint32_t attempt : {1u, 2u, 65'535u}) {
    EXPECT_EQ(backoff_ms(between(0ms, 0ms), attempt, 7), 0);
    EXPECT_EQ(backoff_ms(between(0ms, 10min), attempt, 7), 0);
  }
}

RC_GTEST_PROP(RetryPolicy, StaysInTheUpperHalfOfTheFullDelay, (std::uint64_t seed)) {
  const auto most = *rc::gen::inRange<std::int64_t>(0, kMaxBackoffMs + 1);
  const auto least = *rc::gen::inRange<std::int64_t>(0, most + 1);
  const auto attempt = *rc::gen::inRange<std::uint32_t>(1, kMaxAttempts + 1);
  const QueueSettings settings = between(Millis(least), Millis(most));
  const std::int64_t full = full_delay(least, most, attempt);
  const std::int64_t ms = backoff_ms(settings, attempt, seed);
  RC_ASSERT(ms >= full / 2);
  RC_ASSERT(ms <= full);
  RC_ASSERT(ms == backoff_ms(settings, attempt, seed));
}

}  // namespace
}  // namespace tarry::core
