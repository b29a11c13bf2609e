// Decides which requests are let in, before they are routed. Any web page in a browser that can
// reach the server may send requests to it. So a request must name one of our hosts, and must not
// come from another origin. (A page whose own host name was pointed at our address names that host,
// and is refused.)
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "net/http/http_message.h"
#include "server/http/response.h"
#include "server/identity/tokens.h"

namespace tarry::http {

/// Our hosts, besides localhost and the loopback addresses. IPv6 addresses have brackets, and are
/// written as RFC 5952 says.
struct Hosts {
  const std::vector<std::string>& names;
  std::string_view local;  // the address that the client has connected to
  bool is_https = false;   // the client speaks TLS
};

/// The refusal, if there is one: 400 for a missing or repeated Host, 421 for a foreign Host, 403
/// for a foreign Origin.
[[nodiscard]] std::optional<Response> check_sender(const net::HttpMessage& message,
                                                   const Hosts& ours);

/// The identity of the sender; or the 401, if it carries no token that is valid at `now`. GET and
/// HEAD of an open route (`is_open`) without a body need no token: they are `nobody`'s.
[[nodiscard]] std::variant<identity::IdentityPtr, Response> recognise(
    const net::HttpMessage& message, const identity::Tokens& tokens, Time now);

/// The 429 that a peer gets instead of a 401 after session::TokenFailures::kMostFailures of them.
[[nodiscard]] Response too_many_failures();

/// The 401 for a request whose token was replaced or has ended meanwhile.
[[nodiscard]] Response token_not_valid();

/// Whether the request is a GET or HEAD of /healthz or /readyz without a body.
[[nodiscard]] bool is_probe(const net::HttpMessage& message) noexcept;

/// Whether the host is localhost, 127.x.x.x or [::1], with or without a port.
[[nodiscard]] bool names_loopback(std::string_view host) noexcept;

/// The client's X-Request-ID, if it is fit for a log: 1 to 128 letters, digits and ._:/+=-
[[nodiscard]] std::optional<std::string_view> request_id_of(const net::HttpMessage& message);

}  // namespace tarry::http
