#include "server/http/handlers/handlers.h"
#include "wire/claim.h"
#include "wire/parts/items.h"

namespace tarry::http {
namespace {

template <typename Request>
Routed ask_items(Result<wire::Decoded<Request>> decoded, const Asked& asked) {
  if (!decoded) return problem(decoded.error());
  decoded->request.only_queues = confined_to(asked.identity);
  if (decoded->request.items.empty() && !decoded->bad.empty()) {
    return ok(wire::encode_items_reply({}, decoded->bad, {}));
  }
  return ask<core::ItemsReply>(std::move(decoded->request),
                               [bad = std::move(decoded->bad)](const core::ItemsReply& reply) {
                                 return ok(wire::encode_items_reply(reply, bad, {}));
                               });
}

}  // namespace

Routed claim(Asked& asked) {
  auto claim = wire::decode_claim(asked.body);
  if (!claim) return problem(claim.error());
  for (const std::string& queue : claim->request.queues) {
    if (auto refused = check_queue(*asked.identity, identity::Scope::consume, queue)) {
      return *std::move(refused);
    }
  }
  claim->request.settle.only_queues = confined_to(asked.identity);
  const auto asked_at = base::BootClock::now();
  std::string holder = session::holder_name(asked.peer, asked.user_agent);
  claim->request.by = holder;
  return ask<core::ClaimReply>(
      std::move(claim->request),
      [asked_at, bad = std::move(claim->bad), holders = asked.service.holders,
       holder = std::move(holder)](const core::ClaimReply& reply) mutable {
        if (holders != nullptr) holders->note(reply, std::move(holder));
        return ok(wire::encode_claim_reply(reply, asked_at, bad));
      });
}

Routed settle(Asked& asked) { return ask_items(wire::decode_settle(asked.body), asked); }

Routed extend(Asked& asked) { return ask_items(wire::decode_extend(asked.body), asked); }

}  // namespace tarry::http
