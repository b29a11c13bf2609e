#include "base/text/url_parts.h"

#include "base/text/ascii.h"
#include "base/text/nearest.h"

namespace tarry::base {
namespace {

bool is_host_name(std::string_view host) noexcept {
  return !host.empty() && host.size() <= 253 && std::ranges::all_of(host, [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
  });
}

bool is_ipv6(std::string_view host) noexcept {
  return host.size() >= 2 && host.size() <= 45 && std::ranges::all_of(host, [](char c) {
           return hex_value(c) >= 0 || c == ':' || c == '.';
         });
}

}  // namespace

Unexpected invalid_url(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

Result<std::string> percent_decoded(std::string_view what, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 1 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return invalid_url(std::string(what) + " " + quoted(text) +
                           " holds a % without two hex digits; write %25 for a %");
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') {
      return invalid_url(std::string(what) + " " + quoted(text) + " holds a NUL byte");
    }
    out += c;
  }
  return out;
}

Result<Login> parse_login(std::string_view of, std::string_view text) {
  const std::size_t colon = text.find(':');
  Login login;
  auto user = percent_decoded("user", text.substr(0, colon));
  auto password =
      percent_decoded("password", colon == std::string_view::npos ? "" : text.substr(colon + 1));
  if (!user || !password) {
    return invalid_url("user or password of " + std::string(of) +
                       " holds a % without two hex digits, or a NUL byte; write %25 for a %");
  }
  login.user = *std::move(user);
  if (colon != std::string_view::npos) login.password = *std::move(password);
  return login;
}

Unexpected misplaced_login() {
  return invalid_url(
      "the URL has an @ after its host: in user or password write /, ?, # and % as %2F, %3F, %23 "
      "and %25; elsewhere write @ as %40");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

BodyAndQuery split_query(std::string_view rest) noexcept {
  const std::size_t mark = rest.find('?');
  if (mark == std::string_view::npos) return {rest, {}};
  return {rest.substr(0, mark), rest.substr(mark + 1)};
}

Result<HostAndPort> parse_authority(std::string_view authority, std::uint16_t default_port) {
  HostAndPort at;
  at.port = default_port;
  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    const std::string_view host =
        authority.substr(1, close == std::string_view::npos ? close : close - 1);
    const std::string_view after =
        close == std::string_view::npos ? std::string_view() : authority.substr(close + 1);
    if (close == std::string_view::npos || !is_ipv6(host) ||
        (!after.empty() && after.front() != ':')) {
      return invalid_url("host " + quoted(authority) + " must be an IPv6 address in [ ]");
    }
    at.host = std::string(host);
    has_port = !after.empty();
    if (has_port) port = after.substr(1);
  } else {
    const std::size_t colon = authority.find(':');
    const std::string_view host = authority.substr(0, colon);
    if (!is_host_name(host)) {
      return invalid_url("host " + quoted(host) +
                         " must be a name or address of 1 to 253 characters");
    }
    at.host = std::string(host);
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
  }
  if (has_port) {
    const auto number = parse_u64(port, "port", 1, 65'535);
    if (!number) return number.error();
    at.port = static_cast<std::uint16_t>(*number);
  }
  return at;
}

Unexpected unknown_option(std::string_view name, std::string_view scheme,
                          const std::vector<std::string_view>& known) {
  std::string list;
  for (const std::string_view other : known) {
    list += (list.empty() ? "" : ", ") + std::string(other);
  }
  return invalid_url("option " + quoted(name) + " is not one of " + std::string(scheme) +
                     ":, which are " + list + did_you_mean(name, known));
}

Result<std::uint64_t> size_option(std::string_view name, std::string_view value, std::uint64_t min,
                                  std::uint64_t max, std::string_view range) {
  const Result<std::uint64_t> size = parse_size(value);
  if (!size) return invalid_url("option " + std::string(name) + ": " + size.error().message);
  if (*size < min || *size > max) {
    return invalid_url("option " + std::string(name) + " " + quoted(value) + " must be " +
                       std::string(range));
  }
  return *size;
}

Result<std::uint32_t> number_option(std::string_view name, std::string_view value,
                                    std::uint32_t min, std::uint32_t max) {
  const auto number = parse_u64(value, "option " + std::string(name), min, max);
  if (!number) return number.error();
  return static_cast<std::uint32_t>(*number);
}

Result<void> text_option(std::string_view name, std::string_view value, std::string& into) {
  if (value.empty()) return invalid_url("option " + std::string(name) + " \"\" must not be empty");
  into = value;
  return {};
}

Unexpected choice_error(std::string_view name, std::string_view value, std::string_view choices) {
  return invalid_url("option " + std::string(name) + " " + quoted(value) + " must be " +
                     std::string(choices));
}

}  // namespace tarry::base
