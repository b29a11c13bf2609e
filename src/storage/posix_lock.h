// Locks on open files and directories, by flock. The text of a locked file names the process that
// holds it:
//   tarry lock: pid 1234 (tarry serve)
// Earlier versions wrote only "pid 1234 (tarry serve)", or another line of their caller. A lock
// file with any other text does not belong to tarry.
//
// Thread safety: functions without state. Any thread may destroy a Lock.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "storage/posix_file.h"
#include "storage/storage.h"

namespace tarry::storage {

/// Does Directory::lock with `file`, which must be open for reading and writing. `path`: for
/// messages.
[[nodiscard]] Result<std::unique_ptr<Lock>> lock_file(FileDescriptor file, const std::string& path,
                                                      std::string_view holder);

/// Does Directory::lock_shared with `file`.
[[nodiscard]] Result<std::unique_ptr<Lock>> lock_file_shared(FileDescriptor file,
                                                             const std::string& path);

/// Does Directory::lock_itself. Null if the file system cannot lock directories.
[[nodiscard]] Result<std::unique_ptr<Lock>> lock_open_directory(FileDescriptor directory,
                                                                const std::string& path,
                                                                Sharing sharing);

}  // namespace tarry::storage
