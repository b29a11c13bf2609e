// Journal: the shard's side of its journal. It encodes records into the open batch, knows where
// each record lies, begins new segments, reserves room, and reads records back for cleaning and key
// checks. The committer does the writing and syncing.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. Batch numbers rise by one, across segments; a batch lies in one segment.
//  2. A record is appended only where room was reserved: within the head's allocated bytes, or in a
//     segment that was prepared (created and allocated, not yet written).
//  3. A segment's number is never used again. The file of a cleaned segment may be used again under
//     the next number. Until that file is written, its header names the former segment. The old
//     bytes in it have another salt, and the old batches lower numbers.
//  4. A record's position is final when `append` returns, though its bytes are written later.
//  5. The first records of a run are always the opening, whether the run begins a new segment or
//     continues the segment of the last run.
//  6. No record holds a field that is missing in the store's format version.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "engines/embedded/journal/commit.h"
#include "engines/embedded/journal/committer.h"
#include "engines/embedded/journal/journal_format.h"
#include "engines/embedded/journal/open_batch.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/journal/segment_info.h"
#include "engines/embedded/journal/segment_reserve.h"
#include "engines/embedded/journal/sync_policy.h"
#include "engines/embedded/journal/unwritten_batches.h"
#include "engines/embedded/records/records.h"
#include "storage/storage.h"

namespace tarry::embedded {

/// The end of the journal, as recovery left it.
struct JournalTail {
  std::deque<SegmentInfo> segments;  // live ones, oldest first
  std::uint64_t next_segment = 1;
  std::uint64_t next_batch = 1;
  std::uint64_t begun = 0;  // the begun mark
  bool proven = true;       // the last segment was synced
  bool is_clean = false;    // it ends with `closed`
  /// The next run may continue the last segment: its file ends where the segment ends, no bytes
  /// after the end could pass for one of its batches, and no backup shares the file. If false, all
  /// segments are closed.
  bool goes_on = false;
};

class Journal {
 public:
  struct Config {
    std::uint32_t version = kFormatVersion;  // the format that it is written in
    std::uint64_t store_id = 0;
    std::uint64_t hash_seed = 0;
    std::uint32_t shard = 0;
    std::uint64_t segment_bytes = 64ull << 20;
    SyncPolicy policy = SyncPolicy::always;
    /// Shared by all journals on a disk. While one journal moves room from its head to the next
    /// segment (`close_head`), the others allocate none. Null: the journal is alone on its disk.
    std::shared_ptr<std::shared_mutex> disk_room;
  };
  /// Appends the opening: clock, marks, queues with counters. A new segment begins with it, and so
  /// does a run that continues the last run's segment.
  using Opening = std::function<void(std::string&)>;

  Journal(Config config, storage::Directory& directory, SegmentFiles& files,
          const Committer& committer, JournalTail tail, Opening opening);

  RecordPlace append(const PutRecord& record);
  void append(const Record& record);
  /// Appends a queue's record. If `is_new`, this is the queue's first record, and the opening of
  /// each later segment has one more record, with the queue's counters.
  void append(const QueueRecord& record, bool is_new);
  void append_gone(GoneWhy why, std::uint32_t queue, Ref ref);
  /// `record` without messages: `ref` is the message.
  void append_remembered(const RememberedRecord& record, Ref ref);

  /// Makes sure that `bytes` of records, none longer than `largest`, can be appended, and that then
  /// `reserve` more bytes remain, for records of at most `largest_of_reserve`. Allocates as needed.
  /// Errors: `no_space` (nothing important has changed); any other error is final.
  Result<void> ensure_room(std::uint64_t bytes, std::uint64_t largest, std::uint64_t reserve,
                           std::uint64_t largest_of_reserve = 0);

  /// Seals the open batch and hands over all sealed batches.
  [[nodiscard]] std::vector<std::shared_ptr<const SealedBatch>> take(std::int64_t realtime_ms);
  /// Bytes appended and not yet taken.
  [[nodiscard]] std::uint64_t untaken_bytes() const noexcept {
    return unwritten_.untaken_bytes() + open_.size();
  }

  /// The record at a place, whether it has reached its file or not. Its views are valid until the
  /// next call of any member. Errors: `damaged`, io_error.
  Result<PutRecord> read(const RecordPlace& place);

  /// The payload's length, as the record at that place states it; the payload itself is not read.
  /// If the record cannot be read, returns the length of the whole record.
  [[nodiscard]] std::uint64_t payload_bytes(const RecordPlace& place);

  /// True if the record was written, and probably so long ago that the committer no longer has it
  /// in RAM.
  [[nodiscard]] bool is_only_on_disk(const RecordPlace& place) const noexcept;

