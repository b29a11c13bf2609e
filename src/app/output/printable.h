// Makes text safe for a terminal, and measures its width. Keys and payloads are arbitrary bytes:
// printed unchanged, they could move the cursor, set the title or hide the text beside them.
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

/// The number of columns that `text` takes: two for each East Asian wide character or emoji, none
/// for a combining character.
[[nodiscard]] std::size_t columns(std::string_view text) noexcept;

/// The first `width` columns of `text` at most. If it was cut, it ends in `…`.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t width);

}  // namespace tarry::app
