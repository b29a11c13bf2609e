// ShardConfig: what a shard is told when it is made.
//
// Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limits.h"
#include "engines/embedded/records/handle.h"
#include "engines/embedded/shard/marks.h"

namespace tarry::embedded {

/// How much of what takes long is done in one turn: a spike of a million due messages is taken in
/// slices between which requests are served.
struct ShardSlices {
  std::size_t wheel = 65'536;          // messages that time moves, a wheel
  Handle sweep = 65'536;               // handles that a sweep, a forecast or a list looks at
  std::uint64_t cleaning = 512 << 10;  // bytes that cleaning reads, at least
  std::size_t waiting = 32'768;        // queues that claims which end are taken out of
};

struct ShardConfig {
  static constexpr std::uint64_t kWorkBase = 64 * 1024;
  static constexpr std::uint64_t kKeptClaims = 65'536;

  std::uint32_t number = 0;
  core::Limits limits;
  std::int64_t rounding_ms = 0;  // timing::Clock::rounding_ms
  ShardSlices slices;
  std::uint64_t work_base = kWorkBase;      // bytes kept back for work, however little there is
  std::uint64_t kept_claims = kKeptClaims;  // messages that can be claimed on a full disk
  Mark mark;
};

}  // namespace tarry::embedded
