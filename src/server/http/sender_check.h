// Decides which requests are let in, before they are routed: by their host and origin
// (http_session/hosts.h), and by their token.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <variant>

#include "net/http/http_message.h"
#include "server/console/sessions.h"
#include "server/http/handlers/response.h"
#include "server/http_session/hosts.h"
#include "server/identity/tokens.h"

namespace tarry::http {

/// The refusal of `http_session::check_sender`, if there is one.
[[nodiscard]] std::optional<Response> check_sender(const net::HttpMessage& message,
                                                   const http_session::Hosts& ours);

/// The identity of the sender; or the 401, if it carries no token that is valid at `now`. GET and
/// HEAD of an open route (`is_open`) without a body need no token: they are `nobody`'s, as is the
/// console's login. Without the Authorization field, a cookie may name a session of the console; a
/// request that changes something by it needs the field X-Tarry-Console, or gets 403. If `sessions`
/// is null, no cookie counts.
[[nodiscard]] std::variant<identity::IdentityPtr, Response> recognise(
    const net::HttpMessage& message, const identity::Tokens& tokens, Time now,
    console::Sessions* sessions = nullptr);

/// The 429 that a peer gets instead of a 401 after session::TokenFailures::kMostFailures of them.
[[nodiscard]] Response too_many_failures();

/// The 401 for a request whose token was replaced or has ended meanwhile.
[[nodiscard]] Response token_not_valid();

/// Whether the request is a GET or HEAD of /healthz or /readyz without a body.
[[nodiscard]] bool is_probe(const net::HttpMessage& message) noexcept;

}  // namespace tarry::http
