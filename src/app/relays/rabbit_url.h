// URLs of RabbitMQ: what is behind amqp: or amqps:, as where the broker is and what is wanted
// there.
//
// Errors name the value and the limit, and never a password. Pure functions, but for password_file.
#pragma once

#ifdef TARRY_WITH_RABBITMQ

#include <string_view>

#include <tarry/result.h>

#include "relay/intakes/rabbit_source.h"
#include "relay/sinks/rabbitmq/rabbit_connection.h"

namespace tarry::app {

/// exchange=, routing_key=, exchange_from=, routing_key_from=, channels=
[[nodiscard]] Result<relay::RabbitOptions> rabbit_sink_options(std::string_view scheme,
                                                               std::string_view rest);
/// queue=, exchange=, refused= (queue.refused where it is not given)
[[nodiscard]] Result<relay::RabbitSourceOptions> rabbit_source_options(std::string_view scheme,
                                                                       std::string_view rest);

}  // namespace tarry::app

#endif
