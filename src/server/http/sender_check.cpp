#include "server/http/sender_check.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "server/console/cookie.h"
#include "server/http/handlers/routes.h"
#include "server/http_session/hosts.h"
#include "server/session_parts/token_failures.h"

namespace tarry::http {
namespace {

using identity::IdentityPtr;

// True if the body is not empty, or its length is not known yet.
bool has_body(const net::HttpMessage& message) noexcept {
  if (message.find("Transfer-Encoding") != nullptr) return true;
  const std::string* length = message.find("Content-Length");
  return length != nullptr && length->find_first_not_of('0') != std::string::npos;
}

// The path of a GET or HEAD without a body; otherwise empty.
std::string_view path_read(const net::HttpMessage& message) noexcept {
  if (message.method != "GET" && message.method != "HEAD") return {};
  if (has_body(message)) return {};
  const std::string_view target = http_session::origin_form(message.target);
  return target.substr(0, target.find('?'));
}

std::variant<IdentityPtr, Response> recognise_cookie(const net::HttpMessage& message,
                                                     std::string_view id,
                                                     const identity::Tokens& tokens, Time now,
                                                     console::Sessions& sessions) {
  if (console::asks_for_another(message)) {
    return problem(403, ErrorCode::permission_denied,
                   "the console's cookie is only for pages of this server (Sec-Fetch-Site)");
  }
  IdentityPtr found = sessions.find(id, tokens, now);
  if (found == nullptr) {
    return problem(401, ErrorCode::permission_denied,
                   "the session of the console has ended; log in again");
  }
  if (!console::may_act_by_cookie(message)) {
    return problem(403, ErrorCode::permission_denied,
                   "a request that acts by the console's cookie needs the field X-Tarry-Console");
  }
  return found;
}

}  // namespace

// Only these requests count as probes: any other one may be large, and may take long.
bool is_probe(const net::HttpMessage& message) noexcept {
  const std::string_view path = path_read(message);
  return path == "/healthz" || path == "/readyz";
}

std::optional<Response> check_sender(const net::HttpMessage& message,
                                     const http_session::Hosts& ours) {
  const auto fault = http_session::check_sender(message, ours);
  if (!fault) return std::nullopt;
  return problem(fault->status, fault->code, fault->detail);
}

std::variant<identity::IdentityPtr, Response> recognise(const net::HttpMessage& message,
                                                        const identity::Tokens& tokens, Time now,
                                                        console::Sessions* sessions) {
  if (!tokens.required()) return identity::anyone();
  if (is_open(path_read(message)) || is_login(message)) return identity::nobody();
  const auto refused = [](const std::string& what) {
    return problem(
        401, ErrorCode::permission_denied,
        "the Authorization field " + what + "; it must be: Bearer and a token of this server");
  };
  if (message.count("Authorization") > 1) return refused("occurs twice");
  const std::string* field = message.find("Authorization");
  if (field == nullptr && sessions != nullptr) {
    if (const auto id = console::session_in(message)) {
      return recognise_cookie(message, *id, tokens, now, *sessions);
    }
  }
  if (field == nullptr) return refused("is missing");
  constexpr std::string_view kScheme = "Bearer ";
  std::string_view given = *field;
  if (given.size() < kScheme.size() ||
      !base::equals_ignoring_case(given.substr(0, kScheme.size()), kScheme)) {
    return refused("is not of the Bearer scheme");
  }
  given.remove_prefix(kScheme.size());
  while (given.starts_with(' ')) given.remove_prefix(1);
  identity::IdentityPtr found = tokens.find(given);
  if (found == nullptr) return refused("holds an unknown token");
  // Only its owner can know this token.
  if (found->has_ended(now)) {
    return refused("holds the token " + base::quoted(found->name) + ", which ended at " +
                   base::format_time_ms(found->ends->time_since_epoch().count()));
  }
  return found;
}

Response too_many_failures() {
  return problem(429, ErrorCode::unavailable,
                 "too many requests of this address had no valid token: " +
                     std::to_string(session::TokenFailures::kMostFailures) +
                     " is the limit; try again in a second, with a valid token");
}

Response token_not_valid() {
  Response refused = problem(401, ErrorCode::permission_denied,
                             "the token is no longer valid; ask again with another one");
  refused.close = true;
  return refused;
}

}  // namespace tarry::http
