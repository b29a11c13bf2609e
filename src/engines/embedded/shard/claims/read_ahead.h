// ReadAhead: which records are read ahead, so that a claim need not wait for them: as many as two
// claims like the last one take, within limits, as file systems do for sequential reads. One
// claim's worth is read while the other is claimed.
//
// Thread safety: none; the shard's thread. The reading is another thread's (ahead_reads.h).
#pragma once

#include <cstddef>
#include <vector>

#include "engines/embedded/journal/journal.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {

class ReadAhead {
 public:
  ReadAhead(ShardState& state, Journal& journal) : state_(&state), journal_(&journal) {}

  /// A claim has taken that many messages of the queue.
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
