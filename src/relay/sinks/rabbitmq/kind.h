// RabbitMQ as a kind of sink: amqp: and amqps:.
#pragma once

#include "relay/sinks/kind.h"

namespace tarry::relay {

[[nodiscard]] SinkKind rabbitmq_kind();

}  // namespace tarry::relay
