#include "schedule/calendar/cron_field.h"

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace tarry::schedule {
namespace {

constexpr std::array<std::string_view, 12> kMonthNames{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                       "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 8> kWeekdayNames{"SUN", "MON", "TUE", "WED",
                                                        "THU", "FRI", "SAT", "SUN"};
constexpr FieldKind kMonthDay{"day of month", 1, 31, {}};
constexpr FieldKind kWeekday{"day of week", 0, 7, kWeekdayNames};

std::string limits_of(const FieldKind& kind) {
  std::string text = "must be from " + std::to_string(kind.min) + " to " + std::to_string(kind.max);
  if (!kind.names.empty()) {
    text += ", or a name from " + std::string(kind.names.front()) + " to " +
            std::string(kind.names[kind.names.size() - (kind.names.size() == 8 ? 2 : 1)]);
  }
  return text;
}

std::string wrong_value(std::string_view word, const FieldKind& kind) {
  return std::string(kind.name) + " " + base::quoted(word) + " " + limits_of(kind);
}

/// A number or a name; nothing if it is none, or outside the kind's limits.
std::optional<unsigned> read_value(std::string_view word, const FieldKind& kind) {
  for (std::size_t i = 0; i < kind.names.size(); ++i) {
    if (base::equals_ignoring_case(word, kind.names[i])) {
      return kind.min + static_cast<unsigned>(i);
    }
  }
  if (word.empty() || word.size() > 3 || !std::ranges::all_of(word, base::is_digit)) {
    return std::nullopt;
  }
  unsigned value = 0;
  for (const char digit : word) value = value * 10 + static_cast<unsigned>(digit - '0');
  if (value < kind.min || value > kind.max) return std::nullopt;
  return value;
}

struct Range {
  unsigned first;
  unsigned last;
};

/// Reads `*`, `N` or `N-M`.
MaybeText read_range(std::string_view text, const FieldKind& kind, bool steps, Range& range) {
  if (text == "*") {
    range = {kind.min, kind.max};
    return std::nullopt;
  }
  const std::size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const auto from = read_value(first, kind);
  if (!from) return wrong_value(first, kind);
  range = {*from, steps ? kind.max : *from};
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view last = text.substr(dash + 1);
  auto to = read_value(last, kind);
  if (!to) return wrong_value(last, kind);
  // Sunday may also end a range.
  if (&kind == &kWeekday && *to == 0 && *from > 0) to = 7;
  if (*to < *from) {
    return std::string(kind.name) + " " + base::quoted(text) + ": the range runs backwards";
  }
  range.last = *to;
  return std::nullopt;
}

MaybeText read_part(std::string_view part, const FieldKind& kind, std::uint64_t& set) {
  const std::size_t slash = part.find('/');
  unsigned step = 1;
  if (slash != std::string_view::npos) {
    const std::string_view word = part.substr(slash + 1);
    const auto read = base::parse_u64(word, "", 1, kind.max);
    if (!read) {
      return std::string(kind.name) + ": step " + base::quoted(word) + " must be from 1 to " +
             std::to_string(kind.max);
    }
    step = static_cast<unsigned>(*read);
  }
  Range range{};
  if (auto why = read_range(part.substr(0, slash), kind, slash != std::string_view::npos, range)) {
    return why;
  }
  for (unsigned value = range.first; value <= range.last; value += step) {
    set |= std::uint64_t{1} << value;
  }
  return std::nullopt;
}

/// Calls `read` with each part of a list.
template <typename Read>
MaybeText each_part(std::string_view field, Read read) {
  while (true) {
    const std::size_t comma = field.find(',');
    if (auto why = read(field.substr(0, comma))) return why;
    if (comma == std::string_view::npos) return std::nullopt;
    field.remove_prefix(comma + 1);
  }
}

bool ends_in(std::string_view word, char letter) noexcept {
  return !word.empty() && base::to_upper(word.back()) == letter;
}

/// Reads a day of month with a letter in it. False: it has none.
bool read_special_day(std::string_view part, DayRule& rule, MaybeText& why) {
  if (base::equals_ignoring_case(part, "L")) {
    rule.from_last |= 1U;
  } else if (base::equals_ignoring_case(part, "LW")) {
    rule.last_weekday = true;
  } else if (part.starts_with("L-") || part.starts_with("l-")) {
    const auto before = base::parse_u64(part.substr(2), "", 1, 30);
    if (before) {
      rule.from_last |= 1U << *before;
    } else {
      why = "day of month " + base::quoted(part) + ": L-N must be from L-1 to L-30";
    }
  } else if (ends_in(part, 'W')) {
    const std::string_view word = part.substr(0, part.size() - 1);
    if (const auto day = read_value(word, kMonthDay)) {
      rule.nearest |= 1U << *day;
    } else {
      why = wrong_value(word, kMonthDay);
    }
  } else {
    return false;
  }
  return true;
}

/// Reads `D#N` and `DL`. False: it is neither.
bool read_special_weekday(std::string_view part, DayRule& rule, MaybeText& why) {
  const std::size_t hash = part.find('#');
  const bool is_last = ends_in(part, 'L');
  if (hash == std::string_view::npos && !is_last) return false;
  const std::string_view word = is_last ? part.substr(0, part.size() - 1) : part.substr(0, hash);
  const auto day = read_value(word, kWeekday);
  if (!day) {
    why = is_last && word.empty() ? "day of week \"L\" needs a day, as in FRIL"
                                  : wrong_value(word, kWeekday);
    return true;
  }
  if (is_last) {
    rule.last_weekdays_of_type |= 1U << *day % 7;
    return true;
  }
  const std::string_view count = part.substr(hash + 1);
  if (const auto nth = base::parse_u64(count, "", 1, 5)) {
    rule.nth[*day % 7] |= 1U << *nth;
  } else {
    why = "day of week " + base::quoted(part) + ": the number after # must be from 1 to 5";
  }
  return true;
}

}  // namespace

const FieldKind kMonth{"month", 1, 12, kMonthNames};

MaybeText read_numbers(std::string_view field, const FieldKind& kind, std::uint64_t& set) {
  return each_part(field, [&](std::string_view part) { return read_part(part, kind, set); });
}

MaybeText read_month_days(std::string_view field, DayRule& rule) {
  std::uint64_t days = 0;
  auto wrong = each_part(field == "?" ? "*" : field, [&](std::string_view part) {
    MaybeText why;
    if (read_special_day(part, rule, why)) return why;
    return read_part(part, kMonthDay, days);
  });
  rule.days = static_cast<std::uint32_t>(days);
  return wrong;
}

MaybeText read_weekdays(std::string_view field, DayRule& rule) {
  std::uint64_t days = 0;
  auto wrong = each_part(field == "?" ? "*" : field, [&](std::string_view part) {
    MaybeText why;
    if (read_special_weekday(part, rule, why)) return why;
    return read_part(part, kWeekday, days);
  });
  if ((days >> 7U & 1U) != 0) days |= 1U;
  rule.weekdays = static_cast<std::uint32_t>(days & 0x7FU);
  return wrong;
}

}  // namespace tarry::schedule
