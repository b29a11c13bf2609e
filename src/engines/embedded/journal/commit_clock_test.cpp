#include "engines/embedded/journal/commit_clock.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tarry::embedded {
namespace {

using namespace std::chrono_literals;
using Step = CommitClock::Step;

TEST(CommitClock, CountsEachStepInItsBuckets) {
  CommitClock clock;
  clock.record(Step::sync, 50us);  // a bound belongs to its bucket
  clock.record(Step::sync, 51us);
  clock.record(Step::sync, 1h);
  clock.record(Step::gather, -5us);
  CommitTimes times;
  clock.add_to(times);
  EXPECT_EQ(times.sync.counts[0], 1u);
  EXPECT_EQ(times.sync.counts[1], 1u);
  EXPECT_EQ(times.sync.counts.back(), 1u);
  EXPECT_NEAR(times.sync.sum_seconds, 3600.000101, 1e-9);
  EXPECT_EQ(times.gather.counts[0], 1u);
  EXPECT_EQ(times.gather.sum_seconds, 0.0);
  EXPECT_EQ(std::accumulate(times.answer.counts.begin(), times.answer.counts.end(), 0u), 0u);
  clock.add_to(times);  // as the shards of a store do
  EXPECT_EQ(times.sync.counts[0], 2u);
}

}  // namespace
}  // namespace tarry::embedded
