// Percent-encoding, as in URLs.
//
// Thread safety: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace tarry::base {

/// Letters, digits and the characters in `kept` stay; every other byte becomes %XX.
[[nodiscard]] std::string percent_encoded(std::string_view bytes, std::string_view kept);

}  // namespace tarry::base
