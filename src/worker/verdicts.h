// Verdicts as settlements: what a handler decided, made fit for the store, so that no verdict can
// be refused for its form and leave its message to its lease.
//
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/worker.h>

#include "core/request.h"

namespace tarry::worker {

struct Settlement {
  core::SettleAction action = core::SettleAction::ack;
  std::optional<Millis> delay;  // retry only
  std::string reason;           // bury only
};

[[nodiscard]] Settlement settlement_of(Verdict verdict);

/// At most core::kMaxReason bytes, valid UTF-8: what is not is escaped, what is too long is cut
/// between two characters.
[[nodiscard]] std::string fit_reason(std::string_view reason);

}  // namespace tarry::worker
