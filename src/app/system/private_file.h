// Files that only their owner may write, and that are changed as a whole: a reader finds the text
// before the change or the text after it, even after a crash.
//
// Thread safety: thread safe; processes that change files of the same directory wait for each
// other.
#pragma once

#include <functional>
#include <string>

#include <tarry/result.h>

namespace tarry::app {

/// Gives `change` the file's text (empty if there is no file), and replaces the file by what it
/// returns. An error of `change` leaves the file as it was. A new file gets mode 0600; an existing
/// one keeps its owner, group and mode. Errors, which name the path: `invalid_argument` if it is
/// not a regular file (a link is not) or has more than `most` bytes, `permission_denied`,
/// `no_space`, `io_error`.
[[nodiscard]] Result<void> change_private_file(
    const std::string& path, std::size_t most,
    const std::function<Result<std::string>(std::string text)>& change);

}  // namespace tarry::app
