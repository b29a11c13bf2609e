// [queue."orders.*"]: settings of queues by the pattern of their names.
//
// Thread safety: pure functions.
#pragma once

#include "app/config/section.h"
#include "server/presets/queue_rules.h"

namespace tarry::app::config {

/// Reads the rules of the whole file. Errors go to the section's Problems.
[[nodiscard]] presets::QueueRules read_queue_rules(Section& whole);

}  // namespace tarry::app::config
