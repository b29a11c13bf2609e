// SHA-1 with the result in the form of Redis's scripts. It is used to check whether a body is still
// the same.
//
// Thread safety: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace tarry::net {

/// Returns 40 lower-case hex digits.
[[nodiscard]] std::string sha1_hex(std::string_view bytes);

}  // namespace tarry::net
