// StoreLock: keeps a second process out of a store. The file LOCK names the holder, and can be
// removed by hand; so the directory of the first shard is locked too, which cannot without losing
// messages. Not the store's own: that one is what people lock themselves (`flock DIRECTORY tarry
// ...`).
//
// Functions without state.
#pragma once

#include <memory>
#include <string_view>

#include <tarry/result.h>

#include "storage/storage.h"

namespace tarry::embedded {

/// For whoever opens it. In a directory that is no store yet the first shard's is made. Errors: as
/// Directory::lock, and `damaged` where the shard's directory is missing.
[[nodiscard]] Result<std::unique_ptr<storage::Lock>> lock_store(storage::Directory& directory,
                                                                std::string_view holder);

/// For who only reads: keeps `lock_store` out, and makes nothing. `conflict`: somebody has it open.
[[nodiscard]] Result<std::unique_ptr<storage::Lock>> lock_store_shared(
    storage::Directory& directory);

}  // namespace tarry::embedded
