// Webhooks as a kind of sink: http: and https:.
#pragma once

#include "relay/sinks/kind.h"

namespace tarry::relay {

[[nodiscard]] SinkKind webhook_kind();

}  // namespace tarry::relay
