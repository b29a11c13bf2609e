#include "app/pictures/forecast_chart.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "app/output/progress.h"
#include "base/assert.h"
#include "base/text/text.h"

namespace tarry::app {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Millis kDay = hours(24);

constexpr std::array<Millis, 26> kWidths = {
    seconds(1), seconds(2), seconds(5),  seconds(10),  seconds(15), seconds(30), minutes(1),
    minutes(2), minutes(5), minutes(10), minutes(15),  minutes(30), hours(1),    hours(2),
    hours(3),   hours(6),   hours(12),   kDay,         2 * kDay,    7 * kDay,    30 * kDay,
    90 * kDay,  365 * kDay, 730 * kDay,  1'825 * kDay, 3'650 * kDay};

struct Row {
  std::string when;
  std::uint64_t count;
};

// The end of a bucket.
std::string end_text(const Forecast& forecast, std::size_t bucket) {
  const Millis end = forecast.width * (bucket + 1);
  if (!forecast.from) return "within " + base::format_duration_ms(end.count());
  return "by " + base::format_time_ms((*forecast.from + end).time_since_epoch().count());
}

}  // namespace

std::string bar(std::uint64_t count, std::uint64_t most, std::size_t columns) {
  if (count == 0) return {};
  const double share = static_cast<double>(count) / static_cast<double>(most);
  const auto halves =
      std::max<std::size_t>(1, static_cast<std::size_t>(share * 2 * static_cast<double>(columns)));
  std::string text;
  for (std::size_t i = 0; i < halves / 2; ++i) text += "█";
  if (halves % 2 != 0) text += "▌";
  return text;
}

Millis horizon_of(const Forecast& forecast) {
  std::size_t end = forecast.buckets.size();
  while (end > 0 && forecast.buckets[end - 1] == 0) --end;
  return forecast.width * end;
}

Millis width_for(Millis horizon, std::size_t rows) {
  const auto* found =
      std::ranges::find_if(kWidths, [&](Millis width) { return width * rows >= horizon; });
  return found == kWidths.end() ? kWidths.back() : *found;
}

Forecast widened(const Forecast& forecast, Millis width) {
  TARRY_ASSERT(width.count() > 0 && width.count() % forecast.width.count() == 0);
  const auto each = static_cast<std::size_t>(width / forecast.width);
  Forecast wide{width, forecast.due_now, {}, forecast.later, forecast.from};
  const auto end = static_cast<std::size_t>(horizon_of(forecast) / forecast.width);
  wide.buckets.resize((end + each - 1) / each);
  for (std::size_t i = 0; i < end; ++i) wide.buckets[i / each] += forecast.buckets[i];
  return wide;
}

std::string forecast_text(const Forecast& forecast, std::size_t columns) {
  std::vector<Row> rows{{forecast.from ? "earlier" : "now", forecast.due_now}};
  for (std::size_t i = 0; i < forecast.buckets.size(); ++i) {
    rows.push_back({end_text(forecast, i), forecast.buckets[i]});
  }
  if (forecast.later > 0) rows.push_back({"later", forecast.later});

  std::size_t words = 3;
  std::size_t digits = 8;  // width of the heading MESSAGES
  std::uint64_t most = 1;
  for (const Row& row : rows) {
    words = std::max(words, row.when.size());
    digits = std::max(digits, grouped(row.count).size());
    most = std::max(most, row.count);
  }
  const std::size_t taken = words + 2 + digits + 2;
  const std::size_t width = std::max(columns == 0 ? 80 : columns, taken + 8);
  std::string out = fmt::format("{:<{}}  {:>{}}\n", "DUE", words, "MESSAGES", digits);
  for (const Row& row : rows) {
    std::string line = fmt::format("{:<{}}  {:>{}}  {}", row.when, words, grouped(row.count),
                                   digits, bar(row.count, most, width - taken));
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace tarry::app
