#include "open/urls/store_url.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <tarry/store.h>

#include "base/text/ascii.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/url_parts.h"
#include "core/limits.h"
#include "open/urls/payload_option.h"
#include "open/urls/redis_url.h"
#include "open/urls/tls_option.h"

namespace tarry::detail {
namespace {

/// The redis schemes (redis_url.cpp) are appended to it.
constexpr std::string_view kForms =
    "use memory:, file:PATH, http://HOST:PORT, https://HOST:PORT, http+unix:///PATH, "
    "amqp://HOST:PORT, amqps:, redis://HOST:PORT";

/// sockaddr_un has room for this many bytes and a final zero.
constexpr std::size_t kMaxSocketPath = 107;

std::vector<std::string_view> all_schemes() {
  std::vector<std::string_view> names = redis_schemes();
  names.insert(names.begin(), {"memory", "file", "http", "https", "http+unix", "amqp", "amqps"});
  return names;
}

std::string forms() {
  std::string text(kForms);
  const std::vector<std::string_view> redis = redis_schemes();
  for (const std::string_view scheme : redis) {
    if (scheme == "redis") continue;
    text += (scheme == redis.back() ? " or " : ", ") + std::string(scheme) + ":";
  }
  return text;
}

// -- options

Result<void> set_clock(std::string_view value, EmbeddedUrl& url) {
  if (value != "manual") return base::choice_error("clock", value, "manual");
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
    return base::choice_error("sync", value, "always, 100ms or os");
  }
  return {};
}

Result<void> set_shards(std::string_view value, EmbeddedUrl& url) {
  const auto shards = base::number_option("shards", value, 1, core::kMaxShards);
  if (!shards) return shards.error();
  url.shards = *shards;
  return {};
}

Result<void> set_segment(std::string_view value, EmbeddedUrl& url) {
  const auto size =
      base::size_option("segment", value, 64ull << 10, 256ull << 20, "from 64KiB to 256MiB");
  if (!size) return size.error();
  url.segment_bytes = *size;
  return {};
}

Result<void> set_capacity(std::string_view value, EmbeddedUrl& url) {
  const auto size = base::size_option("capacity", value, 1ull << 20, UINT64_MAX, "at least 1MiB");
  if (!size) return size.error();
  url.memory_bytes = *size;
  return {};
}

using EmbeddedOption = base::UrlOption<EmbeddedUrl>;

constexpr std::array kMemoryOptions = {
    EmbeddedOption{"clock", set_clock},
    EmbeddedOption{"shards", set_shards},
    EmbeddedOption{"segment", set_segment},
    EmbeddedOption{"max_payload", set_max_payload<EmbeddedUrl>},
    EmbeddedOption{"capacity", set_capacity},
};
constexpr std::array kFileOptions = {
    EmbeddedOption{"sync", set_sync},
    EmbeddedOption{"shards", set_shards},
    EmbeddedOption{"segment", set_segment},
    EmbeddedOption{"max_payload", set_max_payload<EmbeddedUrl>},
};

Result<void> set_token_file(std::string_view value, RemoteUrl& url) {
  if (value.empty()) return base::invalid_url("option token_file \"\" must be a path");
  url.token_file = value;
  return {};
}

using RemoteOption = base::UrlOption<RemoteUrl>;

constexpr std::array kHttpOptions = {RemoteOption{"token_file", set_token_file}};

std::vector<RemoteOption> remote_options(bool tls) {
  std::vector<RemoteOption> options(kHttpOptions.begin(), kHttpOptions.end());
  if (tls) {
    options.insert(options.end(), kTlsOptions<RemoteUrl>.begin(), kTlsOptions<RemoteUrl>.end());
  }
  return options;
}

// -- schemes

Result<StoreUrl> parse_memory(std::string_view rest) {
  const auto [body, query] = base::split_query(rest);
  if (!body.empty()) {
    return base::invalid_url("memory: takes no path, but " + base::quoted(masked_url(body)) +
                             " follows it");
  }
  EmbeddedUrl url;
  if (auto done = base::parse_options<EmbeddedUrl>(query, "memory", kMemoryOptions, url); !done)
    return std::move(done).error();
  return StoreUrl(std::move(url));
}

Result<StoreUrl> parse_file(std::string_view rest) {
  auto [body, query] = base::split_query(rest);
  if (body.starts_with("//")) {
    const std::size_t slash = body.find('/', 2);
    const std::string_view host =
        body.substr(2, slash == std::string_view::npos ? slash : slash - 2);
    if (!host.empty() && host != "localhost") {
      return base::invalid_url("file: URL names the host " + base::quoted(masked_url(host)) +
                               "; write file:PATH or file:///PATH, for a path on this machine");
    }
    body = slash == std::string_view::npos ? std::string_view() : body.substr(slash);
  }
  if (body.empty()) return base::invalid_url("file: URL has an empty path; write file:PATH");
  if (body.starts_with('~')) {
    return base::invalid_url(
        "path " + base::quoted(body) +
        " begins with ~, which shells replace only where a word begins: write the "
        "whole path, or ./~ for a directory of that name");
  }
  if (body.find('#') != std::string_view::npos) {
    return base::invalid_url("path " + base::quoted(body) + " holds a #; write %23 for it");
  }
  EmbeddedUrl url;
  auto path = base::percent_decoded("path", body);
  if (!path) return std::move(path).error();
  url.path = *std::move(path);
  if (auto done = base::parse_options<EmbeddedUrl>(query, "file", kFileOptions, url); !done)
    return std::move(done).error();
  return StoreUrl(std::move(url));
}

// `scheme`: http or https.
Result<StoreUrl> parse_http(const std::string& scheme, std::string_view rest) {
  const std::string shown = base::quoted(masked_url(scheme + ":" + std::string(rest)), 256);
  const std::string form = scheme + "://HOST[:PORT]";
  // This check comes first, so that no part of a password appears in an error as a bad host, port
  // or path.
  if (rest.find('@') != std::string_view::npos) {
    return base::invalid_url("store URL " + shown + " holds a user, but " + scheme +
                             ": takes none");
  }
  if (!rest.starts_with("//")) {
    return base::invalid_url("store URL " + shown + " must be " + form);
  }
  const auto [body, query] = base::split_query(rest.substr(2));
  const std::size_t slash = body.find_first_of("/#");
  const std::string_view authority = body.substr(0, slash);
  if (slash != std::string_view::npos && body.substr(slash) != "/") {
    return base::invalid_url("store URL " + shown + " has a path; it must end after " + form);
  }
  RemoteUrl url;
  url.tls = scheme == "https";
  const auto options = remote_options(url.tls);
  if (auto done = base::parse_options<RemoteUrl>(query, scheme, options, url); !done)
    return std::move(done).error();
  if (auto done = check_tls_options(url); !done) return std::move(done).error();
  auto at = base::parse_authority(authority, url.port);
  if (!at) return std::move(at).error();
  url.host = std::move(at->host);
  url.port = at->port;
  return StoreUrl(std::move(url));
}

Result<StoreUrl> parse_http_unix(std::string_view rest) {
  const auto [body, query] = base::split_query(rest);
  if (!body.starts_with("///")) {
    return base::invalid_url("store URL " +
                             base::quoted(masked_url("http+unix:" + std::string(rest)), 256) +
                             " must be http+unix:///PATH");
  }
  if (!query.empty()) {
    return base::invalid_url("option " + base::quoted(query.substr(0, query.find_first_of("=&"))) +
                             " is not one of http+unix:, which has none");
  }
  auto path = base::percent_decoded("path", body.substr(2));
  if (!path) return std::move(path).error();
  if (path->size() > kMaxSocketPath) {
    return base::invalid_url("path " + base::quoted(*path) +
                             " is too long for a socket: " + std::to_string(path->size()) +
                             " bytes, at most " + std::to_string(kMaxSocketPath));
  }
  RemoteUrl url;
  url.unix_path = *std::move(path);
  return StoreUrl(std::move(url));
}

Result<StoreUrl> parse_redis(std::string_view scheme, std::string_view rest) {
  auto parsed = parse_redis_url(scheme, rest);
  if (!parsed) return std::move(parsed).error();
  Result<StoreUrl> url{StoreUrl()};
  url->emplace<RedisUrl>(*std::move(parsed));
  return url;
}

Result<StoreUrl> parse_rabbit(const std::string& scheme, std::string_view rest) {
  Result<StoreUrl> parsed{StoreUrl()};
  parsed->emplace<RabbitUrl>(RabbitUrl{scheme, std::string(rest)});
  return parsed;
}

}  // namespace

