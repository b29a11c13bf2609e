#include "schedule/calendar/cron.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "schedule/calendar/cron_field.h"

namespace tarry::schedule {
namespace {

// The calendar repeats after 400 years, with its days of the week.
constexpr std::int64_t kCycleDays = 146'097;
constexpr std::uint32_t kEveryHour = (1U << 24U) - 1;

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kShortForms{{
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
}};

Error wrong(std::string_view text, const std::string& why) {
  return {ErrorCode::invalid_argument, "cron expression " + base::quoted(text) + ": " + why};
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) return words;
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

/// The lowest number in the set that is not below `from`.
std::optional<int> first_from(std::uint64_t set, int from) noexcept {
  if (from > 63) return std::nullopt;
  const std::uint64_t rest = set >> from;
  if (rest == 0) return std::nullopt;
  return from + std::countr_zero(rest);
}

/// The first matching second of a day, from `from` on.
std::optional<std::int64_t> next_in_day(const Cron& cron, std::int64_t from) {
  const auto hour = static_cast<int>(from / 3600);
  const auto minute = static_cast<int>(from / 60 % 60);
  const auto second = static_cast<int>(from % 60);
  const int first_second = *first_from(cron.seconds, 0);
  const int first_minute = *first_from(cron.minutes, 0);
  const auto at = [](int h, int m, int s) { return std::int64_t{h} * 3600 + m * 60 + s; };
  const auto h = first_from(cron.hours, hour);
  if (!h) return std::nullopt;
  if (*h == hour) {
    const auto m = first_from(cron.minutes, minute);
    if (m && *m == minute) {
      if (const auto s = first_from(cron.seconds, second)) return at(hour, minute, *s);
    }
    if (const auto later = first_from(cron.minutes, minute + 1)) {
      return at(hour, *later, first_second);
    }
    const auto next_hour = first_from(cron.hours, hour + 1);
    if (!next_hour) return std::nullopt;
    return at(*next_hour, first_minute, first_second);
  }
  return at(*h, first_minute, first_second);
}

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  std::string_view fields = text;
  if (text.starts_with('@')) {
    for (const auto& [name, meaning] : kShortForms) {
      if (base::equals_ignoring_case(text, name)) fields = meaning;
    }
    if (fields.starts_with('@')) {
      return wrong(text,
                   "there are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually");
    }
  }
  std::vector<std::string_view> words = words_of(fields);
  if (words.size() != 5 && words.size() != 6) {
    return wrong(text, "it has " + std::to_string(words.size()) +
                           " fields; there must be 5 (minute, hour, day of month, month, day of "
                           "week), or 6 with the second before them");
  }
  if (words.size() == 5) words.insert(words.begin(), "0");
  Cron cron;
  std::uint64_t hours = 0;
  std::uint64_t months = 0;
  MaybeText why = read_numbers(words[0], {"second", 0, 59}, cron.seconds);
  if (!why) why = read_numbers(words[1], {"minute", 0, 59}, cron.minutes);
  if (!why) why = read_numbers(words[2], {"hour", 0, 23}, hours);
  if (!why) why = read_month_days(words[3], cron.days);
  if (!why) why = read_numbers(words[4], kMonth, months);
  if (!why) why = read_weekdays(words[5], cron.days);
  if (why) return wrong(text, *why);
  cron.hours = static_cast<std::uint32_t>(hours);
  cron.days.months = static_cast<std::uint32_t>(months);
  const auto is_open = [](std::string_view word) { return word[0] == '*' || word[0] == '?'; };
  cron.days.either = !is_open(words[3]) && !is_open(words[5]);
  if (!cron.days.next(0, kCycleDays)) return wrong(text, "such a day never comes");
  return cron;
}

bool Cron::is_hourly() const noexcept { return hours == kEveryHour; }

std::optional<LocalSeconds> Cron::next(LocalSeconds from, LocalSeconds until) const {
  if (from >= until) return std::nullopt;
  const std::int64_t last = day_of(until - 1);
  std::int64_t second = from - day_of(from) * kDaySeconds;
  for (std::int64_t day = day_of(from); day <= last; ++day) {
    const auto found = days.next(day, last);
    if (!found) return std::nullopt;
    if (*found > day) second = 0;
    day = *found;
    if (const auto at = next_in_day(*this, second)) {
      const LocalSeconds local = day * kDaySeconds + *at;
      return local < until ? std::optional(local) : std::nullopt;
    }
    second = 0;
  }
  return std::nullopt;
}

}  // namespace tarry::schedule
