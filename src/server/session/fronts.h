// Fronts: one server over one engine of any kind. It speaks several protocols, each at its own
// address. Limits (connections, bytes held), figures and the drain cover the clients of all
// protocols together.
//
// The server has one thread. It answers a request when the engine has answered, so a waiting claim
// occupies only its connection. Claimed messages that could not be handed over, because the client
// hung up or the write failed, are released, and their attempts are not counted.
//
// "How to add a front" in docs/architecture.md has the steps.
//
// Thread safety: all members may be called from any thread except the server's own. The callbacks
// run on the server's thread, and must be quick.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "core/engine.h"
#include "server/audit/trail.h"
#include "server/listening/reserved_port.h"
#include "server/listening/tls_context.h"
#include "server/session/front.h"
#include "server/session_parts/options.h"

namespace tarry::session {

/// A front and its address: a port, an inherited socket, or the path of a unix socket, which gets
/// mode 0600.
struct Listening {
  MakeFront front;
  std::variant<listening::ReservedPort, std::string> place;
};

class Fronts {
 public:
  /// The engine must outlive the server, and still answer while the server stops.
  Fronts(core::Engine& engine, Options options);
  Fronts(const Fronts&) = delete;
  Fronts& operator=(const Fronts&) = delete;
  ~Fronts();  // stops

  /// Listens at all places or, after an error, at none. Call it once. Errors: `invalid_argument`
  /// for a path that is too long, `conflict` if a port or path is taken, `permission_denied`,
  /// `io_error`.
  [[nodiscard]] Result<void> start(std::vector<Listening> places);

  /// From now on these tokens are valid. Waiting claims that were sent with a token that is no
  /// longer valid, or has other rights now, end with 401.
  void set_tokens(identity::Tokens tokens);

  /// From now on acts are written to this file, if the server was made with an audit log.
  void set_audit(audit::FilePtr file);

  /// New connections at ports speak TLS with this context, which may be null (Options::tls). Open
  /// connections keep theirs.
  void set_tls(listening::TlsContext tls);

  /// These limits hold for everything that begins after the call.
  void set_limits(const Limits& limits);

  /// Accepts no more connections. Waiting claims end, with the messages that they have or with 503
  /// `closing`. Every request that has begun, or arrives within a moment, is finished; all other
  /// connections are closed. `done` runs when this is complete or the deadline has passed, and gets
  /// the number of connections that are still open. The `done` of a second drain runs at once. Call
  /// `stop` after it.
  void drain(Millis deadline, std::function<void(std::size_t open)> done);

  /// Closes every connection, drops the callback of `drain`, and releases claimed messages that
  /// were not handed over. Returns when the engine has answered all requests. Idempotent.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::session
