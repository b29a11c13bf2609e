#include "server/http/handlers.h"
#include "wire/items.h"
#include "wire/move.h"
#include "wire/push.h"

namespace tarry::http {

Routed import_messages(Asked& asked) {
  auto move = wire::decode_move(std::move(asked.queue), asked.body);
  if (!move) return problem(move.error());
  if (move->request.items.empty() && !move->bad.empty()) {
    return ok(wire::encode_push_reply({}, move->bad));
  }
  return ask<core::PushReply>(std::move(move->request),
                              [bad = std::move(move->bad)](const core::PushReply& reply) {
                                return ok(wire::encode_push_reply(reply, bad));
                              });
}

Routed move_away(Asked& asked) {
  auto away = wire::decode_move_away(std::move(asked.queue), asked.body);
  if (!away) return problem(away.error());
  if (away->request.keys.empty() && !away->bad.empty()) {
    return ok(wire::encode_items_reply({}, away->bad, {}));
  }
  auto keys = wire::keys_of(away->request);
  return ask<core::ItemsReply>(
      std::move(away->request),
      [bad = std::move(away->bad), keys = std::move(keys)](const core::ItemsReply& reply) {
        return ok(wire::encode_items_reply(reply, bad, keys));
      });
}

}  // namespace tarry::http
