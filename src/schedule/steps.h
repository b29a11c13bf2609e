// The verbs on schedules, step by step: each is a few verbs on the queues of schedules (names.h).
// They need no clock: a schedule begins when the store accepts it.
//
// Errors of all: those of the store's verbs; `not_found` if there is no such schedule;
// `invalid_argument` for a name that cannot be one; those of `may`.
//
// Thread safety: pure functions; a Step is of one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "core/engine.h"
#include "schedule/definition.h"
#include "schedule/step.h"

namespace tarry::schedule {

/// Error: `unsupported` if such a store cannot keep schedules.
[[nodiscard]] Result<void> check_can(const core::Capabilities& can);

/// Whether the caller may do this to the schedule that is in the store; else the error. Empty: yes.
using May = std::function<Result<void>(const Definition& stored)>;

[[nodiscard]] Step<Definition> get_step(std::string_view name, May may = {});

/// Adds the schedule, or replaces the one of that name. Answers whether it is new.
[[nodiscard]] Step<bool> put_step(Definition definition, May may = {});

/// Answers what has been removed.
[[nodiscard]] Step<Definition> remove_step(std::string_view name, May may = {});

/// Answers the schedule as it is now.
[[nodiscard]] Step<Definition> pause_step(std::string_view name, bool paused, May may = {});

/// Pushes an occurrence now, and answers its key.
[[nodiscard]] Step<std::string> run_now_step(std::string_view name, May may = {});

struct DefinitionPage {
  std::vector<Definition> definitions;  // in no particular order
  std::string next;                     // empty: this was the last page
};
/// At most `limit` schedules (1 .. 1,000) whose names begin with `prefix`. `after`: `next` of the
/// page before.
[[nodiscard]] Step<DefinitionPage> page_step(std::string_view prefix, std::string after,
                                             std::uint32_t limit);

}  // namespace tarry::schedule
