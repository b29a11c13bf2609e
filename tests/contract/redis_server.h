// The redis-servers on which the suite's Redis stores live: one set a process, started when it is
// first asked for.
#pragma once

#include <cstdint>
#include <string>

namespace tarry::contract {

/// One server; a cluster of three masters.
enum class RedisServers : std::uint8_t { one, cluster };

/// "redis+unix:///..." or the like, without options.
[[nodiscard]] std::string redis_url(RedisServers servers);
/// Leaves nothing in them. Throws where they do not answer.
void clear_redis(RedisServers servers);

}  // namespace tarry::contract
