// Recovery: from the segments on disk to the state before the crash. The decision table, whose rows
// the code and docs/formats/journal.md name alike:
//
//   what is found                                              what is done
//   S1  no segment at all                                      a new journal
//   S2  newest file(s) zeros: prepared, never written; or      removed
//       with an older segment's header: made of its file
//   S3  newest file, header does not check; or another one,    torn while it was made: removed,
//       if no seal of a later one is proven (policy os)        with the later ones
//   S4  as S2 or S3, but its first batch checks, or a batch    damage
//       in it or a later one states one of it durable, or
//       the begun mark is not below it; or another file,
//       header does not check
//   S5  a segment at or above the low-water mark is missing,   damage
//       or that of the begun mark is
//   S6  a segment below the low-water mark                     ignored, removed
//   S7  a header of a newer version, or of another store       refused
//   B1  a batch that checks, of the number that is next        replayed
//   B2  no good batch at the seal's length, number as sealed   the segment's end
//   B3  no good batch before that, the seal is proven          damage
//   B4  no good batch before that, the seal is not proven      torn tail: cut; later segments too,
//       (policy os)                                            if nothing in them proves it durable
//   B5  no good batch in the newest, a later batch of it       damage
//       states this one durable; or it is the first, and
//       the begun mark says that it was
//   B6  no good batch in the newest, nothing proves it         torn tail: cut
//   R1  a record that does not decode or contradicts the       damage
//       state, in a batch that checks
//   T1  good batches that nothing proves durable               written again and synced before
//                                                              anything is served
//   T2  in the newest nothing torn, hardly any garbage, and    it is written on; else the next
//       no other store (a backup) has its file, and its        segment is begun
//       version is the store's
//
// What is cut or removed as torn (S3, B4, B6) may hold batches that check: the report counts them.
// Damage is never repaired here: the error names file and offset, and the files stay as they are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tarry/result.h>

#include "engines/embedded/journal/journal.h"
#include "engines/embedded/journal/marks.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/state/shard_state.h"
#include "storage/storage.h"

namespace tarry::embedded {

struct RecoveryReport {
  std::uint64_t files = 0;     // found; more than `segments`, where some are empty or go
  std::uint64_t segments = 0;  // replayed
  std::uint64_t bytes = 0;
  std::uint64_t batches = 0;
  std::uint64_t records = 0;
  std::uint64_t torn_bytes = 0;
  std::uint64_t torn_segment = 0;  // where they begin, if there are any
  std::uint64_t torn_offset = 0;
  std::uint64_t cut_batches = 0;       // batches that check, but behind that: cut with the rest
  std::uint64_t last_cut_segment = 0;  // that such a batch is in
  bool clean = false;                  // the last record says so
  std::int64_t last_realtime_ms = 0;   // time high-water
};

struct RecoveryOptions {
  std::uint32_t version = kFormatVersion;  // that the journal is to be written in
  std::uint64_t store_id = 0;
  std::uint64_t hash_seed = 0;  // which salts segments have whose header is lost
  std::uint32_t shard = 0;
  bool read_only = false;                             // look, change nothing
  std::function<void(std::uint64_t bytes)> progress;  // bytes read since the last call
  Mark mark;                                          // rows of the table above
};

struct Recovered {
  JournalTail tail;
  RecoveryReport report;
};

/// Ids to leave out where the end of the journal may be lost: more than can be accepted between the
/// last sync that a power failure left and the failure.
inline constexpr std::uint64_t kLostIds = 1ull << 28;

/// Replays the journal in `directory` into `state` (which has begun replay), and leaves the files
/// ready to go on with. Errors: `damaged`, `unsupported`, io_error, `permission_denied`.
[[nodiscard]] Result<Recovered> recover(storage::Directory& directory, SegmentFiles& files,
                                        ShardState& state, const RecoveryOptions& options);

/// "a torn tail of 216 bytes from 0000000001.seg offset 9024 on", what it takes with it, and who
/// may have been told of that. The journal does not say by which policy it was written.
[[nodiscard]] std::string describe_tear(const RecoveryReport& report);

/// Bytes that `recover` will read: for a progress bar.
[[nodiscard]] Result<std::uint64_t> journal_bytes(storage::Directory& directory);

}  // namespace tarry::embedded
