#include "app/pictures/forecast_chart.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace tarry::app {
namespace {

using namespace std::chrono_literals;

Forecast forecast_of(Millis width, std::vector<std::uint64_t> buckets) {
  return {width, 0, std::move(buckets), 0};
}

std::vector<std::string> drawn(const Forecast& forecast, std::size_t columns) {
  std::vector<std::string> lines;
  std::istringstream in(forecast_text(forecast, columns));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(ForecastChart, EndsWithTheLastBucketThatHasAMessage) {
  EXPECT_EQ(horizon_of(forecast_of(1min, {})), 0min);
  EXPECT_EQ(horizon_of(forecast_of(1min, {0, 0})), 0min);
  EXPECT_EQ(horizon_of(forecast_of(1min, {0, 3, 0})), 2min);
}

TEST(ForecastChart, TakesTheLeastWidthOfWhichTheRowsReachFarEnough) {
  EXPECT_EQ(width_for(0s, 20), 1s);
  EXPECT_EQ(width_for(20s, 20), 1s);
  EXPECT_EQ(width_for(21s, 20), 2s);
  EXPECT_EQ(width_for(20h, 20), 1h);
  EXPECT_EQ(width_for(24h * 600, 20), 720h);
  EXPECT_EQ(width_for(24h * 100'000, 20), 24h * 3'650);
}

// Messages that are due in some years are forecast in spans of five days.
TEST(ForecastChart, CenturiesFitTheScreenToo) {
  for (const Millis horizon : {10'001h, 24h * 400, 24h * 3'653, 24h * 36'525}) {
    const Millis width = width_for(horizon, 20);
    EXPECT_LE(horizon, width * 20) << horizon.count();
    EXPECT_EQ(width % (24h * 5), 0ms) << horizon.count();
    EXPECT_EQ(width % 1h, 0ms) << horizon.count();
  }
}

TEST(ForecastChart, WiderBucketsHaveTheSameMessages) {
  Forecast fine = forecast_of(1min, {1, 2, 3, 4, 5, 0, 0});
  fine.due_now = 7;
  fine.later = 9;
  const Forecast wide = widened(fine, 2min);
  EXPECT_EQ(wide.width, 2min);
  EXPECT_EQ(wide.buckets, (std::vector<std::uint64_t>{3, 7, 5}));
  EXPECT_EQ(wide.due_now, 7u);
  EXPECT_EQ(wide.later, 9u);
}

TEST(ForecastChart, FromATimeOnItNamesTheEndsOfItsBuckets) {
  Forecast forecast = forecast_of(24h, {2, 0, 1});
  forecast.due_now = 3;
  forecast.from = Time(24h * 20'000);
  const auto lines = drawn(widened(forecast, 24h), 60);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_TRUE(lines[1].starts_with("earlier  ")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("by 2024-10-05T00:00:00")) << lines[2];
  EXPECT_TRUE(lines[4].starts_with("by 2024-10-07T00:00:00")) << lines[4];
}

TEST(ForecastChart, BarsAreAsLongAsCountsAreGreat) {
  Forecast forecast = forecast_of(30min, {1000, 500, 1, 0});
  forecast.due_now = 250;
  const auto lines = drawn(forecast, 40);
  // 12 columns for words and 8 for digits leave 16 for the bar.
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "DUE           MESSAGES");
  EXPECT_EQ(lines[1], "now                250  ████");
  EXPECT_EQ(lines[2], "within 30m       1,000  ████████████████");
  EXPECT_EQ(lines[3], "within 1h          500  ████████");
  EXPECT_EQ(lines[4], "within 1h30m         1  ▌");
  EXPECT_EQ(lines[5], "within 2h            0");
}

TEST(ForecastChart, SaysWhatComesLaterWhereAnythingDoes) {
  Forecast forecast = forecast_of(1h, {1});
  EXPECT_EQ(drawn(forecast, 80).size(), 3u);
  forecast.later = 12;
  EXPECT_EQ(drawn(forecast, 80).back().substr(0, 5), "later");
}

}  // namespace
}  // namespace tarry::app
