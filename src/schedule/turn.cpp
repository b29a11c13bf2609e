#include "schedule/turn.h"

#include <algorithm>

namespace tarry::schedule {
namespace {

/// Where to begin, so that years of missed occurrences need not be walked through: late enough that
/// little is missed, early enough that the latest missed occurrence is found.
Time beginning(const Definition& definition, const Recurrence& recurrence, Time after, Time now) {
  if (definition.missed == Missed::all) return after;
  const Time missed_until = now - kMissedAfter - definition.recurrence.jitter;
  for (Millis back = std::chrono::hours(1); missed_until - back > after; back *= 2) {
    const auto found = recurrence.next(missed_until - back);
    if (found && *found <= missed_until) return missed_until - back;
  }
  return after;
}

}  // namespace

Time timer_due(const Recurrence& recurrence, std::string_view name, Time nominal) {
  return std::max(recurrence.with_jitter(name, nominal) - kLead, Time(Millis(0)));
}

Turn turn_at(const Definition& definition, const Recurrence& recurrence, Time after, Time now) {
  Turn turn;
  std::optional<Time> latest_missed;
  Time from = beginning(definition, recurrence, after, now);
  while ((turn.next = recurrence.next(from))) {
    const Time at = recurrence.with_jitter(definition.name, *turn.next);
    if (at > now + kLead || turn.occurrences.size() >= kMaxOccurrences) break;
    from = *turn.next;
    if (definition.paused) continue;
    if (definition.missed == Missed::all || now - at <= kMissedAfter) {
      turn.occurrences.push_back(from);
    } else {
      if (latest_missed || definition.missed == Missed::skip) ++turn.skipped;
      latest_missed = from;
    }
  }
  if (latest_missed && definition.missed == Missed::one) {
    turn.occurrences.insert(turn.occurrences.begin(), *latest_missed);
  }
  return turn;
}

}  // namespace tarry::schedule
