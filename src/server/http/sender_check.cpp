#include "server/http/sender_check.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/text.h"
#include "server/http/routes.h"
#include "server/listening/ip_address.h"
#include "server/session/token_failures.h"

namespace tarry::http {
namespace {

std::string_view without_port(std::string_view host) noexcept {
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos) return host;
  const std::string_view port = host.substr(colon + 1);
  return std::ranges::all_of(port, base::is_digit) ? host.substr(0, colon) : host;
}

bool is_127(std::string_view host) noexcept {
  constexpr std::string_view kNet = "127.";
  return host.starts_with(kNet) &&
         std::ranges::all_of(host, [](char c) { return c == '.' || base::is_digit(c); });
}

bool is_id_byte(char c) noexcept {
  constexpr std::string_view kMarks = "._:/+=-";
  return base::is_letter(c) || base::is_digit(c) || kMarks.find(c) != std::string_view::npos;
}

// The host of a target in absolute form ("http://host/path"), which outranks the Host field.
std::optional<std::string_view> host_of_target(std::string_view target) noexcept {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    target.remove_prefix(scheme.size());
    return target.substr(0, target.find_first_of("/?"));
  }
  return std::nullopt;
}

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
  std::string_view target = message.target;
  if (const auto host = host_of_target(target)) {
    target.remove_prefix(static_cast<std::size_t>(host->data() + host->size() - target.data()));
  }
  return target.substr(0, target.find('?'));
}

bool is_ours(std::string_view host, const Hosts& ours) {
  if (names_loopback(host)) return true;
  // An IPv6 address can be written in many ways.
  const std::string_view written = without_port(host);
  const std::string name = listening::ip_in_url(written).value_or(std::string(written));
  if (name.empty()) return false;
  return name == ours.local || std::ranges::any_of(ours.names, [&](const std::string& known) {
           return base::equals_ignoring_case(known, name);
         });
}

}  // namespace

bool names_loopback(std::string_view host) noexcept {
  const std::string_view name = without_port(host);
  return base::equals_ignoring_case(name, "localhost") || name == "[::1]" || is_127(name);
}

// Only these requests count as probes: any other one may be large, and may take long.
bool is_probe(const net::HttpMessage& message) noexcept {
  const std::string_view path = path_read(message);
  return path == "/healthz" || path == "/readyz";
}

std::optional<Response> check_sender(const net::HttpMessage& message, const Hosts& ours) {
  const std::size_t count = message.count("Host");
  if (count > 1 || (count == 0 && message.version >= 11)) {
    return problem(400, ErrorCode::invalid_argument,
                   count == 0 ? "the Host field is missing" : "the Host field occurs twice");
  }
  const std::string* field = message.find("Host");
  const auto host = host_of_target(message.target);
  const std::string_view named = host ? *host : field != nullptr ? *field : std::string_view();
  if ((host || field != nullptr) && !is_ours(named, ours)) {
    return problem(421, ErrorCode::permission_denied,
                   "the host " + base::quoted(named) +
                       " is not this server's; its setting server.names lists its names");
  }
  const std::string* origin = message.find("Origin");
  const std::string our_origin = (ours.is_https ? "https://" : "http://") + std::string(named);
  if (origin != nullptr && !base::equals_ignoring_case(*origin, our_origin)) {
    return problem(403, ErrorCode::permission_denied,
                   "requests from the origin " + base::quoted(*origin) + " are not served");
  }
  return std::nullopt;
}

std::variant<identity::IdentityPtr, Response> recognise(const net::HttpMessage& message,
                                                        const identity::Tokens& tokens, Time now) {
  if (!tokens.required()) return identity::anyone();
  if (is_open(path_read(message))) return identity::nobody();
  const auto refused = [](const std::string& what) {
    return problem(
        401, ErrorCode::permission_denied,
        "the Authorization field " + what + "; it must be: Bearer and a token of this server");
  };
  if (message.count("Authorization") > 1) return refused("occurs twice");
  const std::string* field = message.find("Authorization");
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

std::optional<std::string_view> request_id_of(const net::HttpMessage& message) {
  const std::string* id = message.find("X-Request-ID");
  if (id == nullptr || id->empty() || id->size() > 128) return std::nullopt;
  if (!std::ranges::all_of(*id, is_id_byte)) return std::nullopt;
  return *id;
}

}  // namespace tarry::http
