// ZoneRule: the rule by which a time zone continues after the last change in its file: the text in
// the form of POSIX's TZ variable at the end of the file ("CET-1CEST,M3.5.0,M10.5.0/3").
//
// A plain value: thread safe as such.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "schedule/calendar/civil.h"

namespace tarry::schedule {

/// A period in which the local clock has one offset. `end` is not included.
struct Period {
  UtcSeconds begin = 0;
  UtcSeconds end = 0;
  std::int64_t offset = 0;  // local minus UTC, seconds

  friend bool operator==(const Period&, const Period&) = default;
};

class ZoneRule {
 public:
  /// Nothing if the text is not well-formed.
  [[nodiscard]] static std::optional<ZoneRule> parse(std::string_view text);

  /// The period that contains the moment.
  [[nodiscard]] Period at(UtcSeconds moment) const;

 private:
  enum class DayKind : std::uint8_t { month_week_day, julian, day_of_year };
  /// When the clock changes in a year.
  struct Change {
    DayKind kind = DayKind::month_week_day;
    unsigned month = 0;
    unsigned week = 0;         // 5: the last
    unsigned day = 0;          // of the week, or of the year
    std::int64_t time = 7200;  // local seconds since that day's midnight; may be negative

    [[nodiscard]] LocalSeconds in(int year) const;
  };
  struct Reader;

  std::int64_t standard_ = 0;
  bool has_summer_ = false;
  std::int64_t summer_ = 0;
  Change to_summer_;
  Change to_standard_;
};

}  // namespace tarry::schedule