std::string masked_url(std::string_view url) {
  const std::size_t at = url.rfind('@');
  const bool is_path = url.starts_with("file:") && !url.starts_with("file://");
  if (at == std::string_view::npos || is_path) return std::string(url);
  // If no "//" follows the first colon, the text before it may be a user's name.
  const std::size_t colon = url.find(':');
  const bool has_scheme = colon < at && url.substr(colon + 1).starts_with("//");
  const std::size_t begin = has_scheme ? std::min(colon + 3, at) : 0;
  return std::string(url.substr(0, begin)) + "***" + std::string(url.substr(at));
}

Result<StoreUrl> parse_store_url(std::string_view url) {
  if (url.empty()) return base::invalid_url("store URL \"\" is empty; " + forms());
  const std::size_t colon = url.find(':');
  std::string scheme(url.substr(0, colon == std::string_view::npos ? 0 : colon));
  std::ranges::transform(scheme, scheme.begin(), base::to_lower);
  const bool well_formed =
      !scheme.empty() && base::is_letter(scheme.front()) && std::ranges::all_of(scheme, [](char c) {
        return base::is_letter(c) || base::is_digit(c) || c == '+' || c == '-' || c == '.';
      });
  if (!well_formed) {
    return base::invalid_url("store URL " + base::quoted(masked_url(url)) + " has no scheme; " +
                             forms());
  }
  const std::string_view rest = url.substr(colon + 1);
  if (scheme == "memory") return parse_memory(rest);
  if (scheme == "file") return parse_file(rest);
  if (scheme == "http") return parse_http(scheme, rest);
  if (scheme == "https") return parse_http(scheme, rest);
  if (scheme == "http+unix") return parse_http_unix(rest);
  if (is_redis_scheme(scheme)) return parse_redis(scheme, rest);
  if (scheme == "amqp") return parse_rabbit(scheme, rest);
  if (scheme == "amqps") return parse_rabbit(scheme, rest);
  return base::invalid_url("store URL " + base::quoted(masked_url(url)) +
                           " has an unknown scheme; " + forms() +
                           base::did_you_mean(scheme, all_schemes()));
}

}  // namespace tarry::detail

namespace tarry {

std::string file_url(std::string_view path) {
  std::string text = base::path_in_url(path);
  // Readers would take a path that begins with two slashes for a host.
  if (text.starts_with("//")) text.replace(1, 1, "%2F");
  return "file:" + text;
}

}  // namespace tarry
