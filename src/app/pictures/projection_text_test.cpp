#include "app/pictures/projection_text.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/text/text.h"

namespace tarry::app {
namespace {

using namespace std::chrono_literals;

Foreseen foreseen(const Forecast& forecast, ProjectionOptions options) {
  if (options.span == 0ms) options.span = forecast.width;
  auto projection = project(forecast, options);
  EXPECT_TRUE(projection);
  const auto now = base::parse_time_ms("2026-11-20T14:20:00Z");
  return {forecast, options, projection ? *projection : Projection(), Time(Millis(*now))};
}

TEST(ProjectionText, SaysWhenTheBacklogIsDrained) {
  EXPECT_EQ(projection_line(foreseen({1min, 7'300, {0}, 0}, {.rate = 10})),
            "drained at 14:32:10Z, in 12m10s; the latest message comes 12m10s late at 14:32:10Z");
  EXPECT_EQ(projection_line(foreseen({1min, 0, {60}, 0}, {.rate = 1})),
            "no backlog: each message is claimed when it is due");
  EXPECT_EQ(
      projection_line(foreseen({1min, 0, {600, 0}, 0}, {.rate = 2})),
      "nothing waits now; the last backlog ends at 14:25:00Z, in 5m; the latest message comes "
      "4m late at 14:25:00Z");
  EXPECT_EQ(projection_line(foreseen({1min, 60, {0, 0, 0, 600}, 0}, {.rate = 2})),
            "drained at 14:20:30Z, in 30s; the last backlog ends at 14:28:00Z, in 8m; the latest "
            "message comes 4m late at 14:28:00Z");
}

TEST(ProjectionText, SaysThatItIsNever) {
  EXPECT_EQ(projection_line(foreseen({1min, 0, {0}, 0}, {.rate = 100, .arrivals = 120})),
            "never drained at this rate: 120/s come, 100/s go; 72,000 behind after 1h");
  EXPECT_EQ(projection_line(foreseen({1min, 4, {0}, 0}, {.rate = 0.5, .arrivals = 0.5})),
            "never drained at this rate: 0.5/s come, 0.5/s go; 4 behind after 1h");
}

TEST(ProjectionText, NamesTheDayOfADistantMoment) {
  const auto line = projection_line(foreseen({1min, 864'000, {0}, 0}, {.rate = 1}));
  EXPECT_EQ(line.substr(0, 43), "drained at 2026-11-30T14:20:00Z, in 10d; th");
  Foreseen unknown = foreseen({1min, 10, {0}, 0}, {.rate = 1});
  unknown.now.reset();
  EXPECT_EQ(projection_line(unknown), "drained, in 10s; the latest message comes 10s late");
  EXPECT_NE(
      projection_line(foreseen({1min, 1ull << 60, {0}, 0}, {.rate = 1})).find("in over 100 years"),
      std::string::npos);
}

TEST(ProjectionText, HasARowForEachSpanAndABarForItsBacklog) {
  Forecast forecast{1min, 120, {0, 60, 0}, 5};
  std::istringstream in(projection_text(foreseen(forecast, {.rate = 1}), 65));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "           DUE  CLAIMED  BACKLOG  LATE P50  LATE LAST",
                       "now        120        0      120        1m         2m  ██████████",
                       "within 1m    0       60       60     1m30s         1m  █████",
                       "within 2m   60       60       60        1m         1m  █████",
                       "within 3m    0       60        0       30s         0s",
                       "5 messages fall due later, and are not counted"}));
}

TEST(ProjectionText, FitsAScreen) {
  Forecast forecast{30min, 12'345'678, std::vector<std::uint64_t>(20, 1'234'567), 0};
  for (const std::size_t columns : {std::size_t{0}, std::size_t{100}}) {
    std::istringstream in(projection_text(foreseen(forecast, {.rate = 700}), columns));
    for (std::string line; std::getline(in, line);) {
      std::size_t width = 0;
      for (const char each : line) width += (static_cast<unsigned char>(each) & 0xC0) != 0x80;
      EXPECT_LE(width, columns == 0 ? 80 : columns) << line;
    }
  }
}

}  // namespace
}  // namespace tarry::app
