// Rates as people write them: messages a second.
//
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include <tarry/result.h>

#include "core/rules/validation.h"

namespace tarry::core {

/// Error: `invalid_argument` beyond the limits of ProjectionOptions, and for NaN. `what` names the
/// value.
[[nodiscard]] MaybeError check_rate(std::string_view what, double rate);

/// Reads `120` or `0.5`: digits, and a fraction. Error: `invalid_argument`, which names the value
/// and the limits.
[[nodiscard]] Result<double> parse_rate(std::string_view what, std::string_view text);

/// The same, or `none` for 0.
[[nodiscard]] Result<double> parse_arrivals(std::string_view what, std::string_view text);

}  // namespace tarry::core
