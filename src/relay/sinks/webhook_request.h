// What a webhook is asked and what its answer means: header lines, signature, path; status and body
// as an Answer.
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

struct WebhookOptions {
  std::string url;  // http or https, with a host, without user and fragment
  std::string content_type = "application/octet-stream";  // a message's own goes first
  std::string secret;                                     // of the signature; empty: none is sent
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

/// "NAME: VALUE" each. The message's own headers go along, but for those that belong to the
/// connection, and those that are ours. Errors: `invalid_argument`, naming the header, for what no
/// HTTP header can hold.
[[nodiscard]] Result<std::vector<std::string>> webhook_headers(const WebhookOptions& options,
                                                               const Delivery& delivery,
                                                               std::int64_t unix_seconds);

/// Path and query that the message asks for; empty where it does not. `invalid_argument` for what
/// is none.
[[nodiscard]] Result<std::string> webhook_path(const WebhookOptions& options,
                                               const Delivery& delivery);

/// "v1=" and the hex HMAC-SHA256 of "SECONDS.BODY".
[[nodiscard]] std::string webhook_signature(std::string_view secret, std::int64_t unix_seconds,
                                            std::string_view body);

/// `status`: 200 .. 599, of a whole answer. `after`: what Retry-After asks for.
[[nodiscard]] Answer webhook_answer(long status, std::string_view body,
                                    std::optional<Millis> after);

}  // namespace tarry::relay
