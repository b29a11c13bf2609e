// SHA-1, as Redis's scripts have it: to tell whether a body is the one that was seen.
//
// Thread safety: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace tarry::net {

/// 40 hex digits in small letters.
[[nodiscard]] std::string sha1_hex(std::string_view bytes);

}  // namespace tarry::net
