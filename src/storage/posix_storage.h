// The file seam on a POSIX file system (Linux: fallocate, flock, pwritev).
//
// Thread safety: see storage::Directory. A Directory holds a descriptor, so it stays the same
// directory if the process changes its working directory or the path is renamed.
//  1. Files are made with mode 0640, directories with 0750, both reduced by the umask.
//  2. Descriptors are close-on-exec.
//  3. Once a sync of an object has failed, every later sync of it fails too, even if the kernel
//     reports success.
//  4. Each lock() uses flock on a descriptor of its own. So a second lock() in the same process is
//     refused like one from another process. lock() waits up to a tenth of a second for readers.
#pragma once

#include <memory>
#include <string_view>

#include "storage/storage.h"

namespace tarry::storage {

/// Opens the directory `path`. `create`: makes it and all missing parents; each is durable in its
/// parent before this returns. Errors: not_found (it is missing), invalid_argument (`path` is
/// empty, or it or a parent is not a directory), permission_denied (it cannot be read or made).
[[nodiscard]] Result<std::unique_ptr<Directory>> open_directory(std::string_view path, bool create);

}  // namespace tarry::storage
