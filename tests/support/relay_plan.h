// The behaviour of a relay that was given only its queue and its sink.
#pragma once

#include <gtest/gtest.h>

#include "app/relays/relay_plan.h"

namespace tarry::testing {

inline void expect_documented_defaults(const app::RelayPlan& plan) {
  EXPECT_EQ(plan.concurrency, 1u);
  EXPECT_EQ(plan.options.threads, 1u);
  EXPECT_EQ(plan.options.relay.in_flight, 1'000u);
  EXPECT_EQ(plan.options.relay.batch, 100u);
  EXPECT_EQ(plan.options.relay.rate, 0u);
  EXPECT_FALSE(plan.options.relay.max_attempts);
  EXPECT_FALSE(plan.options.relay.lease);
  EXPECT_EQ(plan.options.relay.drain, Millis(10'000));
  EXPECT_EQ(plan.coordination, "all");
  EXPECT_EQ(plan.session, Millis(10'000));
}

/// Expects two threads, 30 in flight, batches of 40, 50 a second, 6 attempts, a lease of 7m, a
/// drain of 8s, and a session of 11s.
inline void expect_numbers_given(const app::RelayPlan& plan) {
  EXPECT_EQ(plan.options.threads, 2u);
  EXPECT_EQ(plan.options.relay.in_flight, 30u);
  EXPECT_EQ(plan.options.relay.batch, 40u);
  EXPECT_EQ(plan.options.relay.rate, 50u);
  EXPECT_EQ(plan.options.relay.max_attempts, 6u);
  EXPECT_EQ(plan.options.relay.lease, Millis(420'000));
  EXPECT_EQ(plan.options.relay.drain, Millis(8'000));
  EXPECT_EQ(plan.session, Millis(11'000));
}

}  // namespace tarry::testing
