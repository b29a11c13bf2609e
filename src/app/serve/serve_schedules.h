// Applies the file's schedules to the store, and logs what has changed.
//
// Thread safety: blocks the calling thread, which must not be an engine's.
#pragma once

#include <tarry/result.h>
#include <tarry/store.h>

#include "app/serve/log.h"
#include "schedule/declared.h"

namespace tarry::app {

/// Errors: those of schedule::reconcile. Errors of single schedules are logged.
[[nodiscard]] Result<void> apply_schedules(const Store& store, const schedule::Declared& declared,
                                           ServeLog& log);

}  // namespace tarry::app
