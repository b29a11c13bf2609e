// When a message is due, by both clocks.
//
// A pure function.
#pragma once

#include <cstdint>
#include <optional>

#include <tarry/message.h>
#include <tarry/result.h>

#include "engines/embedded/shard/shard_context.h"

namespace tarry::embedded {

struct DueTimes {
  std::int64_t due_ms = 0;                  // REALTIME
  std::optional<std::int64_t> boot_due_ms;  // BOOTTIME: of a delay, which needs that much of it too
};

/// As of this turn. Error: `invalid_argument`, more than 100 years from now.
[[nodiscard]] Result<DueTimes> due_times(Due due, const ShardContext& shard);

}  // namespace tarry::embedded
