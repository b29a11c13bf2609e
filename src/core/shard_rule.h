// Which shard owns a key: hash(queue, key) mod shards. If the key contains {...} with text in it,
// only the text in the first braces is hashed (as in Redis Cluster). So keys that belong together
// ("{user:7}:order:42") share a shard.
#pragma once

#include <cstdint>
#include <string_view>

namespace tarry::core {

[[nodiscard]] std::string_view hashed_part(std::string_view key) noexcept;

/// `shards` is at least 1. The result depends on `seed`, which is fixed when a store is made.
[[nodiscard]] std::uint32_t shard_of(std::string_view queue, std::string_view key,
                                     std::uint32_t shards, std::uint64_t seed) noexcept;

/// The shard of a queue whose messages must all be in one shard.
[[nodiscard]] std::uint32_t home_of(std::string_view queue, std::uint32_t shards,
                                    std::uint64_t seed) noexcept;

}  // namespace tarry::core
