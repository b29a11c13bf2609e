// ShardConfig: the settings of a shard.
//
// Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/limits.h"
#include "engines/embedded/gates/queue_gates.h"
#include "engines/embedded/records/handle.h"
#include "engines/embedded/shard/requests/marks.h"

namespace tarry::embedded {

/// How much of a long job is done in one turn: a million messages that fall due together are
/// handled in slices, with requests served in between.
struct ShardSlices {
  std::size_t wheel = 65'536;          // messages that one wheel moves
  Handle sweep = 65'536;               // handles that a sweep, a forecast or a list looks at
  std::uint64_t cleaning = 512 << 10;  // bytes that cleaning reads, at least
  std::size_t waiting = 32'768;        // places of claims that are served or removed
  std::size_t expiries = 65'536;       // messages that expire
};

struct ShardConfig {
  static constexpr std::uint64_t kWorkBase = 64 * 1024;
  static constexpr std::uint64_t kKeptClaims = 65'536;

  std::uint32_t number = 0;
  core::Limits limits;
  std::int64_t rounding_ms = 0;  // timing::Clock::rounding_ms
  ShardSlices slices;
  std::uint64_t work_base = kWorkBase;      // the least reserve for work, bytes
  std::uint64_t kept_claims = kKeptClaims;  // messages that can be claimed on a full disk
  Mark mark;
  // Shared by all shards of the store. Null if there is only one.
  std::shared_ptr<QueueGates> gates;
};

}  // namespace tarry::embedded
