#include "base/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tarry::base {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Histogram, IsAllZeroWhenEmpty) {
  const Histogram empty;
  EXPECT_EQ(empty.count(), 0U);
  EXPECT_EQ(empty.min(), 0);
  EXPECT_EQ(empty.max(), 0);
  EXPECT_EQ(empty.mean(), 0);
  for (const double p : {-1.0, 0.0, 50.0, 100.0}) EXPECT_EQ(empty.percentile(p), 0);
}

TEST(Histogram, IsExactForSmallValues) {
  Histogram histogram;
  for (std::int64_t value = 1; value <= 100; ++value) histogram.record(value);
  EXPECT_EQ(histogram.count(), 100U);
  EXPECT_EQ(histogram.min(), 1);
  EXPECT_EQ(histogram.max(), 100);
  EXPECT_DOUBLE_EQ(histogram.mean(), 50.5);
  EXPECT_EQ(histogram.percentile(1), 1);
  EXPECT_EQ(histogram.percentile(50), 50);
  EXPECT_EQ(histogram.percentile(50.1), 51);
  EXPECT_EQ(histogram.percentile(99), 99);
  EXPECT_EQ(histogram.percentile(100), 100);
  EXPECT_EQ(histogram.percentile(0), 1);
  EXPECT_EQ(histogram.percentile(std::nan("")), 1);
  EXPECT_EQ(histogram.percentile(1000), 100);
}

TEST(Histogram, HoldsEveryPowerOfTwoAndItsNeighboursWithinTheError) {
  for (int bit = 0; bit < 63; ++bit) {
    for (const std::int64_t offset : {-1, 0, 1}) {
      const std::int64_t value = (std::int64_t{1} << bit) + offset;
      Histogram histogram;
      histogram.record(value);
      histogram.record(kMost);  // otherwise the percentile would be clamped to the exact value
      const std::int64_t answer = histogram.percentile(50);
      EXPECT_GE(answer, value);
      EXPECT_LE(answer - value, value / 64) << value;
    }
  }
}

TEST(Histogram, TakesNegativeValuesAsZeroAndTheLargestAsItIs) {
  Histogram histogram;
  histogram.record(-5);
  EXPECT_EQ(histogram.max(), 0);
  histogram.record(kMost);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), kMost);
  EXPECT_EQ(histogram.percentile(100), kMost);
  EXPECT_EQ(histogram.percentile(51), kMost);
}

TEST(Histogram, CountsManyAtOnce) {
  Histogram histogram;
  histogram.record(10, 0);
  EXPECT_EQ(histogram.count(), 0U);
  histogram.record(10, 99);
  histogram.record(1000);
  EXPECT_EQ(histogram.count(), 100U);
  EXPECT_EQ(histogram.percentile(99), 10);
  EXPECT_EQ(histogram.percentile(99.5), 1000);
  EXPECT_DOUBLE_EQ(histogram.mean(), 19.9);
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.percentile(50), 0);
}

RC_GTEST_PROP(Histogram, PercentilesAreWithinOneSixtyFourthOfTheTruth, ()) {
  const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(
      rc::gen::map(rc::gen::pair(rc::gen::inRange<std::int64_t>(0, kMost), rc::gen::inRange(0, 63)),
                   [](const auto& drawn) { return drawn.first >> drawn.second; })));
  const double p = *rc::gen::map(rc::gen::inRange(1, 10'001), [](int n) { return n / 100.0; });

  Histogram histogram;
  for (const std::int64_t value : values) histogram.record(value);

  auto sorted = values;
  std::ranges::sort(sorted);
  const double wanted = std::ceil(p / 100 * static_cast<double>(sorted.size()));
  const std::int64_t truth = sorted[static_cast<std::size_t>(wanted) - 1];
  RC_ASSERT(histogram.percentile(p) >= truth);
  RC_ASSERT(histogram.percentile(p) - truth <= truth / 64);
  RC_ASSERT(histogram.min() == sorted.front());
  RC_ASSERT(histogram.max() == sorted.back());
}

RC_GTEST_PROP(Histogram, MergingIsRecordingAll,
              (const std::vector<std::uint32_t>& first, const std::vector<std::uint32_t>& second)) {
  Histogram a;
  Histogram b;
  Histogram all;
  for (const auto value : first) {
    a.record(value);
    all.record(value);
  }
  for (const auto value : second) {
    b.record(value);
    all.record(value);
  }
  a.merge(b);
  RC_ASSERT(a.count() == all.count());
  RC_ASSERT(a.min() == all.min());
  RC_ASSERT(a.max() == all.max());
  RC_ASSERT(std::abs(a.mean() - all.mean()) <= all.mean() * 1e-9);
  for (int p = 0; p <= 100; ++p) RC_ASSERT(a.percentile(p) == all.percentile(p));
}

}  // namespace
}  // namespace tarry::base
