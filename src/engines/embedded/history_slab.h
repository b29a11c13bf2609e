// HistorySlab: what a message has been through, kept only for those that were claimed at least once
// (or came with a past, by Move). 48 bytes each.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariant: an entry belongs to exactly one message, whose `history` names it.
#pragma once

#include <cstdint>

#include <tarry/message.h>

#include "engines/embedded/chunked_array.h"

namespace tarry::embedded {

using HistoryHandle = std::uint32_t;
inline constexpr HistoryHandle kNoHistory = 0xFFFF'FFFF;

struct History {
  Tallies tallies;
  std::uint32_t attempt = 0;      // attempts used so far; a released one does not count
  std::int64_t until_ms = 0;      // leased: BOOTTIME of the lease's end; dead, remembered: REALTIME
  std::int64_t stamp_ms = 0;      // leased: the lease's length; dead, remembered: since when
  std::uint32_t reason = 0;       // dead: number in the shard's reasons
  Ending ending = Ending::acked;  // remembered
};

class HistorySlab {
 public:
  [[nodiscard]] History& operator[](HistoryHandle handle) noexcept { return entries_[handle]; }
  [[nodiscard]] const History& operator[](HistoryHandle handle) const noexcept {
    return entries_[handle];
  }

  [[nodiscard]] HistoryHandle allocate() {
    HistoryHandle handle = free_;
    if (handle != kNoHistory) {
      free_ = entries_[handle].reason;
    } else {
      handle = entries_.size();
      entries_.grow_to(handle + 1);
    }
    entries_[handle] = History{};
    ++size_;
    return handle;
  }

  void free(HistoryHandle handle) noexcept {
    entries_[handle].reason = free_;
    free_ = handle;
    --size_;
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return entries_.bytes(); }

 private:
  ChunkedArray<History, 12> entries_;
  HistoryHandle free_ = kNoHistory;
  std::uint64_t size_ = 0;
};

}  // namespace tarry::embedded
