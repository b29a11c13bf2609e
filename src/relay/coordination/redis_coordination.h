// Coordination by leases in a Redis. One script does everything. Each relay runs it three times in
// each session time, and whenever another relay's session ends. The script records that this relay
// lives, removes relays whose session has ended, and gives up or takes units by the rule of
// fair_part.h.
//
//   tarry:relays:{GROUP}:members ZSET member -> when its session ends, ms by the server's clock
//   tarry:relays:{GROUP}:order HASH member -> its number in the order of arrival; "last"
//   tarry:relays:{GROUP}:units HASH "queue/shard" -> member tarry:relays:{GROUP}:news channel: a
//   member that has come, gone, or given up units
//
// The keys of a group expire after a day without a relay. docs/formats/redis.md describes the keys.
//
// Thread safety: that of Coordination.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/redis/redis.h"
#include "relay/coordination/coordination.h"

namespace boost::asio {
class io_context;
}

namespace tarry::relay {

struct RedisCoordinationOptions {
  /// Makes the connection, on the given io_context.
  std::function<std::unique_ptr<net::Redis>(boost::asio::io_context&)> connect;
  std::string group;  // relays with the same group share the units
  Millis session = kDefaultSession;
};

[[nodiscard]] std::unique_ptr<Coordination> redis_coordination(RedisCoordinationOptions options);

}  // namespace tarry::relay
