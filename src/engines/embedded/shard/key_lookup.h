// KeyLookup: finds a shard's messages by their keys. Generated keys say where their message is;
// others are looked up by their hash, and checked against the journal's bytes.
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

  /// kNoHandle where there is no such message, or no such queue (kNoQueue).
  [[nodiscard]] Handle find(QueueId queue, std::string_view key) const;

 private:
  const ShardState* state_;
  Journal* journal_;
};

}  // namespace tarry::embedded
