// Two hashes. keyed_hash (XXH3, 64 bits) places keys in indexes and shards. Each store has its own
// seed, so that no outsider can choose keys that collide. The shard of a key depends on this hash
// on disk too, so its result for a given seed must never change. `spread` only distributes numbers
// in RAM.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace tarry::base {

[[nodiscard]] std::uint64_t keyed_hash(std::string_view bytes, std::uint64_t seed) noexcept;

/// Maps the number to one of 2^bits places; `bits` is from 1 to 32. Fibonacci hashing: the
/// multiplier is 2^64 over the golden ratio (Knuth, The Art of Computer Programming 3, 6.4).
[[nodiscard]] constexpr std::uint32_t spread(std::uint64_t number, int bits) noexcept {
  return static_cast<std::uint32_t>(number * 0x9E37'79B9'7F4A'7C15U >> (64 - bits));
}

}  // namespace tarry::base
