// Kafka as a kind of sink: kafka:.
#pragma once

#include "relay/sinks/kind.h"

namespace tarry::relay {

/// Errors of its `make`: also as KafkaSink::make.
[[nodiscard]] SinkKind kafka_kind();

}  // namespace tarry::relay
