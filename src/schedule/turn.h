// Turn: what a timer that has fallen due means: which occurrences are pushed, and which timer is
// next. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tarry/time.h>

#include "schedule/definition.h"
#include "schedule/recurrence.h"

namespace tarry::schedule {

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

/// The turn at `now` of a timer: nominal times up to and including `after` are done.
[[nodiscard]] Turn turn_at(const Definition& definition, const Recurrence& recurrence, Time after,
                           Time now);

}  // namespace tarry::schedule
