// Reads one shard of a damaged store into a state: by recovery, or, if recovery refuses the shard,
// by the lenient replay. The report gets the findings.
//
// Functions without state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <tarry/result.h>

#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/state/shard_state.h"
#include "engines/embedded/tools/salvage.h"
#include "storage/storage.h"
#include "timing/clock.h"

namespace tarry::embedded {

struct ReadShard {
  std::unique_ptr<ShardState> state;  // has finished replay; none: nothing of it could be read
  bool empty = false;                 // the shard never held anything
  std::uint64_t newest_segment = 0;
  bool sound = false;
  std::vector<std::int64_t> queues_told_ms;  // lenient_replay.h; of a shard that is not sound
  std::vector<QueueId> unnamed;              // queues whose name is lost, in order

  [[nodiscard]] bool is_unnamed(QueueId queue) const {
    return std::binary_search(unnamed.begin(), unnamed.end(), queue);
  }
};

/// An empty state. Its replay has not begun.
[[nodiscard]] std::unique_ptr<ShardState> new_state(const ShardState::Identity& identity,
                                                    const timing::Clock& clock);

/// `store` is the old store's directory. `progress` gets a number of bytes. Errors: `unsupported`,
/// `permission_denied`, io_error.
[[nodiscard]] Result<ReadShard> read_shard(storage::Directory& store,
                                           const ShardState::Identity& identity,
                                           const timing::Clock& clock, SalvagedShard& told,
                                           const std::function<void(std::uint64_t)>& progress);

/// Opens the files from which the shard's messages are read.
[[nodiscard]] Result<void> open_files(storage::Directory& store, const ReadShard& shard,
                                      SegmentFiles& files);

}  // namespace tarry::embedded
