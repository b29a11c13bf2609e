// WebhookTarget: where a webhook's requests go, and whether they may go there.
//
// Pure functions, except that they check the named files.
#pragma once

#include <string>

#include <tarry/result.h>

#include "relay/sinks/webhook/webhook_request.h"

namespace tarry::relay {

struct WebhookTarget {
  std::string host;        // a name or an address, without brackets and zone
  bool permitted = false;  // the host may be called wherever it leads
  std::string origin;      // "https://host:8443"
  std::string target;      // path and query of the request; they may contain a secret
};

/// Error: `invalid_argument`, which names the value and the limit. A URL whose host can lead to no
/// permitted address is such an error too.
[[nodiscard]] Result<WebhookTarget> check_webhook(const WebhookOptions& options);

}  // namespace tarry::relay
