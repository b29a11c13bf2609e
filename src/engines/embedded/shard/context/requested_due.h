// The due time that a request asks for, by both clocks.
//
// A pure function.
#pragma once

#include <cstdint>
#include <optional>

#include <tarry/message.h>
#include <tarry/result.h>

#include "engines/embedded/shard/context/shard_context.h"

namespace tarry::embedded {

struct RequestedDue {
  std::int64_t due_ms = 0;                  // REALTIME
  std::optional<std::int64_t> boot_due_ms;  // BOOTTIME, of a relative delay only
};

/// A relative delay is counted from the turn's time. Error: `invalid_argument` if it is more than
/// 100 years from now.
[[nodiscard]] Result<RequestedDue> requested_due(Due due, const ShardContext& shard);

}  // namespace tarry::embedded
