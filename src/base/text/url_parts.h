// Pieces of URLs: splitting, percent signs, hosts and ports, options.
//
// Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/result.h>

#include "base/text/text.h"

namespace tarry::base {

[[nodiscard]] Unexpected invalid_url(std::string message);

/// The text with %XX decoded. Error: `invalid_argument` for a % without two hex digits, and for NUL
/// bytes; `what` names the value in the error.
[[nodiscard]] Result<std::string> percent_decoded(std::string_view what, std::string_view text);

/// The form is "USER[:PASSWORD]".
struct Login {
  std::string user;
  std::optional<std::string> password;
};
/// `of` names the owner of the login in errors, which never show the text, because it may be a
/// secret.
[[nodiscard]] Result<Login> parse_login(std::string_view of, std::string_view text);

/// The error for a URL with an @ after its host. It shows no part of the URL, which may contain a
/// piece of a password.
[[nodiscard]] Unexpected misplaced_login();

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

struct BodyAndQuery {
  std::string_view body;
  std::string_view query;
};
[[nodiscard]] BodyAndQuery split_query(std::string_view rest) noexcept;

struct HostAndPort {
  std::string host;  // an IPv6 address without its brackets
  std::uint16_t port = 0;
};
[[nodiscard]] Result<HostAndPort> parse_authority(std::string_view authority,
                                                  std::uint16_t default_port);

/// The error for an unknown option. It names the option, the known options, and the one that was
/// probably meant.
[[nodiscard]] Unexpected unknown_option(std::string_view name, std::string_view scheme,
                                        const std::vector<std::string_view>& known);

/// One option of a scheme. `set` gets the value without percent signs.
template <typename Url>
struct UrlOption {
  std::string_view name;
  Result<void> (*set)(std::string_view value, Url& url);
};

/// Reads `query` option by option. The error names an option that is unknown, has no value, or is
/// repeated.
template <typename Url>
[[nodiscard]] Result<void> parse_options(std::string_view query, std::string_view scheme,
                                         std::span<const UrlOption<Url>> options, Url& url) {
  if (query.empty()) return {};
  std::vector<std::string_view> seen;
  for (const std::string_view part : split(query, '&')) {
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const auto option = std::ranges::find(options, name, &UrlOption<Url>::name);
    if (option == options.end()) {
      std::vector<std::string_view> known;
      for (const UrlOption<Url>& other : options) known.push_back(other.name);
      return unknown_option(name, scheme, known);
    }
    if (equals == std::string_view::npos) {
      return invalid_url("option " + quoted(name) + " needs a value: " + std::string(name) +
                         "=VALUE");
    }
    if (std::ranges::find(seen, name) != seen.end()) {
      return invalid_url("option " + quoted(name) + " is given twice; once is the limit");
    }
    seen.push_back(name);
    const auto value = percent_decoded("option " + std::string(name), part.substr(equals + 1));
    if (!value) return value.error();
    if (auto set = option->set(*value, url); !set) return set;
  }
  return {};
}

// Values of options.
[[nodiscard]] Result<std::uint64_t> size_option(std::string_view name, std::string_view value,
                                                std::uint64_t min, std::uint64_t max,
                                                std::string_view range);
[[nodiscard]] Result<std::uint32_t> number_option(std::string_view name, std::string_view value,
                                                  std::uint32_t min, std::uint32_t max);
/// Any text but an empty one.
[[nodiscard]] Result<void> text_option(std::string_view name, std::string_view value,
                                       std::string& into);
[[nodiscard]] Unexpected choice_error(std::string_view name, std::string_view value,
                                      std::string_view choices);

}  // namespace tarry::base
