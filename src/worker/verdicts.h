// Converts a verdict (a handler's decision) into a settlement for the store.
//
// Pure function.
#pragma once

#include <tarry/worker.h>

#include "leases/settlement.h"

namespace tarry::worker {

/// An invalid action becomes a retry whose reason says so.
[[nodiscard]] leases::Settlement settlement_of(Verdict verdict);

}  // namespace tarry::worker
