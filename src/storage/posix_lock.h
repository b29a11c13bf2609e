// Locks of files and directories that are open here, by flock. A file that is locked says in its
// text who holds it:
//   tarry lock: pid 1234 (tarry serve)
// Earlier versions wrote "pid 1234 (tarry serve)" alone, or another line of their caller's. A file
// that says anything else is somebody else's.
//
// Functions without state; a Lock may be destroyed by any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "storage/posix_file.h"
#include "storage/storage.h"

namespace tarry::storage {

/// Directory::lock for `file`, which is open for reading and writing; `path` for messages.
[[nodiscard]] Result<std::unique_ptr<Lock>> lock_file(FileDescriptor file, const std::string& path,
                                                      std::string_view holder);

/// Directory::lock_shared for `file`.
[[nodiscard]] Result<std::unique_ptr<Lock>> lock_file_shared(FileDescriptor file,
                                                             const std::string& path);

/// Directory::lock_itself; null where the file system locks no directories.
[[nodiscard]] Result<std::unique_ptr<Lock>> lock_open_directory(FileDescriptor directory,
                                                                const std::string& path,
                                                                Sharing sharing);

}  // namespace tarry::storage
