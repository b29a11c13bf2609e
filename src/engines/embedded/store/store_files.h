// StoreFiles: the files that make a directory a store. STORE has the store's identity and
// everything that is fixed for its life. LOCK keeps a second process out (store_lock.h). shard-000,
// shard-001, ... hold the journals.
//
// STORE is written as a whole: under another name, then synced and renamed, and the directory is
// synced. After a crash before the rename the next opening makes the store again. STORE is written
// once more when the store gets a newer version.
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

/// True if an unfinished salvage or backup has left this directory, so that it is neither a store
/// nor the rest of one. Then `read_identity` returns `invalid_argument`.
[[nodiscard]] Result<bool> is_half_made(storage::Directory& directory);

/// True if the directory is a store, or at least the making of a store has begun there.
[[nodiscard]] Result<bool> has_store_file(const storage::Directory& directory);

/// Call `finish_making` when opening an existing store: its maker may have died at any moment after
/// STORE had its name. Makes that name durable before there is a first segment. Removes the mark of
/// a salvage or a backup: if STORE were lost one day, the mark would say that this was never a
/// store. (If the mark cannot be removed, the store works all the same, and the next opening tries
/// again.)
[[nodiscard]] Result<void> finish_making(storage::Directory& directory);

/// The identity, or nothing if the directory is empty (or the making of the store was cut short).
/// Errors: `invalid_argument` (not a store), `unsupported` (newer), `damaged` (also: STORE is gone,
/// but there are journals).
[[nodiscard]] Result<std::optional<StoreIdentity>> read_identity(storage::Directory& directory);

/// The identity in a STORE with one wrong byte, if its checksum shows what the byte was.
[[nodiscard]] std::optional<StoreIdentity> repair_identity(storage::Directory& directory);

/// Makes the store: its shards' directories, then STORE.
[[nodiscard]] Result<void> write_identity(storage::Directory& directory,
                                          const StoreIdentity& identity);

/// Changes only STORE, as a whole. From its next opening on the existing store is written in
/// `version`. The caller must have the lock.
[[nodiscard]] Result<void> raise_version(storage::Directory& directory, StoreIdentity identity,
                                         std::uint32_t version);

[[nodiscard]] std::string shard_directory_name(std::uint32_t shard);
/// Turns a failure to open a shard's directory into the error to report: if the directory is
/// missing or is no directory, that is damage.
[[nodiscard]] Error shard_directory_error(Error error);

inline constexpr const char* kLockName = "LOCK";
/// `store salvage` and `store backup` put one of these files into the directory that they fill, and
/// remove it at the end. A directory with such a file is not yet a store.
inline constexpr const char* kSalvageName = "SALVAGE";
inline constexpr const char* kBackupName = "BACKUP";

inline constexpr std::uint32_t kMostShards = 256;

/// How large the segments of a store on this disk are, unless told otherwise: small on a small
/// disk, because cleaning frees only whole segments.
[[nodiscard]] std::uint64_t default_segment_bytes(const storage::Directory& directory,
                                                  std::uint32_t shards);
/// `wanted`, or less if the process may not write files of that size (`ulimit -f`). A store then
/// has more segments, and no less room.
[[nodiscard]] std::uint64_t fitting_segment_bytes(const storage::Directory& directory,
                                                  std::uint64_t wanted);
/// Random bits from the system: for ids, seeds and salts.
[[nodiscard]] std::uint64_t random_number();

}  // namespace tarry::embedded
