// Files that are replaced as a whole, by rename, so that a reader never sees half of one.
//
// Thread safety: one thread at a time for one path.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::app {

/// Whether replace_file can do its work on `path`: it is a regular file or absent, and is replaced;
/// or a device or a FIFO, and is written to. Errors: `invalid_argument` for a directory, a socket
/// or a link to a regular file or to nothing. They name the path.
[[nodiscard]] Result<void> check_replaceable(const std::string& path);

/// A regular file, or a missing one, gets `text` whole or not at all; its draft stands beside it
/// for a moment. A device or a FIFO is never replaced: `text` is written to it, and a FIFO must
/// have a reader by then. Errors: as check_replaceable's, and `io_error`.
[[nodiscard]] Result<void> replace_file(const std::string& path, std::string_view text);

}  // namespace tarry::app
