#include "schedule/calendar/local_times.h"

#include <algorithm>

namespace tarry::schedule {
namespace {

// No local clock has ever been changed by more.
constexpr std::int64_t kMaxChange = 25 * 3600;

}  // namespace

/// The latest local time, plus a second, that the clock has shown before the period.
LocalSeconds LocalTimes::shown_until(const Period& period) const {
  Period before = zone_.at(period.begin - 1);
  LocalSeconds latest = before.end + before.offset;
  while (period.begin - before.begin < kMaxChange) {
    before = zone_.at(before.begin - 1);
    latest = std::max(latest, before.end + before.offset);
  }
  return latest;
}

std::optional<UtcSeconds> LocalTimes::first_from(UtcSeconds from, UtcSeconds until) const {
  const bool hourly = cron_.is_hourly();
  while (from < until) {
    const Period period = zone_.at(from);
    const UtcSeconds end = std::min(period.end, until);
    LocalSeconds first = from + period.offset;
    // Only a moment soon after a change can show a time again, or follow times that were skipped.
    if (!hourly && from - period.begin < kMaxChange) {
      const LocalSeconds shown = shown_until(period);
      if (from == period.begin && shown < first && cron_.next(shown, first)) return from;
      first = std::max(first, shown);
    }
    if (const auto local = cron_.next(first, end + period.offset)) return *local - period.offset;
    from = end;
  }
  return std::nullopt;
}

}  // namespace tarry::schedule
