// StoreFiles: what makes a directory a store. STORE says which store it is and what is fixed for
// its life; LOCK keeps a second process out; shard-000, shard-001, ... hold the journals.
//
// STORE is written once, whole: under another name, synced, renamed, the directory synced. A crash
// before that leaves a directory that is made anew at the next opening.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tarry/result.h>

#include "storage/storage.h"

namespace tarry::embedded {

struct StoreIdentity {
  std::uint32_t version = 0;
  std::uint32_t shards = 1;
  std::uint64_t store_id = 0;
  std::uint64_t hash_seed = 0;
};

/// The identity, or nothing where the directory is empty (or its making was cut short). Errors:
/// `invalid_argument` (not a store), `unsupported` (newer), `damaged` (also: STORE is gone, but
/// there are journals).
[[nodiscard]] Result<std::optional<StoreIdentity>> read_identity(storage::Directory& directory);

/// Makes the store: its shards' directories, then STORE.
[[nodiscard]] Result<void> write_identity(storage::Directory& directory,
                                          const StoreIdentity& identity);

[[nodiscard]] std::string shard_directory_name(std::uint32_t shard);
/// What the failure to open one says of the store: a missing one is damage.
[[nodiscard]] Error shard_directory_error(Error error);

inline constexpr const char* kLockName = "LOCK";

}  // namespace tarry::embedded
