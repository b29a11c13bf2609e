// KeyLookup: finds a shard's messages by their keys. A generated key contains its message's handle.
// Other keys are looked up by hash, and compared with the journal's bytes.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <string_view>

#include "engines/embedded/journal/journal.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {

class KeyLookup {
 public:
  KeyLookup(const ShardState& state, Journal& journal) : state_(&state), journal_(&journal) {}

  /// Returns kNoHandle if there is no such message, or if `queue` is kNoQueue.
  [[nodiscard]] Handle find(QueueId queue, std::string_view key) const;

 private:
  const ShardState* state_;
  Journal* journal_;
};

}  // namespace tarry::embedded
