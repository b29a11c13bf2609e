// SalvagedQueues: combines what the shards of a damaged store know about its queues.
//
// If one shard has lost a queue's name, the other shards have it, and the queue's keys tell which
// name it is: under the right name all of them belong to their shard. If none is found, a name is
// invented. If the keys are few, it is a name under which they belong to their shard; otherwise no
// request finds them by key.
//
// Settings and pause are the same on all shards. A shard that has lost data takes them from the
// shard that knows best: one that is sound, or has lost nothing after that queue's last record;
// otherwise the one with the newest record.
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
  /// Call it for all shards before a shard gets what the others know.
  void tell(const ReadShard& shard);

  struct Named {
    std::uint64_t unnamed = 0;      // queues for which no name was found
    std::uint64_t unreachable = 0;  // messages of these that no request finds by their keys
  };
  /// Names the queues that lost their names. `files`: the shard's.
  Named name(const StoreIdentity& store, ReadShard& shard, const SegmentFiles& files) const;

  /// Gives a shard the settings and pauses that others know better, and missing queues that have
  /// some. Returns how many it gave. The shard's queues have their names.
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
