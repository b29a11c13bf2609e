// Salvage: makes a new store from a store that recovery refuses, with all its data that is still
// intact. It does not change the old store. docs/formats/journal.md has the rules.
//
// If recovery accepts a shard, the shard is copied as recovery sees it. If recovery refuses the
// shard, or would cut intact batches with its tail, the shard is read leniently (lenient_replay.h).
// The new store has the old one's id, so generated keys and receipts stay valid.
//
// Thread safety: functions without state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tarry/result.h>

#include "engines/embedded/recovery/journal_walk.h"
#include "storage/storage.h"
#include "timing/clock.h"

namespace tarry::embedded {

struct SalvagedShard {
  std::uint32_t shard = 0;
  bool sound = false;  // recovery accepts the shard, and cuts no intact batch
  std::uint64_t segments = 0;
  std::uint64_t batches = 0;
  std::uint64_t records = 0;
  std::uint64_t torn_bytes = 0;            // the incomplete tail that a crash left
  std::uint64_t messages = 0;              // in the new store: scheduled, ready, leased or dead
  std::uint64_t remembered = 0;            // in the new store
  std::uint64_t damaged_messages = 0;      // of `messages`: those without their payload
  std::uint64_t uncertain_messages = 0;    // of `messages`: may have ended or changed in a gap
  std::uint64_t lost_messages = 0;         // known only from later records; there may be more
  std::uint64_t lost_batches = 0;          // as the gaps in batch numbers tell
  std::uint64_t unnamed_queues = 0;        // no other shard knows their names either
  std::uint64_t unreachable_messages = 0;  // messages of these queues that no key finds
  std::uint64_t adopted_queues = 0;        // queues with settings and pause from another shard
  std::vector<Loss> losses;
};

struct SalvageReport {
  std::uint64_t store_id = 0;
  std::uint32_t shards = 0;
  std::string store_file;  // what was done about a damaged STORE; empty: STORE was good
  std::vector<SalvagedShard> per_shard;
};

struct SalvageOptions {
  std::shared_ptr<const timing::Clock> clock;  // empty: the machine's
  std::uint64_t segment_bytes = 0;             // 0: as for any new store
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

/// `target` must be empty. A salvage that stops halfway leaves a directory that cannot be opened as
/// a store; the error says why. Errors: `conflict` (a process holds the store), `not_found` and
/// `invalid_argument` (no store), `invalid_argument` (the target is not empty), `damaged` (too
/// little is left), `unsupported` (a newer version), `no_space`, io_error.
[[nodiscard]] Result<SalvageReport> salvage(storage::Directory& source, storage::Directory& target,
                                            const SalvageOptions& options);

}  // namespace tarry::embedded
