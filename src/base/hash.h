// The keyed hash that places keys in indexes and shards: XXH3, 64 bits. Seeded per store, so that
// nobody outside can choose keys that collide.
//
// The answer for a given seed is written to disk (which shard owns a key), so it never changes.
// Thread safety: a pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace tarry::base {

[[nodiscard]] std::uint64_t keyed_hash(std::string_view bytes, std::uint64_t seed) noexcept;

}  // namespace tarry::base