  /// Closed segments, oldest first; the head is not among them.
  [[nodiscard]] const std::deque<SegmentInfo>& closed() const noexcept { return closed_; }
  /// True if all of the oldest closed segment has reached its file, so that it can be read and
  /// removed.
  [[nodiscard]] bool oldest_is_written() const noexcept;
  /// On a full disk: closes the head, so that its garbage can be cleaned. If `enough` bytes are
  /// prepared after the head, its spare room stays in its file until that is cleaned. Otherwise the
  /// spare room moves to the next segment. Returns false if some batch is not written yet, or if
  /// hardly `least` bytes would remain. Then nothing has changed, except that another program may
  /// have taken some of the room.
  Result<bool> close_head(std::uint64_t least, std::uint64_t enough);
  /// True if nothing was appended since the start and nothing needs to be, because the last run
  /// closed the journal cleanly.
  [[nodiscard]] bool is_as_it_was() const noexcept {
    return was_clean_ && (resumed_ || head_.number == 0);
  }
  /// True if a record of `size` bytes fits without further allocation.
  [[nodiscard]] bool fits(std::uint64_t size) const noexcept { return room(size) >= size; }
  [[nodiscard]] const SegmentInfo& head() const noexcept { return head_; }
  /// Forgets the oldest segment, which has been cleaned. Its file is removed or kept.
  void drop_oldest();
  /// Keeps the file of the segment that was dropped last; call `reuse_file` once nobody reads it
  /// any more. So no other program on a full disk takes the file's room meanwhile, and a file that
  /// was written before is synced faster. Keeps nothing and returns false if clearly more than
  /// `enough` bytes remain (as `ensure_room` counts them, for records of at most `largest`), or if
  /// the file gives too little room or is longer than segments are now.
  [[nodiscard]] bool keep_file(const SegmentInfo& dropped, std::uint64_t enough,
                               std::uint64_t largest);
  /// Makes the first kept file the last prepared segment. It replaces the last prepared segment if
  /// that is shorter and `enough` bytes remain without it. An error is final.
  Result<void> reuse_file(std::uint64_t enough, std::uint64_t largest);
  [[nodiscard]] std::uint64_t closed_bytes() const noexcept { return closed_bytes_; }
  /// The length of the longest message record that was appended or noted since the start.
  [[nodiscard]] std::uint64_t largest_put() const noexcept { return largest_put_; }
  void note_put(std::uint64_t bytes) noexcept { largest_put_ = std::max(largest_put_, bytes); }
  /// The configured size of a segment, or the length of the largest closed segment if that is
  /// longer.
  [[nodiscard]] std::uint64_t largest_segment() const noexcept { return largest_segment_; }
  /// The most bytes that a segment holds before its first message.
  [[nodiscard]] std::uint64_t opening_bytes() const noexcept;
  /// By how much the room shrinks if the opening grows by `bytes`.
  [[nodiscard]] std::uint64_t openings_grow_by(std::uint64_t bytes) const noexcept {
    return (reserve_.size() + 1) * (bytes + bytes / 4);
  }
  [[nodiscard]] std::uint64_t disk_bytes() const noexcept;
  /// The newest segment that holds records.
  [[nodiscard]] std::uint64_t newest_segment() const noexcept {
    if (head_.number != 0) return head_.number;
    return closed_.empty() ? 0 : closed_.back().number;
  }
  /// The place of a live message's record.
  [[nodiscard]] RecordPlace place(Position position) const noexcept {
    return {position.segment(newest_segment()), position};
  }

  /// Call `trim` after the last commit. Cuts the head to its contents, and removes prepared and
  /// kept files.
  Result<void> trim();

 private:
  void begin_record(std::size_t size);
  [[nodiscard]] bool extend_run(const OpenBatch::RunKey& key, Ref ref);
  void begin_run(const OpenBatch::RunKey& key, const Record& record);
  void append_opening();
  void open_run();
  void seal_open_batch(std::int64_t realtime_ms);
  void roll();
  void forget_written() { unwritten_.forget(committer_->written()); }
  Result<void> grow(std::uint64_t missing, std::uint64_t largest, std::uint64_t step);
  Result<void> grow_head(std::uint64_t to);
  [[nodiscard]] std::uint64_t head_end() const noexcept { return head_.used + open_.size(); }
  [[nodiscard]] std::string_view unwritten(const RecordPlace& place);
  [[nodiscard]] std::uint64_t written_end(std::uint64_t segment) const noexcept;
  [[nodiscard]] std::uint64_t room_in_head(std::uint64_t largest) const noexcept;
  [[nodiscard]] std::uint64_t room(std::uint64_t largest) const noexcept;
  [[nodiscard]] std::uint64_t overhead() const noexcept;

  Config config_;
  storage::Directory* directory_;
  SegmentFiles* files_;
  const Committer* committer_;
  Opening opening_;

  std::deque<SegmentInfo> closed_;
  std::uint64_t closed_bytes_ = 0;
  std::uint64_t largest_segment_ = 0;
  std::uint64_t largest_put_ = 0;
  SegmentInfo head_;      // number 0: none yet
  bool resumed_ = false;  // the head is the last run's; this run has appended nothing to it yet
  bool was_clean_ = false;
  std::shared_ptr<storage::File> head_file_;
  SegmentReserve reserve_;
  std::uint64_t next_batch_ = 1;
  bool tail_proven_ = true;
  std::uint64_t last_opening_bytes_ = 0;  // bytes that the next segment opens with, at most

  OpenBatch open_;
  std::string segment_header_;  // of the head, until its first batch is sealed
  std::int64_t last_realtime_ms_ = 0;
  UnwrittenBatches unwritten_;
  std::string read_buffer_;
};

}  // namespace tarry::embedded
