// StoreMeter: adds lateness to a store's own figures, and decides which queues are shown on their
// own.
//
// Not thread safe, except for the LatenessMeter in it. Bounded: once there are kMaxMeteredQueues,
// further queues are counted under kOtherQueues.
//
// Invariants
//  1. A queue that is counted alone stays alone until it is gone, and a queue counted with the
//     others stays with them.
//  2. The counters of the others (kOtherQueues) never decrease, whichever queues come and go.
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
  /// `engine` must outlive the meter.
  explicit StoreMeter(core::Engine& engine) : lateness_(engine) {}

  /// The figures to show: those of each queue that is counted alone, by name, then those of all
  /// other queues together. Figures of queues that are gone are dropped. `replies`: what
  /// LatenessMeter::replies returned before the figures were requested.
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
