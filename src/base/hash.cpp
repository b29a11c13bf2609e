#include "base/hash.h"

// Inlined in this file only, so that no other file pays for it and nothing links to libxxhash.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tarry::base {

std::uint64_t keyed_hash(std::string_view bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace tarry::base
