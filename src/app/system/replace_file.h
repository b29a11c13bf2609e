// Files that are replaced as a whole, by rename, so that a reader never sees half of one.
//
// Thread safety: one thread at a time for one path.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::app {

/// Whether replace_file can write to `path`. A regular file, or a missing one, can be replaced; a
/// device or a FIFO can be written to. Error: `invalid_argument`, which names the path, for a
/// directory, a socket, or a link to a regular file or to nothing.
[[nodiscard]] Result<void> check_replaceable(const std::string& path);

/// Replaces a regular file, or makes a missing one: it has `text` as a whole, or stays as it was.
/// For a moment a draft stands beside it. A device or a FIFO is never replaced: `text` is written
/// to it, and a FIFO must have a reader already. Errors: those of check_replaceable, and
/// `io_error`.
[[nodiscard]] Result<void> replace_file(const std::string& path, std::string_view text);

}  // namespace tarry::app
