// [[relay]]: what is handed on, and where to.
//
// Thread safety: pure functions, but for files that a sink's URL names.
#pragma once

#include <vector>

#include "app/config/section.h"
#include "app/relays/relay_plan.h"

namespace tarry::app::config {

/// Of the whole file; what is wrong is among its problems. Two relays that could claim from one
/// queue for different sinks are a problem: which of them got a message would be chance.
[[nodiscard]] std::vector<RelayPlan> read_relays(Section& whole);

}  // namespace tarry::app::config
