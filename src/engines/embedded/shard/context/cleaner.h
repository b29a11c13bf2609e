// Cleaner: frees journal segments, first in, first out. Only the oldest closed segment is cleaned.
// Its live messages are written again at the head, as full-state copies; then the low-water mark
// moves past the segment. Once the copies and the mark are synced, the committer removes the file.
//
// Why it is enough to clean the oldest first: take any record in segment k. If the full record of
// its message lies in k or an older segment, the message's newest state is written again, in full,
// before k is removed. Otherwise a later full record supersedes the record in k.
//
// Thread safety: none; the shard's thread owns it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <tarry/result.h>

#include "engines/embedded/journal/journal.h"
#include "engines/embedded/journal/segment_scanner.h"
#include "engines/embedded/shard/requests/marks.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {

class Cleaner {
 public:
  Cleaner(ShardState& state, Journal& journal, SegmentFiles& files, Mark mark = {});

  /// True if the journal holds too much garbage: the closed segments without their openings exceed
  /// 4/3 of the live bytes, or the oldest one has no live message. When pressed, less garbage is
  /// enough. Forgets the press once cleaning would gain too little.
  [[nodiscard]] bool wanted();
  /// True if cleaning should wait. Most messages of a segment that was closed a moment ago end
  /// soon, and then need no copy. So the only closed segment is left alone for a second after this
  /// run closed it, unless pressed. Call it in every turn, because it notes when that second begins
  /// and ends.
  [[nodiscard]] bool holds_off(std::int64_t now_boot_ms);
  /// The BOOTTIME at which that second ends; empty if cleaning need not wait.
  [[nodiscard]] std::optional<std::int64_t> held_off_until() const noexcept {
    return held_off_until_;
  }
  /// True if pressed hard and the garbage lies in the head, which must be closed before it can be
  /// cleaned.
  [[nodiscard]] bool head_wanted() const;
  /// Room is short: clean as long as that gains enough. Enough is an eighth of the live bytes
  /// (lightly), or a sixty-fourth (hard), which is less than the shard's reserve for work.
  enum class Press : std::uint8_t { none, lightly, hard };
  void press(Press press) noexcept { pressed_ = std::max(pressed_, press); }
  [[nodiscard]] Press pressed() const noexcept { return pressed_; }

  struct Slice {
    std::uint64_t copied = 0;
    std::optional<SegmentInfo> finished;  // may be removed after the next sync
  };
  /// Cleans about `budget` bytes of the oldest segment. Errors: `no_space` (tries again later); any
  /// other error is final.
  Result<Slice> run(std::uint64_t budget);
  /// True in the middle of a segment.
  [[nodiscard]] bool running() const noexcept { return scanner_ != nullptr; }
  /// How many bytes of cleaning's reserve the copies have used so far. Until the whole reserve is
  /// filled up again (`repaid`), only its rest must be kept free.
  [[nodiscard]] std::uint64_t spent() const noexcept { return spent_; }
  void repaid() noexcept { spent_ = 0; }
  /// The most bytes that cleaning the oldest segment will copy.
  [[nodiscard]] std::uint64_t cost() const;

 private:
  Result<void> copy_live(std::string_view body, std::uint64_t body_offset, Slice& slice);
  Result<void> copy(const PutRecord& record, Slice& slice);
  Result<void> append(const PutRecord& again, Slice& slice);
  void count_written(std::uint64_t record_bytes, std::uint64_t head_before);
  Result<void> rescue(Slice& slice);
  Result<void> finish(Slice& slice);
  void end_round();
  [[nodiscard]] bool resting() const noexcept;
  [[nodiscard]] std::uint64_t garbage() const noexcept;

  void mark(std::string_view branch) const {
    if (mark_) mark_(branch);
  }

  ShardState* state_;
  Journal* journal_;
  SegmentFiles* files_;
  std::unique_ptr<SegmentScanner> scanner_;  // of the oldest segment, while it is being cleaned
  std::shared_ptr<storage::File> file_;
  std::uint64_t segment_ = 0;
  std::uint64_t spent_ = 0;
  Press pressed_ = Press::none;
  std::uint64_t newest_closed_ = 0;  // when `holds_off` was called last, or at the start
  std::optional<std::int64_t> held_off_until_;
  // A round covers all segments that are closed when it begins. After a round that gains nothing,
  // no round begins until there is more garbage. Short batches make the journal longer than the
  // live bytes suggest, and without this rule the cleaner would run for ever.
  std::uint64_t round_end_ = 0;      // the last segment of the round
  std::uint64_t round_live_ = 0;     // live bytes when the round began
  std::uint64_t round_freed_ = 0;    // bytes
  std::uint64_t round_written_ = 0;  // bytes that cleaning itself has written
  bool rests_ = false;
  std::uint64_t rest_garbage_ = 0;  // garbage that the last round could not free
  std::uint64_t rest_live_ = 0;     // live bytes at that time
  Mark mark_;
};

}  // namespace tarry::embedded
