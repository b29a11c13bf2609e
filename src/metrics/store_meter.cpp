#include "metrics/store_meter.h"

#include <algorithm>

#include "core/figures/queue_sums.h"

namespace tarry::metrics {

void StoreMeter::forget_all_but(const std::vector<QueueStats>& queues, std::uint64_t replies) {
  const auto is_gone = [&queues](std::string_view name) {
    return !std::ranges::binary_search(queues, name, {}, &QueueStats::queue);
  };
  std::erase_if(alone_, is_gone);
  std::erase_if(others_, [&](const auto& entry) { return is_gone(entry.first); });
  lateness_.forget_all_but(queues, replies);
}

std::vector<QueueStats> StoreMeter::metered(std::vector<QueueStats> queues, std::uint64_t replies) {
  std::ranges::sort(queues, {}, &QueueStats::queue);
  forget_all_but(queues, replies);
  QueueStats others;
  others.queue = kOtherQueues;
  std::vector<QueueStats> shown;
  for (QueueStats& queue : queues) {
    const bool alone = alone_.contains(queue.queue) ||
                       (!others_.contains(queue.queue) && alone_.size() < kMaxMeteredQueues);
    if (alone) {
      alone_.insert(queue.queue);
      shown.push_back(std::move(queue));
      continue;
    }
    QueueCounters& before = others_[queue.queue];
    core::add_since(others_sum_, queue.counters, before);
    before = queue.counters;
    core::add_states(others, queue);
    others.waiting_claims += queue.waiting_claims;
  }
  others.counters = others_sum_;
  // Once the sum of the others was shown, it is always shown: a counter that disappears and
  // reappears would look as if it had fallen.
  if (!others_.empty() || others_sum_ != QueueCounters()) shown.push_back(std::move(others));
  return shown;
}

}  // namespace tarry::metrics
