#include "harness/figure.h"

#include <gtest/gtest.h>

#include <limits>

namespace tarry::bench {
namespace {

constexpr Figure kSpeed{"F1", "speed", "ratio", Better::higher, 4, 6};
constexpr Figure kLateness{"F9", "lateness", "ms", Better::lower, 1, 0.2};

TEST(Figure, TheMedianStandsInTheMiddleOfItsSpread) {
  const Measured odd = median_of({5, 1, 3});
  EXPECT_EQ(odd.value, 3);
  EXPECT_EQ(odd.low, 1);
  EXPECT_EQ(odd.high, 5);
  EXPECT_EQ(median_of({4, 2}).value, 3);
  EXPECT_EQ(median_of({7}).value, 7);
}

TEST(Figure, HigherOrLowerIsBetter) {
  EXPECT_TRUE((Line{kSpeed, {4, 3, 5}}.ok()));
  EXPECT_FALSE((Line{kSpeed, {3.99, 3, 9}}.ok()));
  EXPECT_TRUE((Line{kLateness, {1, 0, 2}}.ok()));
  EXPECT_FALSE((Line{kLateness, {1.01, 0, 2}}.ok()));
  EXPECT_TRUE((Line{kLateness, {0.1, 0, 2}}.meets(kLateness.reach)));
  EXPECT_FALSE((Line{kLateness, {std::numeric_limits<double>::quiet_NaN(), 0, 0}}.ok()));
}

TEST(Figure, AsJson) {
  EXPECT_EQ(json_of({kSpeed, {4.25, 4, 4.5}}),
            R"({"id":"F1","value":4.25,"low":4,"high":4.5,"must":4,"reach":6,"unit":"ratio",)"
            R"("ok":true})");
}

TEST(Figure, AsATable) {
  const std::string table = table_of({{kSpeed, {6.5, 5, 7}}, {kLateness, {3, 2, 4}}}, 0);
  EXPECT_NE(table.find("reached"), std::string::npos) << table;
  EXPECT_NE(table.find("MISSED"), std::string::npos) << table;
  EXPECT_NE(table.find(">= 4.00"), std::string::npos) << table;
  EXPECT_NE(table.find("<= 0.200"), std::string::npos) << table;
}

TEST(Figure, ThreeDigitsCount) {
  EXPECT_EQ(short_number(0.01234), "0.0123");
  EXPECT_EQ(short_number(4.567), "4.57");
  EXPECT_EQ(short_number(99.94), "99.9");
  EXPECT_EQ(short_number(1234.5), "1234");
  EXPECT_EQ(short_number(0), "0");
}

}  // namespace
}  // namespace tarry::bench
