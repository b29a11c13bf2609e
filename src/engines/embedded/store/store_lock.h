// StoreLock: keeps a second process out of a store. The file LOCK names the holder, but a user can
// remove it. So the directory of the first shard is locked too, which cannot be removed without
// losing messages. The store's own directory is not locked, because users lock it themselves
// (`flock DIRECTORY tarry ...`).
//
// Functions without state.
#pragma once

#include <memory>
#include <string_view>

#include <tarry/result.h>

#include "storage/storage.h"

namespace tarry::embedded {

/// For a process that opens the store. If the directory is no store yet, the first shard's
/// directory is made. Errors: as Directory::lock, and `damaged` if the shard's directory is
/// missing.
[[nodiscard]] Result<std::unique_ptr<storage::Lock>> lock_store(storage::Directory& directory,
                                                                std::string_view holder);

/// For a process that only reads: keeps `lock_store` out, and makes nothing. `conflict`: another
/// process has the store open.
[[nodiscard]] Result<std::unique_ptr<storage::Lock>> lock_store_shared(
    storage::Directory& directory);

}  // namespace tarry::embedded
