// Writes a shard's state as a new journal: an opening, a full copy of every message, and the mark
// of a clean end. Each message keeps its id and its place, so keys and receipts still name it.
// Segment numbers continue those of the old journal.
//
// Pure functions except for the disk.
#pragma once

#include <cstdint>
#include <functional>

#include <tarry/result.h>

#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/state/shard_state.h"
#include "storage/storage.h"
#include "timing/clock.h"

namespace tarry::embedded {

struct SalvageTarget {
  storage::Directory* directory = nullptr;  // the new shard's; empty
  const timing::Clock* clock = nullptr;
  std::uint64_t segment_bytes = 0;
  std::uint32_t version = 0;  // the format of the new journal
};

struct SalvageWritten {
  std::uint64_t messages = 0;    // scheduled, ready, leased or dead
  std::uint64_t remembered = 0;  // settled, remembered for their keys
  std::uint64_t damaged = 0;     // of the messages: their payload is lost
};

/// `state` has finished replay; its messages are read from `files`, whose last segment is
/// `newest_segment`. Everything is synced when it returns. `progress` gets the bytes of each
/// message.
[[nodiscard]] Result<SalvageWritten> write_salvaged(
    ShardState& state, const SegmentFiles& files, std::uint64_t newest_segment,
    const SalvageTarget& target, const std::function<void(std::uint64_t)>& progress);

}  // namespace tarry::embedded
