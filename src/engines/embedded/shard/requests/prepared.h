// Prepared: work that the submitting thread does for the shards, item by item, because a shard has
// one thread and many callers.
//
// Plain values: filled in before the first part is posted, then only read.
#pragma once

#include <cstdint>
#include <vector>

#include "engines/embedded/records/handle.h"

namespace tarry::embedded {

/// How a receipt names a claim. It is valid only in the shard that the item of the settle or extend
/// goes to.
struct ClaimName {
  Handle handle = kNoHandle;
  std::uint32_t claims = 0;
  std::uint64_t id = 0;
};

struct Prepared {
  std::vector<std::uint32_t> payload_crcs;  // push, move
  std::vector<ClaimName> claims;            // settle, extend
  // Push, move: where the queue's messages were then (gates/queue_homes.h).
  std::uint64_t homes_version = 0;
  bool at_home = false;
};

}  // namespace tarry::embedded
