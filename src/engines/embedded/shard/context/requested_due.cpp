#include "engines/embedded/shard/context/requested_due.h"

#include <algorithm>
#include <string>

#include "core/limits.h"

namespace tarry::embedded {

Result<RequestedDue> requested_due(Due due, const ShardContext& shard) {
  const std::int64_t now_ms = shard.now.realtime_ms;
  if (!due.is_relative()) {
    if (due.millis() - now_ms > core::kMaxDelayMs) {
      return Unexpected(ErrorCode::invalid_argument, "due time " + std::to_string(due.millis()) +
                                                         " ms is more than 100 years from now");
    }
    return RequestedDue{due.millis(), std::nullopt};
  }
  const std::int64_t rounding = due.millis() > 0 ? shard.config.rounding_ms : 0;
  RequestedDue times{std::max<std::int64_t>(now_ms, 0) + due.millis() + rounding, std::nullopt};
  const ClockEras& eras = shard.state.eras;
  if (due.millis() > 0 && eras.current() != 0) {
    times.boot_due_ms = eras.boot_due_ms(eras.current(), times.due_ms);
  }
  return times;
}

}  // namespace tarry::embedded
