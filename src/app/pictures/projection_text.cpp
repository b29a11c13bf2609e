#include "app/pictures/projection_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "app/output/progress.h"
#include "app/pictures/forecast_chart.h"
#include "base/text/text.h"

namespace tarry::app {
namespace {

using namespace std::chrono_literals;

// A duration with the digits that people read: 12m3s, 3h20m, 5d7h.
std::string about(Millis value) {
  if (value.count() > base::kMaxDurationMs) return "over 100 years";
  Millis unit = 24h;
  if (value < 10s) {
    unit = 100ms;
  } else if (value < 1h) {
    unit = 1s;
  } else if (value < 24h) {
    unit = 1min;
  } else if (value < 30 * 24h) {
    unit = 1h;
  }
  return base::format_duration_ms((value + unit / 2) / unit * unit.count());
}

// " at 14:32:10Z", with the date unless it is within a day.
std::string at_moment(const Foreseen& foreseen, Millis ahead) {
  if (!foreseen.now || ahead.count() > base::kMaxDurationMs) return {};
  const Time moment = *foreseen.now + ahead;
  if (moment.time_since_epoch().count() > base::kMaxTimeMs) return {};
  const std::string text = base::format_time_ms(moment.time_since_epoch().count());
  return " at " + (ahead < 24h ? text.substr(11, 8) : text.substr(0, 19)) + "Z";
}

std::string latest(const Foreseen& foreseen) {
  const Projection& projection = foreseen.projection;
  return fmt::format("the latest message comes {} late{}", about(projection.latest),
                     at_moment(foreseen, projection.latest_at));
}

// How many wait an hour from now, or at the end of the spans if that is later.
std::string behind(const Foreseen& foreseen) {
  const auto& [forecast, options, projection, now] = foreseen;
  const Millis end = options.span * projection.spans.size();
  const Millis look = std::max<Millis>(end, 1h);
  const double more =
      (options.arrivals - options.rate) * static_cast<double>((look - end).count()) / 1000;
  const double waiting = static_cast<double>(projection.backlog) + more;
  return fmt::format("{} behind after {}",
                     grouped(static_cast<std::uint64_t>(std::llround(waiting))), about(look));
}

constexpr std::size_t kColumns = 6;
using Cells = std::array<std::string, kColumns>;

Cells cells(std::string when, const ProjectedSpan& span) {
  return {std::move(when),       grouped(span.due),    grouped(span.claimed),
          grouped(span.backlog), about(span.late_p50), about(span.late_last)};
}

}  // namespace

std::string projection_line(const Foreseen& foreseen) {
  const auto& [forecast, options, projection, now] = foreseen;
  if (!projection.clear) {
    return fmt::format("never drained at this rate: {}/s come, {}/s go; {}", options.arrivals,
                       options.rate, behind(foreseen));
  }
  const Millis clear = *projection.clear;
  if (clear == 0ms) return "no backlog: each message is claimed when it is due";
  if (forecast.due_now == 0) {
    return fmt::format("nothing waits now; the last backlog ends{}, in {}; {}",
                       at_moment(foreseen, clear), about(clear), latest(foreseen));
  }
  const Millis drained = projection.drained.value_or(clear);
  std::string line = fmt::format("drained{}, in {}", at_moment(foreseen, drained), about(drained));
  if (clear > drained) {
    line +=
        fmt::format("; the last backlog ends{}, in {}", at_moment(foreseen, clear), about(clear));
  }
  return line + "; " + latest(foreseen);
}

std::string projection_text(const Foreseen& foreseen, std::size_t columns) {
  const auto& [forecast, options, projection, moment] = foreseen;
  const Millis wait(
      std::llround(std::min(9e15, static_cast<double>(forecast.due_now) * 1000 / options.rate)));
  std::vector<Cells> rows{{"", "DUE", "CLAIMED", "BACKLOG", "LATE P50", "LATE LAST"},
                          cells("now", {forecast.due_now, 0, forecast.due_now, wait / 2, wait})};
  std::vector<std::uint64_t> backlogs{0, forecast.due_now};
  for (const ProjectedSpan& span : projection.spans) {
    const Millis end = options.span * (backlogs.size() - 1);
    rows.push_back(cells("within " + base::format_duration_ms(end.count()), span));
    backlogs.push_back(span.backlog);
  }
  std::array<std::size_t, kColumns> widths{};
  std::size_t taken = 2 * kColumns;
  for (std::size_t i = 0; i < kColumns; ++i) {
    for (const Cells& row : rows) widths[i] = std::max(widths[i], row[i].size());
    taken += widths[i];
  }
  const std::size_t left = columns == 0 ? 80 : columns;
  const std::size_t room = left > taken + 4 ? left - taken : 4;
  const std::uint64_t most = std::max<std::uint64_t>(1, std::ranges::max(backlogs));
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line = fmt::format("{:<{}}", rows[r][0], widths[0]);
    for (std::size_t i = 1; i < kColumns; ++i)
      line += fmt::format("  {:>{}}", rows[r][i], widths[i]);
    if (backlogs[r] > 0) line += "  " + bar(backlogs[r], most, room);
    out += line + "\n";
  }
  if (forecast.later > 0) {
    out +=
        fmt::format("{} fall due later, and are not counted\n", counted(forecast.later, "message"));
  }
  return out;
}

}  // namespace tarry::app
