#include "app/sizing/sizing.h"

#include <cmath>

#include <gtest/gtest.h>

#include "app/sizing/lateness_simulation.h"

namespace tarry::app::sizing {
namespace {

Load load_of(Engine engine, double rate, double pending, double payload = 100) {
  Load load;
  load.engine = engine;
  load.rate = rate;
  load.pending = pending;
  load.payload = payload;
  return load;
}

Plan must(const Load& load) {
  const auto plan = plan_of(load);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return plan ? *plan : Plan();
}

TEST(Sizing, TheModelIsNearWhatWasMeasured) {
  // Limits from docs/guide/sizing.md: microseconds of processor time per life, on one, two and
  // three masters.
  for (const double payload : {100.0, 300.0, 1000.0}) {
    Load load = load_of(Engine::redis_cluster, 1, 1, payload);
    const double us = must(load).busy * 1e6;
    EXPECT_GT(us, 20) << payload;
    EXPECT_LT(us, 34) << payload;
  }
  EXPECT_NEAR(must(load_of(Engine::redis_cluster, 1, 1e6, 100)).memory / 1e6, 266, 5);
  EXPECT_NEAR(must(load_of(Engine::redis_cluster, 1, 1e6, 300)).memory / 1e6, 474, 10);
  EXPECT_NEAR(must(load_of(Engine::redis_cluster, 1, 1e6, 1000)).memory / 1e6, 1241, 10);
}

TEST(Sizing, AMasterIsHalfFullAndHalfBusyAtMost) {
  for (const double rate : {1e3, 5e4, 1e6}) {
    for (const double pending : {1e6, 2e8, 1e9}) {
      const Load load = load_of(Engine::redis_cluster, rate, pending, 300);
      const Plan plan = must(load);
      EXPECT_LE(plan.busy, 0.5);
      EXPECT_LE(plan.memory_busiest, load.memory / 2);
      EXPECT_GE(plan.skew, 1);
      EXPECT_GT(plan.lateness_p99_ms, 0.2);
      EXPECT_TRUE(std::isfinite(plan.lateness_p99_ms));
      EXPECT_GE(plan.queues * plan.shards, plan.partitions);
      if (plan.masters == 1) continue;
      // With one master less, a limit would be exceeded.
      const double memory = plan.memory / (plan.masters - 1);
      const double busy = plan.busy / plan.skew * plan.masters / (plan.masters - 1);
      EXPECT_TRUE(memory * 1.6 > load.memory / 2 || busy * 1.6 > 0.5);
    }
  }
}

TEST(Sizing, ItSaysWhichLimitDecides) {
  EXPECT_EQ(must(load_of(Engine::redis_cluster, 5e4, 2e8, 300)).because, "memory");
  EXPECT_EQ(must(load_of(Engine::redis_cluster, 1e6, 1e6, 300)).because, "processor");
}

TEST(Sizing, AThousandMastersHoldTenThousandMillions) {
  Load load = load_of(Engine::redis_cluster, 1e6, 1e10, 100);
  load.memory = 64.0 * (1ull << 30);
  const Plan plan = must(load);
  EXPECT_GT(plan.masters, 80u);
  EXPECT_LE(plan.masters, kMostMasters);
  EXPECT_EQ(plan.partitions, 1'024u);
  // A message costs the same work on each master; only the skew differs.
  const Plan small = must(load_of(Engine::redis_cluster, 1e4, 1e8, 100));
  EXPECT_NEAR(plan.busy / plan.skew * plan.masters / 1e6,
              small.busy / small.skew * small.masters / 1e4, 1e-9);
}

TEST(Sizing, WhatIsTooMuchIsRefusedByName) {
  const auto one = plan_of(load_of(Engine::redis, 1e6, 1e6));
  ASSERT_FALSE(one);
  EXPECT_NE(one.error().message.find("engine redis takes this load on more than 1 server; the "
                                     "limit is its processor: choose --engine redis-cluster"),
            std::string::npos)
      << one.error().message;
  const auto many = plan_of(load_of(Engine::redis_cluster, 1e8, 1e12));
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().message.find("more than 1000 masters"), std::string::npos)
      << many.error().message;
  EXPECT_TRUE(plan_of(load_of(Engine::file, 1e5, 1e8)));
}

TEST(Sizing, TheSimulationKnowsTheTextbook) {
  // An M/D/1 queue that is half busy: the mean wait is half of a call's time (Pollaczek and
  // Khinchine), and the median call hardly waits.
  const CallWait half = simulate_calls({5'000, 100}, 1);
  EXPECT_GE(half.p50_ms, 0.1);
  EXPECT_LT(half.p50_ms, 0.15);
  EXPECT_GT(half.p99_ms, 0.3);
  EXPECT_LT(half.p99_ms, 0.6);
  const CallWait idle = simulate_calls({1, 100}, 1);
  EXPECT_NEAR(idle.p99_ms, 0.1, 0.001);
  EXPECT_TRUE(std::isinf(simulate_calls({20'000, 100}, 1).p99_ms));
  EXPECT_EQ(simulate_calls({5'000, 100}, 7).p99_ms, simulate_calls({5'000, 100}, 7).p99_ms);
}

}  // namespace
}  // namespace tarry::app::sizing
