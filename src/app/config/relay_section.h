// [[relay]]: which messages a relay sends, and where.
//
// Thread safety: pure functions, except for files that a sink's URL names.
#pragma once

#include <vector>

#include "app/config/section.h"
#include "app/relays/relay_plan.h"

namespace tarry::app::config {

/// For the whole file; errors go to its problems. Two relays that could claim from one queue for
/// different sinks are a problem: it would be chance which of them got a message.
[[nodiscard]] std::vector<RelayPlan> read_relays(Section& whole);

}  // namespace tarry::app::config
