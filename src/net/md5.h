// MD5 (RFC 1321), only where a protocol asks for it as a checksum. It protects nothing.
//
// Pure function.
#pragma once

#include <string>
#include <string_view>

namespace tarry::net {

/// Returns 32 lower-case hex digits.
[[nodiscard]] std::string md5_hex(std::string_view bytes);

}  // namespace tarry::net
