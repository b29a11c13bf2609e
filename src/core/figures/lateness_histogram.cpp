#include "core/figures/lateness_histogram.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace tarry::core {

void LatenessHistogram::record(Millis lateness) noexcept {
  const double seconds = std::chrono::duration<double>(std::max(lateness, Millis(0))).count();
  const auto* const bound = std::ranges::lower_bound(kBoundsSeconds, seconds);
  ++counts[static_cast<std::size_t>(bound - kBoundsSeconds.begin())];
  sum_seconds += seconds;
}

void LatenessHistogram::add(const LatenessHistogram& other) noexcept {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  sum_seconds += other.sum_seconds;
}

}  // namespace tarry::core
