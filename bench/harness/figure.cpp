#include "harness/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/output/table.h"
#include "base/assert.h"

namespace tarry::bench {

Measured median_of(std::vector<double> rounds) {
  TARRY_ASSERT(!rounds.empty());
  std::sort(rounds.begin(), rounds.end());
  const std::size_t middle = rounds.size() / 2;
  const double value =
      rounds.size() % 2 == 1 ? rounds[middle] : (rounds[middle - 1] + rounds[middle]) / 2;
  return {value, rounds.front(), rounds.back()};
}

std::string json_of(const Line& line) {
  const auto& [figure, measured] = line;
  return fmt::format(
      R"({{"id":"{}","value":{:.6g},"low":{:.6g},"high":{:.6g},"must":{:.6g},"reach":{:.6g},)"
      R"("unit":"{}","ok":{}}})",
      figure.id, measured.value, measured.low, measured.high, figure.must, figure.reach,
      figure.unit, line.ok());
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  if (std::abs(value) >= 100 || value == 0) return fmt::format("{:.0f}", value);
  return fmt::format("{:#.3g}", value);
}

std::string table_of(const std::vector<Line>& lines, std::size_t width) {
  app::Table table({{"", false, false, true},
                    {"what", false, true, false},
                    {"median", true, false, false},
                    {"lowest", true, false, false},
                    {"highest", true, false, false},
                    {"must", true, false, false},
                    {"reach", true, false, false},
                    {"unit", false, false, false},
                    {"", false, false, false}});
  for (const Line& line : lines) {
    const std::string sign = line.figure.better == Better::higher ? ">= " : "<= ";
    const std::string_view verdict = line.meets(line.figure.reach) ? "reached"
                                     : line.ok()                   ? "met"
                                                                   : "MISSED";
    table.add({line.figure.id, line.figure.what, short_number(line.measured.value),
               short_number(line.measured.low), short_number(line.measured.high),
               sign + short_number(line.figure.must), sign + short_number(line.figure.reach),
               line.figure.unit, verdict});
  }
  return table.text(width);
}

}  // namespace tarry::bench
