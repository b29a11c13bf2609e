// Decides which senders are let in, before anything else of a request is looked at. Any web page in
// a browser that can reach the server may send requests to it. So a request must name one of our
// hosts, and must not come from another origin. (A page whose own host name was pointed at our
// address names that host, and is refused.)
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "net/http/http_message.h"

namespace tarry::http_session {

/// Our hosts, besides localhost and the loopback addresses. IPv6 addresses have brackets, and are
/// written as RFC 5952 says.
struct Hosts {
  const std::vector<std::string>& names;
  std::string_view local;  // the address that the client has connected to
  bool is_https = false;   // the client speaks TLS
};

/// Why a sender is refused.
struct SenderFault {
  unsigned status = 0;  // 400 for a missing or repeated Host, 421 for a foreign Host, 403 for a
                        // foreign Origin
  ErrorCode code = ErrorCode::invalid_argument;
  std::string detail;
};

[[nodiscard]] std::optional<SenderFault> check_sender(const net::HttpMessage& message,
                                                      const Hosts& ours);

/// The host that the request names; empty if it names none.
[[nodiscard]] std::string_view named_host(const net::HttpMessage& message) noexcept;

/// The target without scheme and host ("/path?query"), even if it is in absolute form.
[[nodiscard]] std::string_view origin_form(std::string_view target) noexcept;

/// Whether the host is localhost, 127.x.x.x or [::1], with or without a port.
[[nodiscard]] bool names_loopback(std::string_view host) noexcept;

/// The client's X-Request-ID, if it is fit for a log: 1 to 128 letters, digits and ._:/+=-
[[nodiscard]] std::optional<std::string_view> request_id_of(const net::HttpMessage& message);

}  // namespace tarry::http_session
