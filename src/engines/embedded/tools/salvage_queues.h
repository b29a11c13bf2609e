// SalvagedQueues: combines what the shards of a damaged store know about its queues.
//
// If one shard has lost a queue's name, other shards may know it. The queue's keys tell which of
// the known names is right: under the right name all of them belong to this shard. If no name is
// right, one is invented. If the queue has few keys, that is a name under which they belong to this
// shard. Otherwise no request finds the messages by their keys.
//
// Settings and pause are the same on all shards. A shard that has lost data takes them from a shard
// that is sound, or that has lost nothing after the queue's last record. If there is none, it takes
// them from the shard with the queue's newest record.
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
  /// Call `tell` for all shards before the first `name` or `agree`.
  void tell(const ReadShard& shard);

  struct Named {
    std::uint64_t unnamed = 0;      // queues for which no name was found
    std::uint64_t unreachable = 0;  // messages of these that no key finds
  };
  /// Names the queues that have lost their names. `files`: the shard's.
  Named name(const StoreIdentity& store, ReadShard& shard, const SegmentFiles& files) const;

  /// Gives a shard that has lost data the settings and pauses that other shards know better. In
  /// that shard it also makes missing queues that have settings or a pause. Returns how many queues
  /// it has changed or made. Call it after `name`.
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
