// Rules about claims for engines, worker and relay: verdicts, release, lateness.
//
// Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/assert.h"
#include "core/reply.h"
#include "core/request.h"

namespace tarry::core {

/// The engine's SettleAction for a public Action. Aborts for a value that core::check_action would
/// refuse.
[[nodiscard]] inline SettleAction settle_action(Action action) noexcept {
  switch (action) {
    case Action::ack: return SettleAction::ack;
    case Action::retry: return SettleAction::retry;
    case Action::release: return SettleAction::release;
    case Action::bury: return SettleAction::bury;
  }
  TARRY_ASSERT(false);
}

/// A request that releases all messages of the reply, because their caller is gone. Their attempts
/// are not counted.
[[nodiscard]] inline SettleRequest release_of(const ClaimReply& reply) {
  SettleRequest request;
  std::size_t bytes = 0;
  for (const ClaimedItem& claimed : reply.items) bytes += claimed.receipt.size;
  request.items.reserve(reply.items.size());
  request.bytes.reserve(bytes);
  for (const ClaimedItem& claimed : reply.items) {
    SettleItem& item = request.items.emplace_back();
    item.receipt = append(request.bytes, view(reply.bytes, claimed.receipt));
    item.action = SettleAction::release;
  }
  return request;
}

/// How late a message was claimed, in ms. It is never below 0, although two clock readings may
/// cross. Empty for later attempts, because the store does not cause their delay.
[[nodiscard]] inline std::optional<std::int64_t> lateness_ms(std::uint32_t attempt,
                                                             std::int64_t due_ms,
                                                             std::int64_t claimed_ms) noexcept {
  if (attempt != 1) return std::nullopt;
  return std::max<std::int64_t>(claimed_ms - due_ms, 0);
}
[[nodiscard]] inline std::optional<std::int64_t> lateness_ms(const ClaimedItem& item) noexcept {
  return lateness_ms(item.attempt, item.due_ms, item.claimed_ms);
}

}  // namespace tarry::core
