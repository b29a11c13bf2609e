// The remote engine: a tarry server, over HTTP, as a store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <tarry/result.h>

#include "core/engine.h"
#include "net/tls/tls_options.h"

namespace tarry::remote {

struct RemoteOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 7733;
  std::string unix_path = {};  // path of a unix socket, instead of host and port
  /// Connections for requests. Settlements have as many again. Waiting claims and extensions each
  /// open their own.
  std::uint32_t connections = 4;
  std::int64_t connect_timeout_ms = 5'000;
  /// How long a request may take, in addition to a claim's own wait. Settlements have 10 s at most,
  /// extensions a quarter of the lease.
  std::int64_t request_timeout_ms = 30'000;
  std::string token = {};                         // the server's token, if it requires one
  std::function<std::string()> renew_token = {};  // as in net::HttpClientOptions
  std::optional<net::TlsOptions> tls = {};        // for a host and port
};

/// Starts the engine's thread and asks the server for /healthz. Errors: `unavailable` if no server
/// answers; `invalid_argument` if the answer is not a tarry server's, if the server's certificate
/// is refused, or if only one side speaks TLS; `permission_denied` if the server refuses the
/// client's certificate.
[[nodiscard]] Result<std::unique_ptr<core::Engine>> open_remote(RemoteOptions options);

}  // namespace tarry::remote
