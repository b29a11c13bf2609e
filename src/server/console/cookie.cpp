#include "server/console/cookie.h"

#include <algorithm>
#include <cstddef>

#include "base/text/ascii.h"

namespace tarry::console {
namespace {

constexpr std::string_view kName = "tarry_session";
constexpr std::string_view kRules = "; Path=/; HttpOnly; SameSite=Strict";

std::string with_rules(std::string cookie, bool secure) {
  cookie += kRules;
  if (secure) cookie += "; Secure";
  return cookie;
}

}  // namespace

std::optional<std::string_view> session_in(const net::HttpMessage& message) {
  std::optional<std::string_view> found;
  for (const net::HttpField& field : message.fields) {
    if (!base::equals_ignoring_case(field.name, "Cookie")) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = base::trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos || pair.substr(0, equals) != kName) continue;
      // Two of them: another site of the domain may have planted one.
      if (found) return std::nullopt;
      found = pair.substr(equals + 1);
    }
  }
  return found;
}

std::string cookie_of(std::string_view session_id, bool secure) {
  return with_rules(std::string(kName) + "=" + std::string(session_id), secure);
}

std::string no_cookie(bool secure) {
  return with_rules(std::string(kName) + "=; Max-Age=0", secure);
}

bool asks_for_another(const net::HttpMessage& message) noexcept {
  const std::string* site = message.find("Sec-Fetch-Site");
  return site != nullptr && *site != "same-origin" && *site != "none";
}

bool may_act_by_cookie(const net::HttpMessage& message) noexcept {
  return message.method == "GET" || message.method == "HEAD" ||
         message.find("X-Tarry-Console") != nullptr;
}

}  // namespace tarry::console
