// Hashes. The keyed one places keys in indexes and shards: XXH3, 64 bits. Seeded for each store, so
// that no outsider can choose keys that collide. The answer for a given seed is written to disk
// (which shard owns a key), so it never changes. The other one only spreads numbers in RAM.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace tarry::base {

[[nodiscard]] std::uint64_t keyed_hash(std::string_view bytes, std::uint64_t seed) noexcept;

/// The number, spread over 2^bits places: `bits` from 1 to 32. Fibonacci hashing: the multiplier is
/// 2^64 over the golden ratio (Knuth, The Art of Computer Programming 3, 6.4).
[[nodiscard]] constexpr std::uint32_t spread(std::uint64_t number, int bits) noexcept {
  return static_cast<std::uint32_t>(number * 0x9E37'79B9'7F4A'7C15U >> (64 - bits));
}

}  // namespace tarry::base
