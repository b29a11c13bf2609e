// StoreFiles: the files that make a directory a store. STORE says which store it is and holds what
// is fixed for its life; LOCK keeps a second process out (store_lock.h); shard-000, shard-001, ...
// hold the journals.
//
// STORE is written whole: under another name, synced, renamed, the directory synced. After a crash
// before that, the next opening makes the store again. It is written once more when the store gets
// a newer version.
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

/// A salvage or a backup that did not end has left this directory: it is neither a store nor the
/// rest of one. Then `read_identity` answers `invalid_argument`.
[[nodiscard]] Result<bool> is_half_made(storage::Directory& directory);

/// Whether it is a store, or has been begun at least.
[[nodiscard]] Result<bool> has_store_file(const storage::Directory& directory);

/// Call it when opening an existing store: its maker may have died at any moment after STORE had
/// its name. It makes that name durable before there is a first segment. It removes the mark of a
/// salvage or a backup: if STORE were lost one day, the mark would say that this was never a store.
/// (If the mark cannot be removed, the store works all the same, and the next opening tries again.)
[[nodiscard]] Result<void> finish_making(storage::Directory& directory);

/// The identity, or nothing if the directory is empty (or its making was cut short). Errors:
/// `invalid_argument` (not a store), `unsupported` (newer), `damaged` (also: STORE is gone, but
/// there are journals).
[[nodiscard]] Result<std::optional<StoreIdentity>> read_identity(storage::Directory& directory);

/// The identity in a STORE with one wrong byte, if its checksum shows what the byte was.
[[nodiscard]] std::optional<StoreIdentity> repair_identity(storage::Directory& directory);

/// Makes the store: its shards' directories, then STORE.
[[nodiscard]] Result<void> write_identity(storage::Directory& directory,
                                          const StoreIdentity& identity);

/// From its next opening on the existing store is written in that version; only STORE changes, as a
/// whole. The caller must have the lock.
[[nodiscard]] Result<void> raise_version(storage::Directory& directory, StoreIdentity identity,
                                         std::uint32_t version);

[[nodiscard]] std::string shard_directory_name(std::uint32_t shard);
/// The meaning of a failure to open a shard's directory: a missing one is damage, or this is no
/// store.
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
/// The same, or `wanted`, if the process may write files of that size (`ulimit -f`); otherwise as
/// large as it may. A store then has more segments, and no less room.
[[nodiscard]] std::uint64_t fitting_segment_bytes(const storage::Directory& directory,
                                                  std::uint64_t wanted);
/// Random bits from the system: for ids, seeds and salts.
[[nodiscard]] std::uint64_t random_number();

}  // namespace tarry::embedded
