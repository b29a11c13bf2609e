#include "core/figures/lateness_histogram.h"

#include <gtest/gtest.h>

namespace tarry::core {
namespace {

TEST(LatenessHistogram, CountsWhatIsNotAboveABound) {
  LatenessHistogram histogram;
  histogram.record(Millis(-5));
  histogram.record(Millis(1));
  histogram.record(Millis(2));
  histogram.record(Millis(300'000));
  histogram.record(Millis(300'001));
  EXPECT_EQ(histogram.counts[0], 2u);
  EXPECT_EQ(histogram.counts[1], 1u);
  EXPECT_EQ(histogram.counts[15], 1u);
  EXPECT_EQ(histogram.counts[16], 1u);
  EXPECT_DOUBLE_EQ(histogram.sum_seconds, 600.004);
}

TEST(LatenessHistogram, AddsUp) {
  LatenessHistogram one;
  LatenessHistogram other;
  one.record(Millis(1));
  other.record(Millis(1));
  other.record(Millis(700));
  one.add(other);
  EXPECT_EQ(one.counts[0], 2u);
  EXPECT_EQ(one.counts[9], 1u);
  EXPECT_DOUBLE_EQ(one.sum_seconds, 0.702);
}

}  // namespace
}  // namespace tarry::core
