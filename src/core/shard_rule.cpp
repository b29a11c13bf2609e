#include "core/shard_rule.h"

#include "base/hash.h"

namespace tarry::core {

std::string_view hashed_part(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

std::uint32_t shard_of(std::string_view queue, std::string_view key, std::uint32_t shards,
                       std::uint64_t seed) noexcept {
  if (shards <= 1) return 0;
  const std::uint64_t hash = base::keyed_hash(hashed_part(key), base::keyed_hash(queue, seed));
  return static_cast<std::uint32_t>(hash % shards);
}

std::uint32_t home_of(std::string_view queue, std::uint32_t shards, std::uint64_t seed) noexcept {
  return shard_of(queue, {}, shards, seed);
}

}  // namespace tarry::core
