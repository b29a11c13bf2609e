#include "open/store_url.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/text.h"
#include "core/limits.h"

namespace tarry::detail {
namespace {

constexpr std::string_view kForms = "use memory:, file:PATH or http://HOST:PORT";

/// Engines to come, or left out of this build: `unsupported` rather than a typing error.
constexpr std::array<std::string_view, 10> kOtherSchemes = {
    "https",          "redis",          "rediss",          "redis+unix", "redis+cluster",
    "rediss+cluster", "redis+sentinel", "rediss+sentinel", "amqp",       "amqps"};

Unexpected invalid(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

Result<std::string> percent_decoded(std::string_view what, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 1 < text.size() ? base::hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? base::hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return invalid(std::string(what) + " " + base::quoted(text) +
                       " holds a % without two hex digits; write %25 for a %");
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') {
      return invalid(std::string(what) + " " + base::quoted(text) + " holds a NUL byte");
    }
    out += c;
  }
  return out;
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

// -- options

using Set = Result<void> (*)(std::string_view value, EmbeddedUrl& url);

struct Option {
  std::string_view name;
  bool of_memory;
  bool of_file;
  Set set;
};

Result<std::uint64_t> size_option(std::string_view name, std::string_view value, std::uint64_t min,
                                  std::uint64_t max, std::string_view range) {
  const Result<std::uint64_t> size = base::parse_size(value);
  if (!size) return invalid("option " + std::string(name) + ": " + size.error().message);
  if (*size < min || *size > max) {
    return invalid("option " + std::string(name) + " " + base::quoted(value) + " must be " +
                   std::string(range));
  }
  return *size;
}

Result<void> choice_error(std::string_view name, std::string_view value, std::string_view choices) {
  return invalid("option " + std::string(name) + " " + base::quoted(value) + " must be " +
                 std::string(choices));
}

Result<void> set_clock(std::string_view value, EmbeddedUrl& url) {
  if (value != "manual") return choice_error("clock", value, "manual");
  url.manual_clock = true;
  return {};
}

Result<void> set_sync(std::string_view value, EmbeddedUrl& url) {
  if (value == "always") {
    url.sync = embedded::SyncPolicy::always;
  } else if (value == "100ms") {
    url.sync = embedded::SyncPolicy::every_100ms;
  } else if (value == "os") {
    url.sync = embedded::SyncPolicy::os;
  } else {
    return choice_error("sync", value, "always, 100ms or os");
  }
  return {};
}

Result<void> set_shards(std::string_view value, EmbeddedUrl& url) {
  const auto shards = base::parse_u64(value, "option shards", 1, core::kMaxShards);
  if (!shards) return shards.error();
  url.shards = static_cast<std::uint32_t>(*shards);
  return {};
}

Result<void> set_segment(std::string_view value, EmbeddedUrl& url) {
  const auto size =
      size_option("segment", value, 64ull << 10, 256ull << 20, "from 64KiB to 256MiB");
  if (!size) return size.error();
  url.segment_bytes = *size;
  return {};
}

Result<void> set_max_payload(std::string_view value, EmbeddedUrl& url) {
  const auto size = size_option("max_payload", value, 1, core::kMaxMaxPayload, "from 1B to 64MiB");
  if (!size) return size.error();
  url.max_payload = *size;
  return {};
}

Result<void> set_capacity(std::string_view value, EmbeddedUrl& url) {
  const auto size = size_option("capacity", value, 1ull << 20, UINT64_MAX, "at least 1MiB");
  if (!size) return size.error();
  url.memory_bytes = *size;
  return {};
}

constexpr std::array kOptions = {
    Option{"clock", true, false, set_clock},
    Option{"sync", false, true, set_sync},
    Option{"shards", true, true, set_shards},
    Option{"segment", true, true, set_segment},
    Option{"max_payload", true, true, set_max_payload},
    Option{"capacity", true, false, set_capacity},
};

Result<void> parse_options(std::string_view query, std::string_view scheme, EmbeddedUrl& url) {
  if (query.empty()) return {};
  const bool memory = scheme == "memory";
  const auto fits = [&](const Option& option) {
    return memory ? option.of_memory : option.of_file;
  };
  std::array<bool, kOptions.size()> seen{};
  for (const std::string_view part : split(query, '&')) {
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const auto* option = std::ranges::find(kOptions, name, &Option::name);
    if (option == kOptions.end() || !fits(*option)) {
      std::string known;
      for (const Option& other : kOptions) {
        if (fits(other)) known += (known.empty() ? "" : ", ") + std::string(other.name);
      }
      return invalid("option " + base::quoted(name) + " is not one of " + std::string(scheme) +
                     ":, which are " + known);
    }
    if (equals == std::string_view::npos) {
      return invalid("option " + base::quoted(name) + " needs a value: " + std::string(name) +
                     "=VALUE");
    }
    if (std::exchange(seen[static_cast<std::size_t>(option - kOptions.begin())], true)) {
      return invalid("option " + base::quoted(name) + " is given twice; once is the limit");
    }
    const auto value = percent_decoded("option " + std::string(name), part.substr(equals + 1));
    if (!value) return value.error();
    if (auto set = option->set(*value, url); !set) return set;
  }
  return {};
}

// -- schemes

struct Parts {
  std::string_view body;
  std::string_view query;
};

Parts split_query(std::string_view rest) noexcept {
  const std::size_t mark = rest.find('?');
  if (mark == std::string_view::npos) return {rest, {}};
  return {rest.substr(0, mark), rest.substr(mark + 1)};
}

Result<StoreUrl> parse_memory(std::string_view rest) {
  const auto [body, query] = split_query(rest);
  if (!body.empty()) {
    return invalid("memory: takes no path, and " + base::quoted(masked_url(body)) +
                   " stands behind it");
  }
  EmbeddedUrl url;
  if (auto done = parse_options(query, "memory", url); !done) return std::move(done).error();
  return StoreUrl(std::move(url));
}

Result<StoreUrl> parse_file(std::string_view rest) {
  auto [body, query] = split_query(rest);
  if (body.starts_with("//")) {
    const std::size_t slash = body.find('/', 2);
    const std::string_view host =
        body.substr(2, slash == std::string_view::npos ? slash : slash - 2);
    if (!host.empty() && host != "localhost") {
      return invalid("file: URL names the host " + base::quoted(masked_url(host)) +
                     "; write file:PATH or file:///PATH, for a path on this machine");
    }
    body = slash == std::string_view::npos ? std::string_view() : body.substr(slash);
  }
  if (body.empty()) return invalid("file: URL has an empty path; write file:PATH");
  if (body.find('#') != std::string_view::npos) {
    return invalid("path " + base::quoted(body) + " holds a #; write %23 for it");
  }
  EmbeddedUrl url;
  auto path = percent_decoded("path", body);
  if (!path) return std::move(path).error();
  url.path = *std::move(path);
  if (auto done = parse_options(query, "file", url); !done) return std::move(done).error();
  return StoreUrl(std::move(url));
}

bool is_host_name(std::string_view host) noexcept {
  return !host.empty() && host.size() <= 253 && std::ranges::all_of(host, [](char c) {
    return base::is_letter(c) || base::is_digit(c) || c == '.' || c == '-' || c == '_';
  });
}

bool is_ipv6(std::string_view host) noexcept {
  return host.size() >= 2 && host.size() <= 45 && std::ranges::all_of(host, [](char c) {
           return base::hex_value(c) >= 0 || c == ':' || c == '.';
         });
}

Result<StoreUrl> parse_http(std::string_view rest) {
  const std::string shown = base::quoted(masked_url("http:" + std::string(rest)), 256);
  // Before all else, so that no part of a password shows as a bad host, port or path.
  if (rest.find('@') != std::string_view::npos) {
    return invalid("store URL " + shown + " holds a user, for which http: has no use");
  }
  if (!rest.starts_with("//")) {
    return invalid("store URL " + shown + " must be http://HOST[:PORT]");
  }
  const auto [body, query] = split_query(rest.substr(2));
  const std::size_t slash = body.find_first_of("/#");
  const std::string_view authority = body.substr(0, slash);
  if (slash != std::string_view::npos && body.substr(slash) != "/") {
    return invalid("store URL " + shown + " has a path; it must end after http://HOST[:PORT]");
  }
  if (!query.empty()) {
    return invalid("option " + base::quoted(query.substr(0, query.find_first_of("=&"))) +
                   " is not one of http:, which has none");
  }
  RemoteUrl url;
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
      return invalid("host " + base::quoted(authority) + " must be an IPv6 address in [ ]");
    }
    url.host = std::string(host);
    has_port = !after.empty();
    if (has_port) port = after.substr(1);
  } else {
    const std::size_t colon = authority.find(':');
    const std::string_view host = authority.substr(0, colon);
    if (!is_host_name(host)) {
      return invalid("host " + base::quoted(host) +
                     " must be a name or address of 1 to 253 characters");
    }
    url.host = std::string(host);
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
  }
  if (has_port) {
    const auto number = base::parse_u64(port, "port", 1, 65'535);
    if (!number) return number.error();
    url.port = static_cast<std::uint16_t>(*number);
  }
  return StoreUrl(std::move(url));
}

}  // namespace

