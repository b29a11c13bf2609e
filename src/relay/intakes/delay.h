// The delay of a message from RabbitMQ, as its producer stated it.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include <tarry/result.h>

#include "net/rabbit/library.h"

namespace tarry::relay {

/// The header of RabbitMQ's delayed-message plugin. Its value is in milliseconds.
inline constexpr const char* kDelayHeader = "x-delay";

/// The delay in milliseconds, rounded up; 0 and less mean now. The value may be a number of any
/// width, or text that is a number. Errors: `invalid_argument` for any other value, and for more
/// than 100 years.
[[nodiscard]] Result<std::int64_t> delay_of(const amqp_field_value_t& value);

/// The delay in the header x-delay; empty if there is no such header. Errors: as above.
[[nodiscard]] Result<std::optional<std::int64_t>> delay_of(
    const amqp_basic_properties_t& properties);

/// The delay in the property expiration, if that counts as a delay; empty if there is none. Errors:
/// as above.
[[nodiscard]] Result<std::optional<std::int64_t>> expiration_of(
    const amqp_basic_properties_t& properties);

}  // namespace tarry::relay
