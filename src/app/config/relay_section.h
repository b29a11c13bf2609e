// [[relay]]: which messages a relay sends, and where.
//
// Thread safety: pure functions, except for files that a sink's URL names.
#pragma once

#include <vector>

#include "app/config/section.h"
#include "app/relays/relay_plan.h"

namespace tarry::app::config {

/// Reads the relays of the whole file. Errors go to the section's Problems. It is an error if two
/// relays with different sinks could claim from the same queue: chance would decide which of them
/// got a message.
[[nodiscard]] std::vector<RelayPlan> read_relays(Section& whole);

}  // namespace tarry::app::config
