// Who owns what is created: a command that root runs beside a service must not leave files in the
// service's store that the service's user cannot open.
//
// Thread safety: pure system calls.
#pragma once

namespace tarry::storage {

/// `fd` was opened to create it in `directory`, and may have been there before. Where root has just
/// made it, and the directory belongs to somebody else, that user and the directory's group get it;
/// a file that is not empty, or has other names, stays as it is. 0, or an errno value.
[[nodiscard]] int give_to_owner_of(int directory, int fd) noexcept;

}  // namespace tarry::storage
