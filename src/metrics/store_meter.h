// StoreMeter: what is counted beside a store's own figures, and which of its queues are shown.
//
// Not thread safe, but for the LatenessMeter in it. Bounded: what comes when kMaxMeteredQueues are
// there is counted under kOtherQueues.
//
// Invariants
//  1. A queue stays where it is counted, alone or with the others, until it is gone.
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
  /// Of that engine, which outlives this.
  explicit StoreMeter(core::Engine& engine) : lateness_(engine) {}

  /// The figures to show: each queue's that is counted alone, by name, and then the others'
  /// together. What was kept of queues that are gone is dropped. `replies`: as the LatenessMeter
  /// had them before the figures were asked for.
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
