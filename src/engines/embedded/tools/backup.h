// Backup: a second store of what a store's files hold, made beside the process that has it open. It
// takes no lock, asks nobody, and changes nothing.
//
// Of each shard it takes every closed segment whole, by a second name for the same file (a hard
// link) where the file system can, else as a copy; then the head, the segment that is being
// written, copied up to its last batch that checks, unless a later one proves that there was more.
// Cleaning goes on meanwhile, oldest first:
//
//  - A segment that has a second name is removed by its first, never written again: the journal
//    does not reuse a file that is shared (Journal::reuse_file looks after it has renamed it, so
//    that there is no moment between).
//  - One that went, or was reused, before it was taken makes the round begin again. Each round
//    takes what the one before did not; what one round found whole is a journal that recovery
//    knows.
//
// Invariants
//  1. Every message whose acceptance was confirmed before the backup began is in it, unless it has
//     ended since.
//  2. There is no STORE in the new directory before all of it is there and synced, and recovery has
//     read it through without a complaint.
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

/// `target` must be empty. Errors: `invalid_argument` where it is not, or `source` is no store;
/// `damaged` where the store's own files do not check; `unavailable` where cleaning outran it;
/// those of the file systems.
[[nodiscard]] Result<BackupReport> backup(
    storage::Directory& source, storage::Directory& target,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = {});

}  // namespace tarry::embedded
