// Local time: what a clock on the wall shows, as seconds since 1970-01-01T00:00:00 on that clock.
// And the calendar's days. Plain values and pure functions.
#pragma once

#include <chrono>
#include <cstdint>

namespace tarry::schedule {

/// Seconds since 1970-01-01T00:00:00Z.
using UtcSeconds = std::int64_t;
/// Seconds since 1970-01-01T00:00:00 of a local clock. Without its zone, it is no moment.
using LocalSeconds = std::int64_t;

inline constexpr std::int64_t kDaySeconds = 86'400;

[[nodiscard]] constexpr std::int64_t floor_div(std::int64_t value, std::int64_t by) noexcept {
  return value / by - (value % by < 0 ? 1 : 0);
}

/// The day of a local time, counted since 1970-01-01.
[[nodiscard]] constexpr std::int64_t day_of(LocalSeconds local) noexcept {
  return floor_div(local, kDaySeconds);
}

[[nodiscard]] constexpr std::int64_t day_number(std::chrono::year_month_day date) noexcept {
  return std::chrono::sys_days(date).time_since_epoch().count();
}

[[nodiscard]] constexpr std::chrono::year_month_day date_of(std::int64_t day) noexcept {
  return std::chrono::sys_days(std::chrono::days(day));
}

[[nodiscard]] constexpr unsigned last_day_of(std::chrono::year_month month) noexcept {
  return unsigned((month / std::chrono::last).day());
}

/// 0 is Sunday.
[[nodiscard]] constexpr unsigned weekday_of(std::int64_t day) noexcept {
  return std::chrono::weekday(std::chrono::sys_days(std::chrono::days(day))).c_encoding();
}

}  // namespace tarry::schedule
