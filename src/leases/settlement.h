// Settlement: how a claim is to end. `fit` changes it so that the store cannot refuse it. A refused
// settlement would leave its message leased until the lease runs out.
//
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/time.h>

#include "core/request.h"

namespace tarry::leases {

struct Settlement {
  core::SettleAction action = core::SettleAction::ack;
  std::optional<Millis> delay = {};  // retry only; empty: the queue's backoff
  std::string reason = {};           // bury and retry only
};

/// Drops the fields that do not belong to its action; limits the delay to 0 .. 100 years, and
/// shortens the reason by fit_reason.
[[nodiscard]] Settlement fit(Settlement settlement);

/// At most core::kMaxReason bytes of valid UTF-8: invalid bytes are escaped, and a long text is cut
/// between two characters.
[[nodiscard]] std::string fit_reason(std::string_view reason);

}  // namespace tarry::leases
