// The redis-servers on which the suite's Redis stores live: one set a process, started when it is
// first asked for.
#pragma once

#include <cstdint>
#include <string>

namespace tarry::contract {

/// One server; a cluster of three masters; a master with a replica and a sentinel.
enum class RedisServers : std::uint8_t { one, cluster, sentinel };

/// "redis+unix:///...?shards=2" or the like.
[[nodiscard]] std::string redis_url(RedisServers servers, std::uint32_t shards);
/// Leaves nothing in them. Throws where they do not answer.
void clear_redis(RedisServers servers);

}  // namespace tarry::contract
