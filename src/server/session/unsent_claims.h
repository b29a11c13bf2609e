// UnsentClaims: claimed messages that the client has not got yet. If they cannot be handed over,
// they are released, and the attempts are not counted.
//
// Thread safety: the server's thread only.
#pragma once

#include <utility>

#include "core/reply.h"
#include "core/request.h"
#include "server/listening/socket.h"
#include "server/session/server_context.h"

namespace tarry::session {

class UnsentClaims {
 public:
  UnsentClaims() = default;
  /// `release`: the messages to release.
  explicit UnsentClaims(core::SettleRequest release) noexcept : settles_(std::move(release)) {}

  /// Notes the receipts. If it throws std::bad_alloc, nothing was noted.
  void note(const core::ClaimReply& reply);
  /// Call `clear` when the client has got the messages.
  void clear() { settles_ = {}; }
  /// Releases the messages at the engine; failures are logged.
  void release(ServerContext& context, const listening::Executor& executor);

 private:
  core::SettleRequest settles_;  // the messages to release
};

}  // namespace tarry::session
