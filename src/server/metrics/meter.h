// Meter: what a server counts itself; what the store counts comes from its own figures, and how
// late messages are from a LatenessMeter.
//
// Used on the server's thread only, so there is no lock. Bounded: what comes when kMaxMeteredQueues
// are there is counted under kOtherQueues.
//
// Invariants
//  1. A queue stays where it is counted, alone or with the others, until it is gone.
//  2. No counter of the others falls, whichever queues come and go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/settings.h>

#include "server/metrics/lateness_meter.h"

namespace tarry::metrics {

class Meter {
 public:
  Meter() = default;
  /// Of the server of that engine, which outlives this.
  explicit Meter(core::Engine& engine) : lateness_(engine) {}

  /// The figures to show: each queue's that is counted alone, by name, and then the others'
  /// together. What was kept of queues that are gone is dropped.
  [[nodiscard]] std::vector<QueueStats> metered(std::vector<QueueStats> queues);
  /// `route` lives as long as the program.
  void answered(std::string_view route, unsigned status) { ++answers_[{route, status}]; }
  void connected() noexcept { ++connections_; }
  void disconnected() noexcept { --connections_; }
  /// Bytes: of requests as far as they have come, and of answers until they are taken.
  void held(std::uint64_t requests, std::uint64_t answers) noexcept {
    held_requests_ = requests;
    held_answers_ = answers;
  }

  using Answers = std::map<std::pair<std::string_view, unsigned>, std::uint64_t>;
  [[nodiscard]] const Answers& answers() const noexcept { return answers_; }
  [[nodiscard]] std::uint64_t connections() const noexcept { return connections_; }
  [[nodiscard]] std::uint64_t held_requests() const noexcept { return held_requests_; }
  [[nodiscard]] std::uint64_t held_answers() const noexcept { return held_answers_; }
  [[nodiscard]] LatenessMeter& lateness() noexcept { return lateness_; }

 private:
  void forget_all_but(const std::vector<QueueStats>& queues);

  std::set<std::string, std::less<>> alone_;
  std::map<std::string, QueueCounters, std::less<>> others_;  // as last seen
  QueueCounters others_sum_;
  Answers answers_;
  std::uint64_t connections_ = 0;
  std::uint64_t held_requests_ = 0;
  std::uint64_t held_answers_ = 0;
  LatenessMeter lateness_;
};

}  // namespace tarry::metrics
