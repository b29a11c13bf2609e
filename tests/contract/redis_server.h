// The redis-servers for the suite's Redis stores. Each process has one set of them, which starts
// when a test first asks for it.
#pragma once

#include <cstdint>
#include <string>

namespace tarry::contract {

/// One server; a cluster of three masters; a master with a replica and a sentinel.
enum class RedisServers : std::uint8_t { one, cluster, sentinel };

/// "redis+unix:///...?shards=2" or the like.
[[nodiscard]] std::string redis_url(RedisServers servers, std::uint32_t shards);
/// Deletes everything in them. Throws if they do not answer.
void clear_redis(RedisServers servers);

}  // namespace tarry::contract
