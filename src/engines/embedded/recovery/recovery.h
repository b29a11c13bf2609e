// Recovery: restores the state before the crash from the segments on disk. Its decision table is
// code: recovery_rows.h.
//
// Thread safety: functions without state.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tarry/result.h>

#include "engines/embedded/journal/journal.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/recovery/recovery_rows.h"
#include "engines/embedded/state/shard_state.h"
#include "storage/storage.h"

namespace tarry::embedded {

struct RecoveryReport {
  std::uint64_t files = 0;     // found; more than `segments` if some are empty or are removed
  std::uint64_t segments = 0;  // replayed
  std::uint64_t bytes = 0;
  std::uint64_t batches = 0;
  std::uint64_t records = 0;
  std::uint64_t torn_bytes = 0;
  std::uint64_t torn_segment = 0;  // where the torn bytes begin, if there are any
  std::uint64_t torn_offset = 0;
  std::uint64_t cut_batches = 0;       // intact batches after the tear, which are cut too
  std::uint64_t last_cut_segment = 0;  // the last segment with such a batch
  bool clean = false;                  // the last record is `closed`
  std::int64_t last_realtime_ms = 0;   // the highest time in a batch header
};

struct RecoveryOptions {
  std::uint32_t version = kFormatVersion;  // in which to write the journal
  std::uint64_t store_id = 0;
  std::uint64_t hash_seed = 0;  // gives the salt of a segment whose header is lost
  std::uint32_t shard = 0;
  bool read_only = false;                             // change nothing
  std::function<void(std::uint64_t bytes)> progress;  // bytes read since the last call
  std::function<void(Row)> mark;  // called with each row that applies; may be empty
};

struct Recovered {
  JournalTail tail;
  RecoveryReport report;
};

/// How many ids to skip if the end of the journal may be lost: more than can be accepted between
/// the last durable sync and a power failure.
inline constexpr std::uint64_t kLostIds = 1ull << 28;

/// Replays the journal in `directory` into `state` (which has begun replay), and prepares the files
/// for the next run. Errors: `damaged`, `unsupported`, io_error, `permission_denied`.
[[nodiscard]] Result<Recovered> recover(storage::Directory& directory, SegmentFiles& files,
                                        ShardState& state, const RecoveryOptions& options);

/// For the operator: "a torn tail of 216 bytes from 0000000001.seg offset 9024 on", what else is
/// cut, and which clients may have had an answer about these data. The journal does not say under
/// which policy it was written.
[[nodiscard]] std::string describe_tear(const RecoveryReport& report);

/// Bytes that `recover` will read: for a progress bar.
[[nodiscard]] Result<std::uint64_t> journal_bytes(storage::Directory& directory);

}  // namespace tarry::embedded
