// Functions that the handlers of batches share. A request whose items are all bad never reaches the
// engine. The errors of bad items are put in their places among the engine's answers.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <utility>
#include <variant>

#include <tarry/result.h>

#include "core/reply.h"
#include "server/http/handlers/routes.h"
#include "wire/parts/batch.h"
#include "wire/parts/items.h"
#include "wire/push.h"

namespace tarry::http {

/// For pushes and imports.
template <typename Request>
[[nodiscard]] Routed answer_pushed(wire::Decoded<Request> decoded) {
  if (decoded.request.items.empty() && !decoded.bad.empty()) {
    return ok(wire::encode_push_reply({}, decoded.bad));
  }
  const std::size_t unreadable = decoded.bad.size();
  Routed routed = ask<core::PushReply>(
      std::move(decoded.request), [bad = std::move(decoded.bad)](const core::PushReply& reply) {
        return ok(wire::encode_push_reply(reply, bad));
      });
  std::get<Submission>(routed).unreadable = unreadable;
  return routed;
}

/// For requests that name items by their keys: the answer also contains the keys.
template <typename Request>
[[nodiscard]] Routed answer_by_key(Result<wire::Decoded<Request>> decoded) {
  if (!decoded) return problem(decoded.error());
  wire::Keys keys = wire::keys_of(decoded->request);
  if (keys.keys.empty() && !decoded->bad.empty()) {
    return ok(wire::encode_items_reply({}, decoded->bad, {}));
  }
  const std::size_t unreadable = decoded->bad.size();
  Routed routed = ask<core::ItemsReply>(
      std::move(decoded->request),
      [bad = std::move(decoded->bad), keys = std::move(keys)](const core::ItemsReply& reply) {
        return ok(wire::encode_items_reply(reply, bad, keys));
      });
  std::get<Submission>(routed).unreadable = unreadable;
  return routed;
}

}  // namespace tarry::http
