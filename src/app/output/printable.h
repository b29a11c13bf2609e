// Makes text safe for a terminal and measures it. Keys and payloads are arbitrary bytes: printed
// unchanged, they could move the cursor, set the title or hide the text beside them.
//
// Thread safety: pure functions; the locale plays no part, output is UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tarry::app {

/// The text on one line: control bytes and invalid UTF-8 as `\n`, `\t`, `\x1b`; characters that
/// break or reverse a line as `\u{202e}`. Everything else, quotes and backslashes too, stays as it
/// is.
[[nodiscard]] std::string printable(std::string_view text);

/// Columns that `text` takes: two for East Asian wide characters and emoji, none for combining
/// ones.
[[nodiscard]] std::size_t columns(std::string_view text) noexcept;

/// At most `width` columns of `text`; where something was cut it ends in `…`.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t width);

}  // namespace tarry::app
