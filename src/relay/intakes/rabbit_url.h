// URLs of RabbitMQ as the source of an intake (net/rabbit/rabbit_url.h).
//
// Errors name the value and the limit, and never a password. Pure, except for password_file.
#pragma once

#include <string_view>

#include <tarry/result.h>

#include "relay/intakes/rabbit_source.h"

namespace tarry::relay {

/// `rest`: the part after `scheme`, which is amqp or amqps. Options: queue=, exchange=, refused=
/// (default: the queue's name and ".refused").
[[nodiscard]] Result<RabbitSourceOptions> rabbit_source_options(std::string_view scheme,
                                                                std::string_view rest);

}  // namespace tarry::relay
