// A webhook's request: header lines, signature, path.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/queue.h>
#include <tarry/result.h>

#include "relay/sink.h"

namespace tarry::relay {

/// What the signature covers. v1: the time and the body, for receivers that know only that. v2:
/// also the message's facts in the headers, and the path.
enum class WebhookSignature : std::uint8_t { v1, v2 };

struct WebhookOptions {
  std::string url;  // http or https, with a host, without user and fragment
  std::string content_type = "application/octet-stream";  // a message's own goes first
  std::string secret;                                     // of the signature; empty: none is sent
  WebhookSignature signature = WebhookSignature::v2;
  std::string token;        // of `Authorization: Bearer`; empty: none is sent
  std::string path_header;  // not empty: a message's header of that name is path and query
  bool allow_private = false;
  std::uint32_t connections = 16;  // 1 .. 256: requests at once; in order only with 1
  Millis connect_timeout{5'000};   // names are resolved within it too
  Millis timeout{30'000};          // of one request, its connection included
  std::string ca_file;             // PEM; empty: the system's authorities
  std::string certificate_file;    // PEM, for receivers that ask for one; empty: none
  std::string key_file;            // PEM
};

inline constexpr std::uint32_t kMaxWebhookConnections = 256;
inline constexpr std::size_t kMinWebhookSecret = 16;  // bytes

/// "NAME: VALUE" each. The message's own headers are added, except those that belong to the
/// connection, those that are ours, and those by which a receiver or a proxy identifies the sender:
/// a producer must not speak for us. `target`: path and query of the request. Errors:
/// `invalid_argument`, naming the header, for values that no HTTP header can hold.
[[nodiscard]] Result<std::vector<std::string>> webhook_headers(const WebhookOptions& options,
                                                               const Delivery& delivery,
                                                               std::int64_t unix_seconds,
                                                               std::string_view target);

/// The path and query in the message; empty if it has none. `invalid_argument` for text that is no
/// path.
[[nodiscard]] Result<std::string> webhook_path(const WebhookOptions& options,
                                               const Delivery& delivery);

/// The data that a signature covers; queue and key as the headers have them.
struct WebhookSigned {
  std::int64_t unix_seconds = 0;
  std::uint64_t id = 0;
  std::string queue;
  std::string key;
  std::uint32_t attempt = 0;
  std::string_view target;  // path and query
  std::string_view body;
};

/// "v1=" or "v2=" and the hex HMAC-SHA256: v1 of "SECONDS.BODY"; v2 of "v2", SECONDS, ID, QUEUE,
/// KEY, ATTEMPT, TARGET and BODY, each but the last with a line feed after it. None of these can
/// hold a line feed, except the body.
[[nodiscard]] std::string webhook_signature(WebhookSignature version, std::string_view secret,
                                            const WebhookSigned& parts);

}  // namespace tarry::relay
