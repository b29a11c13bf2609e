// A verdict as a settlement: a handler's decision, in the store's words.
//
// Pure function.
#pragma once

#include <tarry/worker.h>

#include "leases/settlement.h"

namespace tarry::worker {

/// An invalid action is a retry, and its reason says so.
[[nodiscard]] leases::Settlement settlement_of(Verdict verdict);

}  // namespace tarry::worker
