// Base64 (RFC 4648): the standard alphabet with padding for payloads in JSON, the URL-safe one
// without padding for receipts and tokens. Decoding is strict: only one text is accepted for each
// value, so values can be compared as text.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::base {

[[nodiscard]] std::string base64_encode(std::string_view bytes);
[[nodiscard]] std::string base64url_encode(std::string_view bytes);
/// The same, appended to `out`; `bytes` must not be a part of `out`.
void append_base64url(std::string& out, std::string_view bytes);

/// Error: `invalid_argument`, which names the position, for a character outside the alphabet (white
/// space too), missing or misplaced padding, or unused bits that are not zero.
[[nodiscard]] Result<std::string> base64_decode(std::string_view text);
/// The same for the URL-safe alphabet; padding is refused.
[[nodiscard]] Result<std::string> base64url_decode(std::string_view text);

}  // namespace tarry::base
