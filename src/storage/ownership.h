// Ownership of new files: if root runs a command beside a service, it must not leave files in the
// service's store that the service's user cannot open.
//
// Thread safety: pure system calls.
#pragma once

namespace tarry::storage {

/// `fd` was opened to create a file in `directory`; the file may have existed. If root has just
/// made it and the directory belongs to another user, that user and the directory's group become
/// its owners. A file that is not empty, or has other names, stays as it is. 0, or an errno value.
[[nodiscard]] int give_to_owner_of(int directory, int fd) noexcept;

}  // namespace tarry::storage
