// The text of a queue's rate: `100/1s`, `100/1s burst 20`, or `none`.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>
#include <tarry/settings.h>

namespace tarry::core {

/// Without `burst`, as many as the count. Error: `invalid_argument`, with the value and the limit.
[[nodiscard]] Result<DeliveryRate> parse_delivery_rate(std::string_view text);
[[nodiscard]] std::string delivery_rate_text(DeliveryRate rate);

/// Whether it is one that parse_delivery_rate can answer.
[[nodiscard]] bool is_delivery_rate(DeliveryRate rate) noexcept;

}  // namespace tarry::core
