// Calls to a tarry server besides verbs: its metrics and its test clock.
//
// Thread safety: pure functions; they block.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::tools {

struct ServerAnswer {
  unsigned status = 0;
  std::string body;
};

/// Whether the URL names a server.
[[nodiscard]] bool is_server_url(std::string_view url);

/// Errors: `invalid_argument` for a URL that does not name a server, `unavailable` if nobody
/// answers, `unknown_outcome` if the call was sent and not answered; if TLS is refused, as
/// HttpFailure says. `method` must have static
/// lifetime. An empty `json` sends no body.
[[nodiscard]] Result<ServerAnswer> call_server(std::string_view url, std::string_view method,
                                               std::string target, std::string json);

}  // namespace tarry::tools
