// HMAC-SHA256 (RFC 2104), to sign messages.
//
// Pure function.
#pragma once

#include <string>
#include <string_view>

namespace tarry::net {

/// Returns 32 bytes.
[[nodiscard]] std::string hmac_sha256(std::string_view secret, std::string_view text);

/// Returns 64 lower-case hex digits.
[[nodiscard]] std::string hmac_sha256_hex(std::string_view secret, std::string_view text);

}  // namespace tarry::net
