// Turn: what a timer that has fallen due means: which occurrences are pushed, and which timer is
// next. Pure functions.
//
// A timer falls due a lead before its occurrence, so that the occurrence waits in its queue when
// its time comes, and is delivered like any other message: it is never late by the turn's requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <tarry/time.h>

#include "schedule/calendar/recurrence.h"
#include "schedule/definition.h"

namespace tarry::schedule {

/// How long before its time an occurrence is pushed. Changes of a schedule come too late for
/// occurrences within the lead. Timers of stores may have been made with another lead.
inline constexpr Millis kLead{250};
/// An occurrence is missed if nobody could push it for longer than this.
inline constexpr Millis kMissedAfter{60'000};
/// A turn pushes at most so many missed occurrences; the next turn goes on.
inline constexpr std::size_t kMaxOccurrences = 1'000;

struct Turn {
  std::vector<Time> occurrences;  // nominal times, in order
  std::optional<Time> next;       // the nominal time of the next timer; empty: there is none
  std::uint64_t skipped = 0;      // missed occurrences that the policy does not push; if there are
                                  // many, not all are counted
};

/// When the timer of the occurrence with that nominal time falls due.
[[nodiscard]] Time timer_due(const Recurrence& recurrence, std::string_view name, Time nominal);

/// The turn at `now` of a timer: occurrences until `now + kLead` are pushed. Nominal times up to
/// and including `after` are done.
[[nodiscard]] Turn turn_at(const Definition& definition, const Recurrence& recurrence, Time after,
                           Time now);

}  // namespace tarry::schedule
