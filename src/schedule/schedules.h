// The verbs on schedules: each is a few verbs on the queues of schedules (names.h). They block, and
// need no clock: a schedule begins when the store accepts it.
//
// Thread safety: free functions, from any thread but an engine's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>
#include <tarry/store.h>

#include "schedule/definition.h"

namespace tarry::schedule {

/// A schedule, and its next occurrence.
struct Listed {
  Definition definition;
  std::optional<Time> next;  // nominal; empty: there is none, or no server has run it yet
  std::optional<Time> due;   // with its jitter
};

// Errors of all: those of the store's verbs; `unsupported` if the store cannot keep schedules;
// `not_found` if there is no such schedule.

/// Whether the store can keep schedules.
[[nodiscard]] Result<void> check_store(const Store& store);

/// Adds the schedule, or replaces the one of that name. Occurrences after this moment happen.
/// Answers whether it is new. Errors: those of `check`; `too_large` for one schedule too many.
[[nodiscard]] Result<bool> put(const Store& store, const Definition& definition);

[[nodiscard]] Result<Definition> get(const Store& store, std::string_view name);
[[nodiscard]] Result<Listed> show(const Store& store, std::string_view name);
/// All schedules, by name.
[[nodiscard]] Result<std::vector<Listed>> list(const Store& store);

/// No further occurrence is pushed. Those that were pushed stay.
[[nodiscard]] Result<void> remove(const Store& store, std::string_view name);

/// While a schedule is paused, its occurrences do not happen, and do not count as missed.
[[nodiscard]] Result<void> pause(const Store& store, std::string_view name, bool paused);

/// Pushes an occurrence now, whether the schedule is paused or not. Answers its key.
[[nodiscard]] Result<std::string> run_now(const Store& store, std::string_view name);

/// Gives a timer to every schedule that has none, for example because somebody purged their queue.
[[nodiscard]] Result<void> restore_timers(const Store& store);

}  // namespace tarry::schedule
