// SalvagedQueues: what the shards of a damaged store know of its queues, put together.
//
// A queue whose name one shard has lost has it in the others, and its keys tell which it is: under
// the right name all of them belong to their shard. Where none is found the name is invented, so
// that they do where they are few: what does not belong to its shard no request finds by its key.
//
// Settings and pause are one to all shards. A shard that has lost something takes them from the one
// that knows best: one that is sound, or has lost nothing behind that queue's last record; else
// the one to which it was told last.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <tarry/settings.h>

#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/store/store_files.h"
#include "engines/embedded/tools/salvage_read.h"

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

  /// Gives a shard the settings and pauses that others know better, and the queues that have some,
  /// where they are not there: how many it gave. The shard's queues have their names.
  std::uint64_t agree(ReadShard& shard) const;

 private:
  struct Known {
    std::int64_t told_ms = 0;
    QueueSettings settings;
    bool paused = false;
    std::optional<std::int64_t> paused_until_ms;
    bool removed = false;
  };

  std::set<std::string> names_;
  std::map<std::string, Known> best_;
};

}  // namespace tarry::embedded
