// WebhookTarget: where a webhook's requests go, and whether they may.
//
// Pure functions, except for a look at the named files.
#pragma once

#include <string>

#include <tarry/result.h>

#include "relay/sinks/webhook/webhook_request.h"

namespace tarry::relay {

struct WebhookTarget {
  std::string origin;  // "https://host:8443"
  std::string target;  // path and query, as the request has them; they may hold a secret
};

/// Errors: `invalid_argument`, naming value and limit; also for a URL whose host is a private
/// address, if that is not allowed.
[[nodiscard]] Result<WebhookTarget> check_webhook(const WebhookOptions& options);

}  // namespace tarry::relay
