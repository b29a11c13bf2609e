// Bytes as hex digits.
//
// Thread safety: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace tarry::base {

/// Two lower-case hex digits for each byte.
[[nodiscard]] std::string hex_digits(std::string_view bytes);

}  // namespace tarry::base
