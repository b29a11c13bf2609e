// Reads the fields of a cron expression. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "schedule/calendar/day_rule.h"

namespace tarry::schedule {

/// The error text of a field that cannot be read; empty if the field was read.
using MaybeText = std::optional<std::string>;

struct FieldKind {
  std::string_view name;
  unsigned min;
  unsigned max;
  std::span<const std::string_view> names = {};  // of min, min + 1, ...
};

extern const FieldKind kMonth;

/// Reads `*`, or a list of numbers, ranges and steps, into a set of bits.
[[nodiscard]] MaybeText read_numbers(std::string_view field, const FieldKind& kind,
                                     std::uint64_t& set);
/// The same with `L`, `L-N`, `NW`, `LW` and `?`.
[[nodiscard]] MaybeText read_month_days(std::string_view field, DayRule& rule);
/// The same with `D#N`, `DL` and `?`.
[[nodiscard]] MaybeText read_weekdays(std::string_view field, DayRule& rule);

}  // namespace tarry::schedule
