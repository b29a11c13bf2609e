// DayRule: which days of the calendar a cron expression names, by its day of month, month and day
// of week. Plain values and pure functions.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tarry::schedule {

/// Sets of small numbers are bits: bit N is number N.
struct DayRule {
  std::uint32_t months = 0;  // 1 .. 12

  std::uint32_t days = 0;       // of the month, 1 .. 31
  std::uint32_t from_last = 0;  // `L-N`: N days before the last day of the month; `L` is bit 0
  std::uint32_t nearest = 0;    // `NW`: the weekday (Monday to Friday) nearest to day N
  bool last_weekday = false;    // `LW`

  std::uint32_t weekdays = 0;               // 0 .. 6, 0 is Sunday
  std::array<std::uint32_t, 7> nth = {};    // `D#N`: of weekday D, bits 1 .. 5
  std::uint32_t last_weekdays_of_type = 0;  // `DL`: the last weekday D of the month

  // True if the days are those of the month or those of the week. False: a day must be both.
  bool either = false;

  [[nodiscard]] bool matches(std::chrono::year_month_day date) const noexcept;

  /// The first matching day in `from` .. `until`, days since 1970.
  [[nodiscard]] std::optional<std::int64_t> next(std::int64_t from, std::int64_t until) const;

  friend bool operator==(const DayRule&, const DayRule&) = default;
};

}  // namespace tarry::schedule
