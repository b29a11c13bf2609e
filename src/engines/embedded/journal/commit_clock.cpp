#include "engines/embedded/journal/commit_clock.h"

#include <algorithm>
#include <cstddef>

namespace tarry::embedded {

void CommitClock::record(Step step, std::chrono::nanoseconds took) noexcept {
  took = std::max(took, std::chrono::nanoseconds(0));
  const double seconds = std::chrono::duration<double>(took).count();
  const auto& bounds = CommitTimes::kBoundsSeconds;
  const auto* const bound = std::ranges::lower_bound(bounds, seconds);
  Counts& counts = steps_[static_cast<std::size_t>(step)];
  counts.buckets[static_cast<std::size_t>(bound - bounds.begin())].fetch_add(
      1, std::memory_order_relaxed);
  counts.sum_ns.fetch_add(took.count(), std::memory_order_relaxed);
}

void CommitClock::add_to(CommitTimes& times) const noexcept {
  const std::array into = {&times.gather, &times.sync, &times.answer};
  for (std::size_t step = 0; step < into.size(); ++step) {
    const Counts& counts = steps_[step];
    for (std::size_t i = 0; i < counts.buckets.size(); ++i) {
      into[step]->counts[i] += counts.buckets[i].load(std::memory_order_relaxed);
    }
    const std::chrono::nanoseconds sum(counts.sum_ns.load(std::memory_order_relaxed));
    into[step]->sum_seconds += std::chrono::duration<double>(sum).count();
  }
}

}  // namespace tarry::embedded
