// ShardStats: what scripts/stats.lua tells of a queue's shards, added up.
//
// While the queue gets other shards: messages have left the closed shards, and come to the open
// ones, at other times than those were asked. Both count that, so what is on its way, or was seen
// on both sides, is known to the message: it counts as scheduled, dead or remembered. And what a
// closed shard has counted is added to an open one before the end, which says so: it is not counted
// twice.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/settings.h>

#include "engines/redis/records/place.h"
#include "net/redis/redis.h"

namespace tarry::redis {

/// Of META's fields: the counters that a queue's stats have, as they are spelled there.
using Counted = std::vector<std::pair<std::string_view, std::int64_t>>;
[[nodiscard]] Counted counters_in(net::RedisView fields);
/// One field of META as a number; 0 where it is not there.
[[nodiscard]] std::int64_t number_in(net::RedisView fields, std::string_view name);

class ShardStats {
 public:
  /// False for an answer that cannot be read.
  [[nodiscard]] bool add(const Place& place, net::RedisView reply);
  [[nodiscard]] QueueStats take(std::string queue);

 private:
  QueueStats stats_;
  std::uint32_t open_ = 0;
  std::map<std::uint32_t, QueueCounters> closed_;
  std::set<std::uint32_t> added_;             // closed shards of which an open one has the counters
  std::array<std::int64_t, 3> on_the_way_{};  // waiting, dead, remembered
};

}  // namespace tarry::redis
