// A server with only one front, HTTP: tarry's /v1 over one engine of any kind. session/fronts.h
// describes how it works, and its thread safety.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <tarry/result.h>
#include <tarry/time.h>

#include "core/engine.h"
#include "server/http/front.h"
#include "server/session/fronts.h"
#include "server/session_parts/options.h"

namespace tarry::http {

using session::RequestNote;

struct ServerOptions : session::Options, FrontOptions {
  std::string address = "127.0.0.1";  // a loopback address, or localhost: there is no TLS here
  std::uint16_t port = 7733;          // 0: any free port
  /// If set, listens on a unix socket at this path (mode 0600) instead of at an address and a port.
  std::string unix_path = {};
};

class Server {
 public:
  Server(core::Engine& engine, ServerOptions options)
      : options_(std::move(options)), fronts_(engine, options_) {}

  /// Begins to listen. Returns the port, or 0 for a unix socket. Call it once. Errors: those of
  /// Fronts::start, and `invalid_argument` for an address that is not a loopback address.
  [[nodiscard]] Result<std::uint16_t> start();

  void set_tokens(identity::Tokens tokens) { fronts_.set_tokens(std::move(tokens)); }
  void set_limits(const session::Limits& limits) { fronts_.set_limits(limits); }
  void drain(Millis deadline, std::function<void(std::size_t open)> done) {
    fronts_.drain(deadline, std::move(done));
  }
  void stop() { fronts_.stop(); }

 private:
  const ServerOptions options_;
  session::Fronts fronts_;
};

}  // namespace tarry::http
