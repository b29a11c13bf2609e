// Fronts: one server over one engine of any kind, which speaks several protocols, each at its own
// address. Its limits and figures cover the clients of all protocols together: connections, bytes
// held, the drain.
//
// One thread runs it. A request to the engine is answered when the engine has answered; a waiting
// claim occupies its connection and nothing else. Claimed messages that could not be handed over
// (the client hung up, the write failed) are released, their attempts not counted.
//
// "How to add a front" in docs/architecture.md has the steps.
//
// Thread safety: all members may be called from any thread but its own; the callbacks run on its
// own, and must be quick.
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
#include "server/listening/reserved_port.h"
#include "server/session/front.h"
#include "server/session/options.h"

namespace tarry::session {

/// A front and its address: a port, or a unix socket at a path, made with mode 0600.
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

  /// Lets clients in, at all places or at none. Once. Errors: `invalid_argument` for a path that is
  /// too long or a token that is too short, `conflict` if a port or path is taken,
  /// `permission_denied`, `io_error`.
  [[nodiscard]] Result<void> start(std::vector<Listening> places);

  /// From now on this one is asked for; empty: none. Claims that wait under another one end with
  /// 401. Errors: `invalid_argument` for what base::check_server_token refuses; all stays as it
  /// was.
  [[nodiscard]] Result<void> set_token(std::string token);

  /// These limits hold for everything that begins after the call.
  void set_limits(const Limits& limits);

  /// Takes no more connections, ends waiting claims (with the messages that they have, otherwise
  /// 503 `closing`), finishes every request that was begun or arrives within a moment, and closes
  /// the rest. `done` runs once that is complete or the deadline has passed, with the number of
  /// connections that were still open; a second drain's runs at once. Then `stop`.
  void drain(Millis deadline, std::function<void(std::size_t open)> done);

  /// Closes every connection, drops the callback of `drain`, releases claimed messages that were
  /// not handed over, and returns when the engine has answered everything. Idempotent.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether a server may ask for it; empty: for none. Errors: `invalid_argument`.
[[nodiscard]] Result<void> check_access_token(const std::string& token);

}  // namespace tarry::session
