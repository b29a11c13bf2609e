// Encodes headers as one piece of bytes: for each header the u16 length and the bytes of its name,
// then the u16 length and the bytes of its value (little endian). So requests, journal and replies
// carry headers without an allocation for each.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/message.h>
#include <tarry/result.h>

namespace tarry::core {

/// Errors: `invalid_argument` for a name that is empty, over 255 bytes, or has bytes outside
/// printable ASCII (RFC 9110 tokens); `too_large` for more than kMaxHeaders bytes or
/// kMaxHeaderCount headers in all.
[[nodiscard]] Result<std::string> encode_headers(const Headers& headers);

/// Errors: `damaged` for bytes that are not encoded headers.
[[nodiscard]] Result<Headers> decode_headers(std::string_view encoded);

/// The number of headers; ill-formed bytes end the count.
[[nodiscard]] std::size_t count_headers(std::string_view encoded) noexcept;

/// The value of the first header with that name (ASCII case ignored). Ill-formed bytes end the
/// search.
[[nodiscard]] std::optional<std::string_view> find_header(std::string_view encoded,
                                                          std::string_view name) noexcept;

}  // namespace tarry::core
