// Kafka as a kind of sink: kafka:.
#pragma once

#include "relay/sinks/kind.h"

namespace tarry::relay {

/// The `make` of this kind also has the errors of kafka_sink.
[[nodiscard]] SinkKind kafka_kind();

}  // namespace tarry::relay
