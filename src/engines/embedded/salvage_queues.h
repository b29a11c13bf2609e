// SalvagedQueues: what the shards of a damaged store know of its queues, put together.
//
// A queue whose name one shard has lost has it in the others, and its keys tell which it is: under
// the right name all of them belong to their shard. Where none is found the name is invented, so
// that they do where they are few: what does not belong to its shard no request finds by its key.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "engines/embedded/salvage_read.h"
#include "engines/embedded/segment_files.h"
#include "engines/embedded/store_files.h"

namespace tarry::embedded {

class SalvagedQueues {
 public:
  /// All shards are told before one is given what others know.
  void tell(const ReadShard& shard);

  struct Named {
    std::uint64_t unnamed = 0;      // queues for which no name was found
    std::uint64_t unreachable = 0;  // messages of these that no request finds by their keys
  };
  /// Names the queues that lost their names. `files`: the shard's.
  Named name(const StoreIdentity& store, ReadShard& shard, const SegmentFiles& files) const;

 private:
  std::set<std::string> names_;
};

}  // namespace tarry::embedded
