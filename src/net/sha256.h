// SHA-256 (FIPS 180-4).
//
// Thread safety: a pure function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tarry::net {

inline constexpr std::size_t kSha256Digits = 64;

/// Returns kSha256Digits lower-case hex digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace tarry::net
