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
#include "relay/sinks/webhook/allow_list.h"

namespace tarry::relay {

/// The data that the signature covers. v1: the time and the body, for receivers that know only this
/// form. v2: also the message's facts in the headers, and the path.
enum class WebhookSignature : std::uint8_t { v1, v2 };

struct WebhookOptions {
  std::string url;  // http or https, with a host, without user and fragment
  std::string content_type = "application/octet-stream";  // a message's own type has precedence
  std::string secret;                                     // for the signature; empty: none is sent
  WebhookSignature signature = WebhookSignature::v2;
  std::string token;        // of `Authorization: Bearer`; empty: none is sent
  std::string path_header;  // if not empty, a message's header of this name gives path and query
  AllowList allow;          // where requests may go
  std::uint32_t connections = 16;  // 1 .. 256: requests at once; only with 1 do messages keep their
                                   // order
  Millis connect_timeout{5'000};   // includes resolving the name
  Millis timeout{30'000};          // for one request, including its connection
  // For https. Each new connection reads the files, so they may be replaced.
  std::string ca_file;           // PEM; empty: the system's authorities
  std::string certificate_file;  // PEM, for receivers that require one; empty: none
  std::string key_file;          // PEM, without a passphrase
};

inline constexpr std::uint32_t kMaxWebhookConnections = 256;
inline constexpr std::size_t kMinWebhookSecret = 16;  // bytes

/// The request's header lines, "NAME: VALUE" each. They include the message's own headers, except
/// those that belong to the connection, those that we set ourselves, and those by which a receiver
/// or a proxy identifies the sender, because a producer must not be able to pose as us. `target`:
/// path and query of the request. Error: `invalid_argument`, which names the header, for a value
/// that no HTTP header can hold.
[[nodiscard]] Result<std::vector<std::string>> webhook_headers(const WebhookOptions& options,
                                                               const Delivery& delivery,
                                                               std::int64_t unix_seconds,
                                                               std::string_view target);

/// The path and query that the message gives; empty if it gives none. Error: `invalid_argument` for
/// text that is not a path.
[[nodiscard]] Result<std::string> webhook_path(const WebhookOptions& options,
                                               const Delivery& delivery);

/// The data that a signature covers. Queue and key have the form that they have in the headers.
struct WebhookSigned {
  std::int64_t unix_seconds = 0;
  std::uint64_t id = 0;
  std::string queue;
  std::string key;
  std::uint32_t attempt = 0;
  std::string_view target;  // path and query
  std::string_view body;
};

/// "v1=" or "v2=", followed by an HMAC-SHA256 in hex. v1 signs "SECONDS.BODY". v2 signs "v2",
/// SECONDS, ID, QUEUE, KEY, ATTEMPT, TARGET and BODY, joined by line feeds. Only the body can
/// contain a line feed.
[[nodiscard]] std::string webhook_signature(WebhookSignature version, std::string_view secret,
                                            const WebhookSigned& parts);

}  // namespace tarry::relay
