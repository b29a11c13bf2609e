// The HTTP server: tarry's /v1 over one engine, whichever that is.
//
// One thread runs it. A request that asks the engine is answered when the engine has answered; a
// waiting claim holds its connection and nothing else. What a claim took and could not be handed
// over (the client hung up, the write failed) is released, its attempt not counted.
//
// It answers this machine only: what goes over a network wants more than a token in clear text.
//
// Thread safety: all members may be called from any thread but its own; the callbacks run on its
// own, and must be quick.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/log.h>
#include <tarry/result.h>
#include <tarry/time.h>

#include "core/engine.h"
#include "server/http/front.h"
#include "server/session/options.h"

namespace tarry::listening {
class ReservedPort;
}

namespace tarry::http {

using session::RequestNote;

struct ServerOptions : session::Options, FrontOptions {
  std::string address = "127.0.0.1";  // a loopback address, or localhost
  std::uint16_t port = 7733;          // 0: any that is free
  /// Set: listens on a unix socket there, mode 0600, in place of an address and a port.
  std::string unix_path = {};
};

class Server {
 public:
  /// The engine must outlive the server, and still answer while the server stops.
  Server(core::Engine& engine, ServerOptions options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();  // stops

  /// Listens, and answers the port, 0 for a unix socket. Once. Errors: `invalid_argument` for an
  /// address that is none or not loopback, a path that is too long or a token that is too short,
  /// `conflict` where the port or the path is taken, `permission_denied`, `io_error`.
  [[nodiscard]] Result<std::uint16_t> start();
  /// The same in a place that was kept for it; the options' own is passed over.
  [[nodiscard]] Result<std::uint16_t> start(listening::ReservedPort place);

  /// From now on this one is asked for; empty: none. Claims that wait under another one end with
  /// 401. Errors: `invalid_argument` for what base::check_server_token refuses; all stays as it
  /// was.
  [[nodiscard]] Result<void> set_token(std::string token);

  /// From now on these hold, for what is begun from then on.
  void set_limits(const session::Limits& limits);

  /// Takes no more connections, ends waiting claims (with what they have, else 503 `closing`),
  /// finishes every request that was begun or is on its way (within a moment), closes the rest.
  /// `done` runs once that is so or the deadline has passed, with the number of connections that
  /// were still open; a second drain's at once. Then `stop`.
  void drain(Millis deadline, std::function<void(std::size_t open)> done);

  /// Closes every connection, drops what `drain` was to call, releases what claims could not hand
  /// over, and returns when the engine has answered everything. Idempotent.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::http
