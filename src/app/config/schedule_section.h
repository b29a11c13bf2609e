// Reads the [[schedule]] sections of a configuration file: schedule/declared.h has their meaning.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "app/config/section.h"
#include "schedule/definition.h"

namespace tarry::app::config {

/// The schedules of the file, with different names, each checked. Problems go to the section's
/// Problems; a schedule that has one is left out.
[[nodiscard]] std::vector<schedule::Definition> read_schedules(Section& whole);

}  // namespace tarry::app::config
