// UnsentClaims: what a claim took and its client has not been handed yet. It is given back, the
// attempt not counted, where it cannot be handed over.
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
  /// Gives them back to the engine; what fails is warned of.
  void release(ServerContext& context, const listening::Executor& executor);

 private:
  core::SettleRequest settles_;  // releases
};

}  // namespace tarry::session
