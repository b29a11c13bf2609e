// Cron: a cron expression, as a set of local times.
//
// Five fields (minute, hour, day of month, month, day of week), or six with the second before them.
// A field is `*`, or a list of numbers, ranges and steps: `5`, `1-5`, `*/15`, `10-50/20`, `1,15`.
// Months and days of the week also have names (`JAN`, `MON`). Sunday is 0 or 7.
//   day of month: `L` the last day, `L-3` three days before it, `15W` the weekday (Monday to
//     Friday) nearest to the 15th, `LW` the last weekday, `?` the same as `*`
//   day of week: `FRI#2` the second Friday of the month, `FRIL` the last, `?` the same as `*`
// As in every cron, a day must match both day fields if one of them begins with `*`; otherwise one
// match is enough. `@hourly`, `@daily` (`@midnight`), `@weekly`, `@monthly` and `@yearly`
// (`@annually`) are short forms.
//
// A plain value: thread safe as such.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tarry/result.h>

#include "schedule/calendar/civil.h"
#include "schedule/calendar/day_rule.h"

namespace tarry::schedule {

struct Cron {
  std::uint64_t seconds = 0;  // bits 0 .. 59, and so on
  std::uint64_t minutes = 0;
  std::uint32_t hours = 0;
  DayRule days;

  /// Error: `invalid_argument`, which names the field and its limits; also for an expression whose
  /// day never comes (`0 0 30 2 *`).
  [[nodiscard]] static Result<Cron> parse(std::string_view text);

  /// Whether it names every hour of the day.
  [[nodiscard]] bool is_hourly() const noexcept;

  /// The first matching time from `from` (included) to `until` (not included).
  [[nodiscard]] std::optional<LocalSeconds> next(LocalSeconds from, LocalSeconds until) const;

  friend bool operator==(const Cron&, const Cron&) = default;
};

}  // namespace tarry::schedule
