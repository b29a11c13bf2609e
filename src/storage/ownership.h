// Ownership of new files. A command that root runs on a service's store must not leave files there
// that the service's user cannot open.
//
// Thread safety: pure system calls.
#pragma once

namespace tarry::storage {

/// `fd` was opened to create a file in `directory`, but the file may have existed. If root has just
/// made the file and the directory belongs to another user, the file gets that user and the
/// directory's group as owners. A file that is not empty, or has several names, stays as it is.
/// Returns 0, or an errno value.
[[nodiscard]] int give_to_owner_of(int directory, int fd) noexcept;

}  // namespace tarry::storage
