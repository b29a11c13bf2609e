// Shared by the verbs of Shard: which items of a request belong to this shard. For
// src/engines/embedded/shard/shard_*.cpp only.
#pragma once

#include "engines/embedded/shard/shard.h"

namespace tarry::embedded {

/// The processor is asked for messages so many early.
inline constexpr std::size_t kSoon = 6;

/// For a request that was decided but cannot be answered. The text is short enough to need no
/// memory.
inline Error no_memory() { return {ErrorCode::unavailable, "out of memory"}; }

template <typename F>
void Shard::each_item(const Part& part, std::size_t count, F&& f) {
  if (part.all_items) {
    for (std::size_t i = 0; i < count; ++i) f(i);
  } else {
    for (const std::uint32_t i : part.items) f(std::size_t{i});
  }
}

}  // namespace tarry::embedded
