#include "app/pictures/queue_flow.h"

#include <gtest/gtest.h>

namespace tarry::app {
namespace {

using namespace std::chrono_literals;

TEST(QueueFlow, CountsClaimsAndWhatCameMeanwhile) {
  // 50 were claimed, and 20 more are pending than before: 70 came.
  const Flow flow = flow_between({100, 30}, {150, 50}, 5s);
  EXPECT_EQ(flow.claimed, 10);
  EXPECT_EQ(flow.arrived, 14);
}

TEST(QueueFlow, WhatIsClaimedFromTheBacklogDidNotCome) {
  const Flow flow = flow_between({0, 1'000}, {50, 950}, 2s);
  EXPECT_EQ(flow.claimed, 25);
  EXPECT_EQ(flow.arrived, 0);
}

TEST(QueueFlow, IsNeverBelowNothing) {
  const Flow flow = flow_between({9, 1'000}, {0, 0}, 1s);
  EXPECT_EQ(flow.claimed, 0);
  EXPECT_EQ(flow.arrived, 0);
}

TEST(QueueFlow, HasNoMoreDigitsThanItKnows) {
  EXPECT_EQ(flow_between({0, 0}, {10, 0}, 3s).claimed, 3.3);
  EXPECT_EQ(flow_between({0, 0}, {1'000, 0}, 3s).claimed, 333);
}

}  // namespace
}  // namespace tarry::app
