// UnsentClaims: claimed messages that the client has not been handed yet. If they cannot be handed
// over, they are given back, the attempts not counted.
//
// Thread safety: the server's thread only.
#pragma once

#include "core/reply.h"
#include "core/request.h"
#include "server/listening/socket.h"
#include "server/session/server_context.h"

namespace tarry::session {

class UnsentClaims {
 public:
  /// Notes the receipts. Throws std::bad_alloc, and has noted nothing then.
  void note(const core::ClaimReply& reply);
  /// The client has them.
  void clear() { settles_ = {}; }
  /// Gives them back to the engine; failures are logged.
  void release(ServerContext& context, const listening::Executor& executor);

 private:
  core::SettleRequest settles_;  // releases
};

}  // namespace tarry::session
