#include "server/metrics/meter.h"

#include <algorithm>

namespace tarry::metrics {

void LatenessHistogram::record(std::int64_t lateness_ms) noexcept {
  // Two clock readings may cross.
  const double seconds = static_cast<double>(std::max<std::int64_t>(lateness_ms, 0)) / 1e3;
  const auto* const bound = std::ranges::lower_bound(kBoundsSeconds, seconds);
  ++counts[static_cast<std::size_t>(bound - kBoundsSeconds.begin())];
  sum_seconds += seconds;
}

LatenessHistogram& Meter::lateness_of(std::string_view queue) {
  const auto found = lateness_.find(queue);
  if (found != lateness_.end()) return found->second;
  if (lateness_.size() >= kMaxMeteredQueues) queue = kOtherQueues;
  return lateness_[std::string(queue)];
}

void Meter::claimed(const core::ClaimReply& reply) {
  for (const core::ClaimedItem& item : reply.items) {
    if (item.attempt != 1) continue;
    lateness_of(core::view(reply.bytes, item.queue)).record(item.claimed_ms - item.due_ms);
  }
}

}  // namespace tarry::metrics
