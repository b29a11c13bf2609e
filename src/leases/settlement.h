// Settlement: how a claim is to end, made fit for the store, so that none can be refused for its
// form and leave its message to its lease.
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

/// Without what does not go with its action; the delay cut to 0 .. 100 years, the reason as
/// fit_reason does it.
[[nodiscard]] Settlement fit(Settlement settlement);

/// At most core::kMaxReason bytes, valid UTF-8: what is not is escaped, what is too long is cut
/// between two characters.
[[nodiscard]] std::string fit_reason(std::string_view reason);

}  // namespace tarry::leases
