// Claims, the only verbs that may wait for long: submits them to the engine, and withdraws them
// when their caller requests a stop.
//
// Thread safe.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <tarry/queue.h>

#include "open/handles/store_state.h"

namespace tarry::detail {

[[nodiscard]] Result<std::vector<Delivery>> claim(const StoreState& state,
                                                  std::vector<std::string> queues,
                                                  const ClaimOptions& options);

void claim(const StoreState& state, std::vector<std::string> queues, const ClaimOptions& options,
           Callback<std::vector<Delivery>> done);

[[nodiscard]] Result<SettledAndClaimed> settle_and_claim(const StoreState& state,
                                                         std::vector<std::string> queues,
                                                         std::span<const Settle> items,
                                                         const ClaimOptions& options);

void settle_and_claim(const StoreState& state, std::vector<std::string> queues,
                      std::span<const Settle> items, const ClaimOptions& options,
                      Callback<SettledAndClaimed> done);

}  // namespace tarry::detail
