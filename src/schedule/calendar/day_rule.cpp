#include "schedule/calendar/day_rule.h"

#include "schedule/calendar/civil.h"

namespace tarry::schedule {
namespace {

using std::chrono::year_month_day;

bool has(std::uint32_t bits, unsigned number) noexcept { return (bits >> number & 1U) != 0; }

/// The weekday (Monday to Friday) nearest to that day, in the same month.
unsigned nearest_weekday(year_month_day date, unsigned last) noexcept {
  const unsigned day = unsigned(date.day());
  switch (weekday_of(day_number(date))) {
    case 6: return day > 1 ? day - 1 : day + 2;
    case 0: return day < last ? day + 1 : day - 2;
    default: return day;
  }
}

bool matches_month_days(const DayRule& rule, year_month_day date) noexcept {
  const unsigned day = unsigned(date.day());
  const std::chrono::year_month month = date.year() / date.month();
  const unsigned last = last_day_of(month);
  if (has(rule.days, day) || has(rule.from_last, last - day)) return true;
  if (rule.last_weekday && nearest_weekday(month / std::chrono::day(last), last) == day) {
    return true;
  }
  if (rule.nearest == 0) return false;
  // The nearest weekday is at most two days away.
  for (unsigned near = day > 2 ? day - 2 : 1; near <= last && near <= day + 2; ++near) {
    if (has(rule.nearest, near) && nearest_weekday(month / std::chrono::day(near), last) == day) {
      return true;
    }
  }
  return false;
}

bool matches_weekdays(const DayRule& rule, year_month_day date) noexcept {
  const unsigned day = unsigned(date.day());
  const unsigned weekday = weekday_of(day_number(date));
  if (has(rule.weekdays, weekday) || has(rule.nth[weekday], (day + 6) / 7)) return true;
  return has(rule.last_weekdays_of_type, weekday) &&
         day + 7 > last_day_of(date.year() / date.month());
}

}  // namespace

bool DayRule::matches(year_month_day date) const noexcept {
  if (!has(months, unsigned(date.month()))) return false;
  const bool by_month = matches_month_days(*this, date);
  if (by_month == either) return either;
  return matches_weekdays(*this, date);
}

std::optional<std::int64_t> DayRule::next(std::int64_t from, std::int64_t until) const {
  for (std::int64_t day = from; day <= until;) {
    const year_month_day date = date_of(day);
    if (!has(months, unsigned(date.month()))) {
      day = day_number(date.year() / date.month() / 1 + std::chrono::months(1));
    } else if (matches(date)) {
      return day;
    } else {
      ++day;
    }
  }
  return std::nullopt;
}

}  // namespace tarry::schedule
