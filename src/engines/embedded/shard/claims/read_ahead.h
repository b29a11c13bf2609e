// ReadAhead: chooses the records to read ahead, so that claims need not wait for a disk. Like a
// file system during sequential reads, it reads enough for two claims like the last one, within
// limits: the messages of one claim are read while those of the other are claimed.
//
// Thread safety: none; the shard's thread. Another thread reads the records (ahead_reads.h).
#pragma once

#include <cstddef>
#include <vector>

#include "engines/embedded/journal/journal.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {

class ReadAhead {
 public:
  ReadAhead(ShardState& state, Journal& journal) : state_(&state), journal_(&journal) {}

  /// Call `note_claimed` when a claim has taken `count` messages of the queue.
  void note_claimed(QueueId queue, std::size_t count);
  /// The records that the next claims will probably need: the front messages of each queue that was
  /// claimed from since the last call, unless they are still in RAM.
  [[nodiscard]] std::vector<RecordPlace> look();

 private:
  ShardState* state_;
  Journal* journal_;
  std::vector<QueueId> claimed_;  // queues with most_claimed
};

}  // namespace tarry::embedded
