// In which shard of a store to look for a key: a generated key contains its shard, any other is
// hashed with its queue's name.
//
// Pure function.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/shard_rule.h"
#include "engines/embedded/records/tokens.h"
#include "engines/embedded/store/store_files.h"

namespace tarry::embedded {

[[nodiscard]] inline std::uint32_t shard_for_key(const StoreIdentity& store, std::string_view queue,
                                                 std::string_view key) noexcept {
  if (store.shards == 1) return 0;
  if (const auto made = parse_generated_key(key);
      made && made->store_tag == static_cast<std::uint32_t>(store.store_id) &&
      made->shard < store.shards) {
    return made->shard;
  }
  return core::shard_of(queue, key, store.shards, store.hash_seed);
}

}  // namespace tarry::embedded
