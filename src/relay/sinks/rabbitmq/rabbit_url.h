// URLs of RabbitMQ as sinks (net/rabbit/rabbit_url.h).
//
// Errors name the value and the limit, and never a password. Pure, except for password_file.
#pragma once

#include <string_view>

#include <tarry/result.h>

#include "relay/sinks/rabbitmq/rabbit_connection.h"

namespace tarry::relay {

/// `rest`: the part after `scheme`, which is amqp or amqps. Options: exchange=, routing_key=,
/// exchange_from=, routing_key_from=, channels=.
[[nodiscard]] Result<RabbitOptions> rabbit_sink_options(std::string_view scheme,
                                                        std::string_view rest);

}  // namespace tarry::relay
