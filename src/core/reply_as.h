// Converts a reply to the kind that belongs to its request. It aborts for any other kind, which
// would be a bug of the engine.
//
// Pure functions.
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include <tarry/result.h>

#include "base/assert.h"
#include "core/reply.h"

namespace tarry::core {

template <typename R>
[[nodiscard]] R reply_as(Reply reply) {
  R* kind = std::get_if<R>(&reply);
  TARRY_ASSERT(kind != nullptr);
  return std::move(*kind);
}
template <typename R>
[[nodiscard]] Result<R> reply_as(Result<Reply> reply) {
  if (!reply) return std::move(reply).error();
  return reply_as<R>(*std::move(reply));
}

/// The reply of a claim, owned jointly by its Deliveries.
[[nodiscard]] inline Result<std::shared_ptr<const ClaimReply>> shared_claim(Result<Reply> reply) {
  auto claimed = reply_as<ClaimReply>(std::move(reply));
  if (!claimed) return std::move(claimed).error();
  return std::shared_ptr<const ClaimReply>(std::make_shared<ClaimReply>(*std::move(claimed)));
}

}  // namespace tarry::core
