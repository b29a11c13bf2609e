// HistorySlab: a message's past, kept only for messages that were claimed at least once (or that
// Move brought with a past). 48 bytes each.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. An entry belongs to exactly one message, whose `history` names it.
//  2. `unwritten()` counts the entries that their messages' full records do not hold. Such a record
//     grows when cleaning copies it.
#pragma once

#include <cstdint>

#include <tarry/message.h>

#include "base/prefetch.h"
#include "engines/embedded/state/messages/chunked_array.h"

namespace tarry::embedded {

using HistoryHandle = std::uint32_t;
inline constexpr HistoryHandle kNoHistory = 0xFFFF'FFFF;

struct History {
  Tallies tallies;
  std::uint32_t attempt = 0;          // attempts used so far; released attempts do not count
  std::int64_t until_ms = 0;          // leased: planned end, BOOTTIME; else kept until, REALTIME
  std::int64_t stamp_ms = 0;          // leased: the lease's length; dead, remembered: since when
  std::uint32_t reason = 0;           // dead: number in the shard's reasons
  Ending ending = Ending::acked;      // remembered
  bool unwritten : 1 = true;          // the message's full record does not hold it
  bool reason_unwritten : 1 = false;  // dead: nor does it hold the reason (LiveBytes)
  std::uint16_t late_ms = 0;          // leased: it begins and ends this much later than planned

  /// BOOTTIME. The lease wheel uses until_ms; late_ms is checked only when that time has come,
  /// because most leases end before.
  [[nodiscard]] std::int64_t lease_end_ms() const noexcept { return until_ms + late_ms; }
};

class HistorySlab {
 public:
  [[nodiscard]] History& operator[](HistoryHandle handle) noexcept { return entries_[handle]; }
  [[nodiscard]] const History& operator[](HistoryHandle handle) const noexcept {
    return entries_[handle];
  }

  void prefetch(HistoryHandle handle) const noexcept { base::prefetch_line(&entries_[handle]); }

  [[nodiscard]] HistoryHandle allocate() {
    HistoryHandle handle = free_;
    if (handle != kNoHistory) {
      free_ = entries_[handle].reason;
      // Each free slot names the next one. Without the prefetch, each of many allocations would
      // wait for memory.
      if (free_ != kNoHistory) base::prefetch_line(&entries_[free_]);
    } else {
      handle = entries_.size();
      entries_.grow_to(handle + 1);
    }
    entries_[handle] = History{};
    ++size_;
    ++unwritten_;
    return handle;
  }

  /// Call `written` when the message's full record holds the entry.
  void written(HistoryHandle handle) noexcept {
    if (!entries_[handle].unwritten) return;
    entries_[handle].unwritten = false;
    --unwritten_;
  }

  void free(HistoryHandle handle) noexcept {
    written(handle);
    entries_[handle].reason = free_;
    free_ = handle;
    --size_;
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t unwritten() const noexcept { return unwritten_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return entries_.bytes(); }

 private:
  ChunkedArray<History, 12> entries_;
  HistoryHandle free_ = kNoHistory;
  std::uint64_t size_ = 0;
  std::uint64_t unwritten_ = 0;
};

}  // namespace tarry::embedded
