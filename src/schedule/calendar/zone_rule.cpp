#include "schedule/calendar/zone_rule.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/text/ascii.h"

namespace tarry::schedule {

constexpr UtcSeconds kFirst = std::numeric_limits<UtcSeconds>::min() / 4;
constexpr UtcSeconds kLast = std::numeric_limits<UtcSeconds>::max() / 4;

/// Reads the text from left to right. Every function returns nothing if it does not fit.
struct ZoneRule::Reader {
  std::string_view rest;

  bool take(char wanted) {
    if (!rest.starts_with(wanted)) return false;
    rest.remove_prefix(1);
    return true;
  }

  bool name() {
    std::size_t length = 0;
    if (take('<')) {
      length = rest.find('>');
      if (length == std::string_view::npos) return false;
      rest.remove_prefix(length + 1);
      return length >= 3;
    }
    while (length < rest.size() && base::is_letter(rest[length])) ++length;
    rest.remove_prefix(length);
    return length >= 3;
  }

  std::optional<unsigned> number(unsigned max) {
    unsigned value = 0;
    std::size_t digits = 0;
    for (; digits < rest.size() && base::is_digit(rest[digits]); ++digits) {
      if (digits == 4) return std::nullopt;
      value = value * 10 + static_cast<unsigned>(rest[digits] - '0');
    }
    rest.remove_prefix(digits);
    if (digits == 0 || value > max) return std::nullopt;
    return value;
  }

  /// `[+-]hh[:mm[:ss]]` as seconds.
  std::optional<std::int64_t> time() {
    const bool negative = take('-');
    if (!negative) static_cast<void>(take('+'));
    const auto hours = number(167);
    if (!hours) return std::nullopt;
    std::int64_t seconds = std::int64_t{*hours} * 3600;
    for (const std::int64_t unit : {60, 1}) {
      if (!take(':')) break;
      const auto part = number(59);
      if (!part) return std::nullopt;
      seconds += *part * unit;
    }
    return negative ? -seconds : seconds;
  }

  std::optional<Change> change() {
    Change change;
    std::optional<unsigned> value;
    if (take('M')) {
      if (!(value = number(12)) || *value == 0 || !take('.')) return std::nullopt;
      change.month = *value;
      if (!(value = number(5)) || *value == 0 || !take('.')) return std::nullopt;
      change.week = *value;
      if (!(value = number(6))) return std::nullopt;
    } else {
      change.kind = take('J') ? DayKind::julian : DayKind::day_of_year;
      if (!(value = number(365))) return std::nullopt;
      if (change.kind == DayKind::julian && *value == 0) return std::nullopt;
    }
    change.day = *value;
    if (take('/')) {
      const auto at = time();
      if (!at) return std::nullopt;
      change.time = *at;
    }
    return change;
  }
};

LocalSeconds ZoneRule::Change::in(int year_number) const {
  using namespace std::chrono;
  const std::chrono::year year(year_number);
  std::int64_t at = day_number(year / 1 / 1);
  switch (kind) {
    case DayKind::month_week_day: {
      const auto month_of_year = year / std::chrono::month(month);
      const std::chrono::weekday wanted(day);
      const year_month_day date = week == 5
                                      ? year_month_day(sys_days(month_of_year / wanted[last]))
                                      : year_month_day(sys_days(month_of_year / wanted[week]));
      at = day_number(date);
      break;
    }
    case DayKind::julian: at += day - 1 + (year.is_leap() && day >= 60 ? 1 : 0); break;
    case DayKind::day_of_year: at += day; break;
  }
  return at * kDaySeconds + time;
}

std::optional<ZoneRule> ZoneRule::parse(std::string_view text) {
  Reader reader{text};
  ZoneRule rule;
  if (!reader.name()) return std::nullopt;
  // POSIX counts offsets to the west.
  const auto standard = reader.time();
  if (!standard) return std::nullopt;
  rule.standard_ = -*standard;
  if (reader.rest.empty()) return rule;
  rule.has_summer_ = true;
  if (!reader.name()) return std::nullopt;
  rule.summer_ = rule.standard_ + 3600;
  if (!reader.rest.starts_with(',')) {
    const auto summer = reader.time();
    if (!summer) return std::nullopt;
    rule.summer_ = -*summer;
  }
  for (Change* change : {&rule.to_summer_, &rule.to_standard_}) {
    if (!reader.take(',')) return std::nullopt;
    const auto read = reader.change();
    if (!read) return std::nullopt;
    *change = *read;
  }
  if (!reader.rest.empty()) return std::nullopt;
  return rule;
}

Period ZoneRule::at(UtcSeconds moment) const {
  if (!has_summer_) return {kFirst, kLast, standard_};
  const int year = int(date_of(day_of(moment)).year());
  Period period{kFirst, kLast, standard_};
  // The period begins with the last change that is not after the moment. On the southern half of
  // the globe, a year begins in summer.
  const auto look_at = [&](UtcSeconds at, std::int64_t offset) {
    if (at <= moment) {
      if (at >= period.begin) period = {at, period.end, offset};
    } else {
      period.end = std::min(period.end, at);
    }
  };
  for (int around = year - 1; around <= year + 1; ++around) {
    const UtcSeconds summer = to_summer_.in(around)-standard_;
    const UtcSeconds standard = to_standard_.in(around)-summer_;
    // Of two changes at one moment, the later one of the year's order counts.
    if (summer <= standard) {
      look_at(summer, summer_);
      look_at(standard, standard_);
    } else {
      look_at(standard, standard_);
      look_at(summer, summer_);
    }
  }
  return period;
}

}  // namespace tarry::schedule
