// Claims, the only verb that may wait for long: submits them to the engine, and withdraws them when
// their caller requests a stop.
//
// Thread safe.
#pragma once

#include <string>
#include <vector>

#include <tarry/queue.h>

#include "open/store_state.h"

namespace tarry::detail {

[[nodiscard]] Result<std::vector<Delivery>> claim(const StoreState& state,
                                                  std::vector<std::string> queues,
                                                  const ClaimOptions& options);

void claim(const StoreState& state, std::vector<std::string> queues, const ClaimOptions& options,
           Callback<std::vector<Delivery>> done);

}  // namespace tarry::detail
