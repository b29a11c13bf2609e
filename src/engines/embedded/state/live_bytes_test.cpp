#include "engines/embedded/state/live_bytes.h"

#include <gtest/gtest.h>

namespace tarry::embedded {
namespace {

TEST(LiveBytes, CountsBySegmentInSizeClasses) {
  LiveBytes live;
  const Position small(1, 96, 100);    // 112
  const Position large(1, 300, 5000);  // 5024
  const Position other(2, 96, 16);
  live.add(1, small);
  live.add(1, large);
  live.add(2, other);
  EXPECT_EQ(live.of(1).messages, 2u);
  EXPECT_EQ(live.of(1).bytes, small.size() + large.size());
  EXPECT_EQ(live.total_bytes(), small.size() + large.size() + 16);
  live.remove(1, small);
  EXPECT_EQ(live.of(1).messages, 1u);
  EXPECT_EQ(live.of(1).bytes, large.size());
  live.remove(1, large);
  live.remove(2, other);
  EXPECT_EQ(live.of(1).messages, 0u);
  EXPECT_EQ(live.of(1).bytes, 0u);
  EXPECT_EQ(live.total_bytes(), 0u);
}

TEST(LiveBytes, KnowsWhatTheCopiesOfOneSegmentGrowByAtMost) {
  LiveBytes live;
  const Position first(1, 96, 100);
  const Position second(2, 96, 100);
  live.add(1, first);
  live.add(2, second);
  live.add(2, Position(2, 300, 100));
  EXPECT_EQ(live.most_growth(), 2 * kCarriedBytes);
  live.add_unwritten(1, 200);
  live.add_unwritten(2, 10);
  EXPECT_EQ(live.of(1).unwritten, 200u);
  EXPECT_EQ(live.total_unwritten(), 210u);
  EXPECT_EQ(live.most_growth(), kCarriedBytes + 200);
  live.remove_unwritten(1, 200);
  live.remove(1, first);
  EXPECT_EQ(live.total_unwritten(), 10u);
  EXPECT_EQ(live.most_growth(), kCarriedBytes + 200) << "until it is measured again";
  live.measure_growth();
  EXPECT_EQ(live.most_growth(), 2 * kCarriedBytes + 10);
}

TEST(LiveBytes, AnUnknownSegmentHoldsNothing) {
  const LiveBytes live;
  EXPECT_EQ(live.of(7).messages, 0u);
}

}  // namespace
}  // namespace tarry::embedded