std::string masked_url(std::string_view url) {
  const std::size_t at = url.rfind('@');
  const bool is_path = url.starts_with("file:") && !url.starts_with("file://");
  if (at == std::string_view::npos || is_path) return std::string(url);
  // Without slashes right behind it, what stands before the first colon may be a user's name.
  const std::size_t colon = url.find(':');
  const bool has_scheme = colon < at && url.substr(colon + 1).starts_with("//");
  const std::size_t begin = has_scheme ? std::min(colon + 3, at) : 0;
  return std::string(url.substr(0, begin)) + "***" + std::string(url.substr(at));
}

Result<StoreUrl> parse_store_url(std::string_view url) {
  if (url.empty()) return invalid("store URL \"\" is empty; " + std::string(kForms));
  const std::size_t colon = url.find(':');
  std::string scheme(url.substr(0, colon == std::string_view::npos ? 0 : colon));
  std::ranges::transform(scheme, scheme.begin(), base::to_lower);
  const bool well_formed =
      !scheme.empty() && base::is_letter(scheme.front()) && std::ranges::all_of(scheme, [](char c) {
        return base::is_letter(c) || base::is_digit(c) || c == '+' || c == '-' || c == '.';
      });
  if (!well_formed) {
    return invalid("store URL " + base::quoted(masked_url(url)) + " has no scheme; " +
                   std::string(kForms));
  }
  const std::string_view rest = url.substr(colon + 1);
  if (scheme == "memory") return parse_memory(rest);
  if (scheme == "file") return parse_file(rest);
  if (scheme == "http") return parse_http(rest);
  if (std::ranges::find(kOtherSchemes, scheme) != kOtherSchemes.end()) {
    return Unexpected(ErrorCode::unsupported, scheme + ": is not built in; " + std::string(kForms));
  }
  return invalid("store URL " + base::quoted(masked_url(url)) + " has an unknown scheme; " +
                 std::string(kForms));
}

}  // namespace tarry::detail
