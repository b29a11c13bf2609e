// WebhookTarget: where a webhook's requests go, and whether they may go there.
//
// Pure functions, except that they check the named files.
#pragma once

#include <string>

#include <tarry/result.h>

#include "relay/sinks/webhook/webhook_request.h"

namespace tarry::relay {

struct WebhookTarget {
  std::string origin;  // "https://host:8443"
  std::string target;  // path and query of the request; they may contain a secret
};

/// Error: `invalid_argument`, which names the value and the limit. A URL whose host is a private
/// address is such an error too, unless that is allowed.
[[nodiscard]] Result<WebhookTarget> check_webhook(const WebhookOptions& options);

}  // namespace tarry::relay
