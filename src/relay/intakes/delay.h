// The delay of a message from RabbitMQ, as its producer stated it.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include <tarry/result.h>

#include "net/rabbit/library.h"

namespace tarry::relay {

/// The header of RabbitMQ's delayed-message plugin, in milliseconds.
inline constexpr const char* kDelayHeader = "x-delay";

/// Milliseconds, rounded up; 0 and less: now. A number of any width, or text that is a number.
/// Errors: `invalid_argument` for anything else, and for more than 100 years.
[[nodiscard]] Result<std::int64_t> delay_of(const amqp_field_value_t& value);

/// From the header x-delay; empty: there is none. Errors: as above.
[[nodiscard]] Result<std::optional<std::int64_t>> delay_of(
    const amqp_basic_properties_t& properties);

/// From the property expiration, if it means a delay; empty: there is none. Errors: as above.
[[nodiscard]] Result<std::optional<std::int64_t>> expiration_of(
    const amqp_basic_properties_t& properties);

}  // namespace tarry::relay
