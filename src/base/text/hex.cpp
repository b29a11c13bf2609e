#include "base/text/hex.h"

#include <cstdint>

namespace tarry::base {

std::string hex_digits(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    hex += kDigits[byte >> 4u];
    hex += kDigits[byte & 15u];
  }
  return hex;
}

}  // namespace tarry::base
