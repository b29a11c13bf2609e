// ShardStats: adds up what scripts/stats.lua returns for a queue's shards.
//
// During a reshard, messages may leave the closed shards and arrive in the open ones between the
// question to a closed shard and the question to an open one. Both sides count these messages. So
// the sums show how many are on their way, or were seen on both sides. Messages on their way count
// as scheduled, dead or remembered. Near the end of the reshard a closed shard's counters are added
// to those of an open shard. The open shard records that, so they are not counted twice.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/settings.h>

#include "engines/redis/records/place.h"
#include "net/redis/redis.h"

namespace tarry::redis {

/// The counters among META's fields that a queue's stats have, with their names in META.
using Counted = std::vector<std::pair<std::string_view, std::int64_t>>;
[[nodiscard]] Counted counters_in(net::RedisView fields);
/// One field of META as a number; 0 if it is missing.
[[nodiscard]] std::int64_t number_in(net::RedisView fields, std::string_view name);
/// The same as a text; empty if it is missing.
[[nodiscard]] std::string_view text_in(net::RedisView fields, std::string_view name);

class ShardStats {
 public:
  /// False for an answer that cannot be read.
  [[nodiscard]] bool add(const Place& place, net::RedisView reply);
  [[nodiscard]] QueueStats take(std::string queue);

 private:
  void note_bucket(const Place& place, net::RedisView fields, std::int64_t now_ms);

  QueueStats stats_;
  /// The shard whose bucket `rate_next` is from: whether it is closed, and its number.
  std::optional<std::pair<bool, std::uint32_t>> bucket_of_;
  std::uint32_t open_ = 0;
  std::map<std::uint32_t, QueueCounters> closed_;
  std::set<std::uint32_t> added_;             // closed shards whose counters an open one has taken
  std::array<std::int64_t, 3> on_the_way_{};  // waiting, dead, remembered
};

}  // namespace tarry::redis
