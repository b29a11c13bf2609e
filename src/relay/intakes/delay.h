// How long a message of RabbitMQ is to wait, as its producer said.
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

/// Milliseconds, rounded up; 0 and less: now. A number of any width, or text that is one.
/// Errors: `invalid_argument` for anything else, and for more than 100 years.
[[nodiscard]] Result<std::int64_t> delay_of(const amqp_field_value_t& value);

/// Of the header x-delay; empty: there is none. Errors: as above.
[[nodiscard]] Result<std::optional<std::int64_t>> delay_of(
    const amqp_basic_properties_t& properties);

/// Of the property expiration, where it stands for a delay; empty: there is none. Errors: as above.
[[nodiscard]] Result<std::optional<std::int64_t>> expiration_of(
    const amqp_basic_properties_t& properties);

}  // namespace tarry::relay
