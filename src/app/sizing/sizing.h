// Sizing: how many servers a load needs, and what they will have to do. It is a model: the costs of
// a message (costs.h) times the load, divided among masters as Redis Cluster divides keys.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "app/sizing/costs.h"

namespace tarry::app::sizing {

inline constexpr std::uint32_t kMostMasters = 1'000;

struct Load {
  Engine engine = Engine::redis_cluster;
  double rate = 0;                      // messages a second, each pushed, claimed and settled
  double pending = 0;                   // messages that wait at the same time
  double payload = 100;                 // bytes
  double batch = 100;                   // messages in one request of a producer or a consumer
  double memory = 32.0 * (1ull << 30);  // bytes of RAM of one server
};

/// Sums are of all masters together, unless a name says otherwise.
struct Plan {
  std::uint32_t masters = 1;
  std::string_view because;      // which limit decides: "processor", "memory"
  std::uint32_t partitions = 1;  // partitions of the store
  std::uint32_t shards = 1;      // shards of each queue, at most
  std::uint32_t queues = 1;      // least number of queues with which every master has work
  double skew = 1;               // the busiest master's load, relative to the mean
  double busy = 0;               // the busiest master's processor, in cores
  double client_cores = 0;
  double memory = 0;  // bytes in RAM
  double memory_busiest = 0;
  double in = 0;  // bytes a second to the servers
  double out = 0;
  double disk = 0;             // bytes on disk
  double written = 0;          // bytes a second to disk
  double restart_s = 0;        // how long the busiest master takes to restart
  double lateness_p99_ms = 0;  // at the busiest master
};

/// A master is loaded to at most half of a core, and half of its RAM: the other halves are for
/// spikes, and for the copy from which Redis writes its files. Errors: `invalid_argument`, naming
/// value and limit, if the load needs more masters than kMostMasters, or more than one server of an
/// engine that has one.
[[nodiscard]] Result<Plan> plan_of(const Load& load);

}  // namespace tarry::app::sizing
