#include "server/http_session/hosts.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "server/listening/ip_address.h"

namespace tarry::http_session {
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

// Through a proxy that ends TLS, and keeps the Host, a page of https comes to us without TLS.
bool is_our_origin(std::string_view origin, std::string_view host, bool is_https) {
  const std::string ours(host);
  const bool may_be_https = is_https || !names_loopback(host);
  return (may_be_https && base::equals_ignoring_case(origin, "https://" + ours)) ||
         (!is_https && base::equals_ignoring_case(origin, "http://" + ours));
}

}  // namespace

bool names_loopback(std::string_view host) noexcept {
  const std::string_view name = without_port(host);
  return base::equals_ignoring_case(name, "localhost") || name == "[::1]" || is_127(name);
}

std::string_view named_host(const net::HttpMessage& message) noexcept {
  if (const auto host = host_of_target(message.target)) return *host;
  const std::string* field = message.find("Host");
  return field != nullptr ? std::string_view(*field) : std::string_view();
}

std::string_view origin_form(std::string_view target) noexcept {
  if (const auto host = host_of_target(target)) {
    target.remove_prefix(static_cast<std::size_t>(host->data() + host->size() - target.data()));
  }
  return target;
}

std::optional<SenderFault> check_sender(const net::HttpMessage& message, const Hosts& ours) {
  const std::size_t count = message.count("Host");
  if (count > 1 || (count == 0 && message.version >= 11)) {
    return SenderFault{400, ErrorCode::invalid_argument,
                       count == 0 ? "the Host field is missing" : "the Host field occurs twice"};
  }
  const std::string* field = message.find("Host");
  const bool names_one = field != nullptr || host_of_target(message.target).has_value();
  const std::string_view named = named_host(message);
  if (names_one && !is_ours(named, ours)) {
    return SenderFault{421, ErrorCode::permission_denied,
                       "the host " + base::quoted(named) +
                           " is not this server's; its setting server.names lists its names"};
  }
  const std::string* origin = message.find("Origin");
  if (origin != nullptr && !is_our_origin(*origin, named, ours.is_https)) {
    return SenderFault{403, ErrorCode::permission_denied,
                       "requests from the origin " + base::quoted(*origin) + " are not served"};
  }
  return std::nullopt;
}

std::optional<std::string_view> request_id_of(const net::HttpMessage& message) {
  const std::string* id = message.find("X-Request-ID");
  if (id == nullptr || id->empty() || id->size() > 128) return std::nullopt;
  if (!std::ranges::all_of(*id, is_id_byte)) return std::nullopt;
  return *id;
}

}  // namespace tarry::http_session
