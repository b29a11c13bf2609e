#include "schedule/calendar/recurrence.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <variant>

#include "base/hash.h"
#include "base/text/text.h"
#include "schedule/calendar/civil.h"
#include "schedule/calendar/cron.h"
#include "schedule/calendar/local_times.h"
#include "schedule/calendar/zone.h"

namespace tarry::schedule {
namespace {

constexpr std::string_view kEvery = "every ";
// How many intervals are compared with the jitter: five years of a daily schedule.
constexpr int kGaps = 1'830;

std::int64_t ms_of(Time time) noexcept { return time.time_since_epoch().count(); }

Error refuse(const std::string& text) { return {ErrorCode::invalid_argument, text}; }

/// The duration of `every DURATION` or `@every DURATION`; nothing if it is something else.
std::optional<std::string_view> interval_text(std::string_view when) {
  if (when.starts_with('@')) when.remove_prefix(1);
  if (!when.starts_with(kEvery)) return std::nullopt;
  when.remove_prefix(kEvery.size());
  return when;
}

Result<std::int64_t> read_interval(std::string_view text) {
  const auto ms = base::parse_duration_ms(text);
  if (!ms) return ms.error();
  if (*ms < kMinIntervalMs || *ms > kMaxIntervalMs) {
    return refuse("interval " + base::quoted(text) + " must be from 1s to 3650d");
  }
  return ms;
}

}  // namespace

struct Recurrence::Data {
  std::variant<std::int64_t, LocalTimes> times;  // an interval in ms, or local times
  std::int64_t anchor = 0;                       // an interval counts from here
  std::int64_t start = 0;
  std::int64_t end = base::kMaxTimeMs;
  std::int64_t jitter = 0;

  /// The first nominal time from `from` on, whatever start and end are.
  [[nodiscard]] std::optional<std::int64_t> first_from(std::int64_t from) const {
    if (const auto* every = std::get_if<std::int64_t>(&times)) {
      const std::int64_t turns = floor_div(from - anchor + *every - 1, *every);
      return anchor + turns * *every;
    }
    const UtcSeconds second = floor_div(from + 999, 1000);
    const auto found = std::get<LocalTimes>(times).first_from(second, end / 1000 + 1);
    return found ? std::optional(*found * 1000) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::int64_t> next(std::int64_t after) const {
    const std::int64_t from = std::max(after + 1, start);
    if (from > end) return std::nullopt;
    const auto found = first_from(from);
    return found && *found <= end ? found : std::nullopt;
  }
};

Result<Recurrence> Recurrence::make(const RecurrenceSpec& spec) {
  auto data = std::make_shared<Data>();
  if (spec.start) data->start = data->anchor = ms_of(*spec.start);
  if (spec.end) data->end = std::min(ms_of(*spec.end), base::kMaxTimeMs);
  if (spec.end && data->end < data->start) {
    return refuse("the end " + base::format_time_ms(data->end) + " is before the start " +
                  base::format_time_ms(data->start));
  }
  if (const auto text = interval_text(spec.when)) {
    const auto every = read_interval(*text);
    if (!every) return every.error();
    if (!spec.zone.empty()) {
      return refuse("time zone " + base::quoted(spec.zone) + ": only cron expressions have one; " +
                    base::quoted(spec.when) + " is a fixed interval");
    }
    data->times = *every;
  } else {
    auto cron = Cron::parse(spec.when);
    if (!cron) return std::move(cron).error();
    auto zone = spec.zone.empty() ? Result(Zone()) : Zone::find(spec.zone);
    if (!zone) return std::move(zone).error();
    data->times = LocalTimes(*std::move(cron), *std::move(zone));
  }
  auto nominal = data->next(data->start - 1);
  if (!nominal) {
    return refuse(base::quoted(spec.when) + " never comes between " +
                  base::format_time_ms(data->start) + " and " + base::format_time_ms(data->end));
  }
  data->jitter = spec.jitter.count();
  if (data->jitter < 0) return refuse("the jitter must not be negative");
  for (int gaps = 0; data->jitter > 0 && gaps < kGaps; ++gaps) {
    const auto following = data->next(*nominal);
    if (!following) break;
    if (const std::int64_t gap = *following - *nominal; data->jitter > gap) {
      return refuse("jitter " + base::format_duration_ms(data->jitter) +
                    " is longer than the shortest interval between two occurrences, " +
                    base::format_duration_ms(gap));
    }
    nominal = following;
  }
  return Recurrence(std::move(data));
}

std::optional<Time> Recurrence::next(Time after) const {
  const auto found = data_->next(ms_of(after));
  return found ? std::optional(Time(Millis(*found))) : std::nullopt;
}

std::string Recurrence::local_text(Time moment) const {
  const UtcSeconds second = floor_div(ms_of(moment), 1000);
  std::int64_t offset = 0;
  if (const auto* times = std::get_if<LocalTimes>(&data_->times)) {
    offset = times->zone().at(second).offset;
  }
  std::string text = base::format_time_ms((second + offset) * 1000).substr(0, 19);
  text += offset < 0 ? '-' : '+';
  const auto two_digits = [&text](std::int64_t number) {
    text += static_cast<char>('0' + number / 10);
    text += static_cast<char>('0' + number % 10);
  };
  const std::int64_t ahead = std::abs(offset);
  two_digits(ahead / 3600);
  text += ':';
  two_digits(ahead / 60 % 60);
  // Until 1972 there was a zone whose offset had seconds.
  if (ahead % 60 != 0) {
    text += ':';
    two_digits(ahead % 60);
  }
  return text;
}

Time Recurrence::with_jitter(std::string_view name, Time nominal) const {
  if (data_->jitter == 0) return nominal;
  const std::string text = std::string(name) + "@" + base::format_time_ms(ms_of(nominal));
  const auto delay = static_cast<std::int64_t>(base::keyed_hash(text, 0) %
                                               static_cast<std::uint64_t>(data_->jitter));
  std::int64_t at = std::min(ms_of(nominal) + delay, base::kMaxTimeMs);
  if (const auto following = data_->next(ms_of(nominal))) at = std::min(at, *following - 1);
  return Time(Millis(at));
}

}  // namespace tarry::schedule
