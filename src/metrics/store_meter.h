// StoreMeter: counts beside a store's own figures, and decides which of its queues are shown.
//
// Not thread safe, except for the LatenessMeter in it. Bounded: once there are kMaxMeteredQueues,
// further queues are counted under kOtherQueues.
//
// Invariants
//  1. A queue is counted in the same way, alone or with the others, until it is gone.
//  2. No counter of the others falls, whichever queues come and go.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <tarry/settings.h>

#include "metrics/lateness_meter.h"

namespace tarry::metrics {

class StoreMeter {
 public:
  StoreMeter() = default;
  /// For that engine, which outlives this.
  explicit StoreMeter(core::Engine& engine) : lateness_(engine) {}

  /// The figures to show: those of each queue that is counted alone, by name, and then the others'
  /// together. Figures of queues that are gone are dropped. `replies`: the LatenessMeter's number
  /// before the figures were requested.
  [[nodiscard]] std::vector<QueueStats> metered(std::vector<QueueStats> queues,
                                                std::uint64_t replies);
  [[nodiscard]] LatenessMeter& lateness() noexcept { return lateness_; }

 private:
  void forget_all_but(const std::vector<QueueStats>& queues, std::uint64_t replies);

  std::set<std::string, std::less<>> alone_;
  std::map<std::string, QueueCounters, std::less<>> others_;  // as last seen
  QueueCounters others_sum_;
  LatenessMeter lateness_;
};

}  // namespace tarry::metrics
