// Backup: makes a second store from a store's files; a process may have the store open meanwhile.
// The backup takes no lock, asks no server, and changes nothing in the store.
//
// The backup takes every closed segment of each shard whole: by a second name for the same file (a
// hard link) if the file system can, otherwise as a copy. Then it copies the head, the segment that
// is being written, up to its last intact batch, unless a later batch proves that there was more.
// Cleaning goes on meanwhile, and removes the oldest segments first:
//
//  - Cleaning never writes a segment again that has a second name: it removes the first name.
//    (Journal::reuse_file looks for a second name after it has renamed the file, so there is no
//    moment between.)
//  - If a segment was removed or reused before the backup took it, another round begins. Each round
//    takes the segments that earlier rounds have not taken. When a round finds all its segments,
//    the result is a journal that recovery accepts.
//
// Invariants
//  1. Every message whose acceptance was confirmed before the backup began is in it, unless it has
//     ended since.
//  2. The new directory gets its STORE last: after everything else is there and synced, and
//     recovery has read it without an error.
//
// Thread safety: a function without state.
#pragma once

#include <cstdint>
#include <functional>

#include <tarry/result.h>

#include "storage/storage.h"

namespace tarry::embedded {

struct BackupReport {
  std::uint64_t store_id = 0;
  std::uint32_t shards = 0;
  std::uint64_t linked = 0;    // segments that share their file with the store's
  std::uint64_t copied = 0;    // the others
  std::uint64_t bytes = 0;     // of the copied ones
  std::uint64_t messages = 0;  // scheduled, ready, leased or dead
};

/// `target` must be empty. Errors: `invalid_argument` if it is not, or if `source` is no store;
/// `damaged` if the store's own files are damaged; `unavailable` if cleaning was faster; and those
/// of the file systems.
[[nodiscard]] Result<BackupReport> backup(
    storage::Directory& source, storage::Directory& target,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = {});

}  // namespace tarry::embedded
