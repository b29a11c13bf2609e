// What is done with claims, whoever holds them.
//
// Pure functions.
#pragma once

#include <tarry/message.h>

#include "base/assert.h"
#include "core/request.h"

namespace tarry::core {

/// A handler's or caller's word in the engine's terms. Aborts for what core::check_action refuses.
[[nodiscard]] inline SettleAction settle_action(Action action) noexcept {
  switch (action) {
    case Action::ack: return SettleAction::ack;
    case Action::retry: return SettleAction::retry;
    case Action::release: return SettleAction::release;
    case Action::bury: return SettleAction::bury;
  }
  TARRY_ASSERT(false);
}

}  // namespace tarry::core
