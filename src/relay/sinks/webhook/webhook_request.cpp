#include "relay/sinks/webhook/webhook_request.h"

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "net/hmac.h"

namespace tarry::relay {
namespace {

constexpr std::size_t kMaxPath = 4'096;  // bytes

/// Headers that a message cannot set: they belong to the connection (RFC 9110, 7.6.1), to the
/// framing and destination of the request, or to the sender's identity.
constexpr std::array<std::string_view, 49> kNotTheirs{
    // the connection, and the way to the receiver
    "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings",
    "expect", "early-data", "max-forwards", "via", "alt-used",
    // framing, content and destination
    "host", "content-length", "content-type", "content-encoding", "content-range", "content-digest",
    "digest", "range", "accept-encoding", "user-agent", "x-http-method", "x-http-method-override",
    "x-method-override", "x-original-url", "x-original-host", "x-rewrite-url", "x-host",
    // the sender's identity, and on whose behalf it asks
    "authorization", "cookie", "cookie2", "set-cookie", "set-cookie2", "origin", "referer", "from",
    "forwarded", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip",
    "cf-connecting-ip", "fastly-client-ip", "remote-user", "x-remote-user", "signature",
    "signature-input",
    // a receiver drops duplicates by it
    "idempotency-key"};
constexpr std::array<std::string_view, 7> kNotTheirBeginnings{
    "tarry-", "proxy-", "sec-", "x-forwarded-", "x-auth-request-", "x-envoy-", "x-ssl-"};

bool begins_as(std::string_view name, std::string_view beginning) noexcept {
  return base::equals_ignoring_case(name.substr(0, beginning.size()), beginning);
}

bool is_theirs(const WebhookOptions& options, std::string_view name) noexcept {
  const auto is_name = [name](std::string_view other) {
    return base::equals_ignoring_case(name, other);
  };
  const auto begins = [name](std::string_view other) { return begins_as(name, other); };
  if (!options.path_header.empty() && is_name(options.path_header)) return false;
  return std::ranges::none_of(kNotTheirs, is_name) &&
         std::ranges::none_of(kNotTheirBeginnings, begins);
}

/// The characters that a token may have besides letters and digits (RFC 9110, 5.6.2).
constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";

bool is_field_name(std::string_view name) noexcept {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return base::is_letter(c) || base::is_digit(c) || kMarks.find(c) != std::string_view::npos;
  });
}

/// A value may contain tabs, and bytes from 0x80 on.
bool is_field_value(std::string_view value) noexcept {
  return std::ranges::none_of(value, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
  });
}

bool is_visible(char c) noexcept { return c > 0x20 && c < 0x7f; }

/// Keys and queue names may contain any bytes, so bytes that a header cannot hold are encoded.
std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_visible(c) && c != '%') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
  }
  return out;
}

std::string field_line(std::string_view name, std::string_view value) {
  return std::string(name).append(": ").append(value);
}

}  // namespace

Result<std::vector<std::string>> webhook_headers(const WebhookOptions& options,
                                                 const Delivery& delivery,
                                                 std::int64_t unix_seconds,
                                                 std::string_view target) {
  const std::string id = std::to_string(delivery.id());
  const WebhookSigned parts{unix_seconds,
                            delivery.id(),
                            percent_encoded(delivery.queue()),
                            percent_encoded(delivery.key()),
                            delivery.attempt(),
                            target,
                            delivery.payload()};
  std::vector<std::string> lines{
      field_line("Idempotency-Key", id),
      field_line("Tarry-Id", id),
      field_line("Tarry-Queue", parts.queue),
      field_line("Tarry-Key", parts.key),
      field_line("Tarry-Attempt", std::to_string(delivery.attempt())),
      field_line("Tarry-Due-Ms", std::to_string(delivery.due().time_since_epoch().count())),
      field_line("Tarry-Timestamp", std::to_string(unix_seconds)),
  };
  if (!options.secret.empty()) {
    lines.push_back(
        field_line("Tarry-Signature", webhook_signature(options.signature, options.secret, parts)));
  }
  if (!options.token.empty()) {
    lines.push_back(field_line("Authorization", "Bearer " + options.token));
  }
  std::string_view content_type = options.content_type;
  const Headers headers = delivery.headers();
  for (const Header& header : headers) {
    if (!is_field_name(header.name) || !is_field_value(header.value)) {
      return Error{ErrorCode::invalid_argument,
                   "header " + base::quoted(header.name) + " with " +
                       base::quoted(header.value, 40) +
                       " cannot be one of HTTP: no control bytes, and a token as its name"};
    }
    if (base::equals_ignoring_case(header.name, "content-type")) content_type = header.value;
    if (is_theirs(options, header.name)) lines.push_back(field_line(header.name, header.value));
  }
  lines.push_back(field_line("Content-Type", content_type));
  return lines;
}

Result<std::string> webhook_path(const WebhookOptions& options, const Delivery& delivery) {
  if (options.path_header.empty()) return std::string();
  const auto path = delivery.header(options.path_header);
  if (!path) return std::string();
  const bool good = path->starts_with('/') && path->size() <= kMaxPath &&
                    std::ranges::all_of(*path, is_visible) &&
                    path->find('#') == std::string_view::npos;
  if (good) return std::string(*path);
  return Error{ErrorCode::invalid_argument,
               "header " + base::quoted(options.path_header) + " with " + base::quoted(*path, 40) +
                   " is no path: / first, visible ASCII without #, to " + std::to_string(kMaxPath) +
                   " bytes"};
}

std::string webhook_signature(WebhookSignature version, std::string_view secret,
                              const WebhookSigned& parts) {
  std::string text;
  if (version == WebhookSignature::v1) {
    text = std::to_string(parts.unix_seconds);
    text.append(".").append(parts.body);
    return "v1=" + net::hmac_sha256_hex(secret, text);
  }
  const std::string seconds = std::to_string(parts.unix_seconds);
  const std::string id = std::to_string(parts.id);
  const std::string attempt = std::to_string(parts.attempt);
  const std::array<std::string_view, 7> lines{"v2",      seconds, id,          parts.queue,
                                              parts.key, attempt, parts.target};
  for (const std::string_view line : lines) text.append(line).append("\n");
  text.append(parts.body);
  return "v2=" + net::hmac_sha256_hex(secret, text);
}

}  // namespace tarry::relay
