// Meter: what a server counts itself; what the store counts comes from its own figures.
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

#include "core/lateness_histogram.h"
#include "core/reply.h"

namespace tarry::metrics {

inline constexpr std::size_t kMaxMeteredQueues = 1'000;
inline constexpr std::string_view kOtherQueues = "*";  // no queue can be called that

class Meter {
 public:
  /// First attempts count: a retry's wait is not the store's lateness.
  void claimed(const core::ClaimReply& reply);
  /// The figures to show: each queue's that is counted alone, by name, and then the others'
  /// together. What was kept of queues that are gone is dropped.
  [[nodiscard]] std::vector<QueueStats> metered(std::vector<QueueStats> queues);
  /// `route` lives as long as the program.
  void answered(std::string_view route, unsigned status) { ++answers_[{route, status}]; }
  void connected() noexcept { ++connections_; }
  void disconnected() noexcept { --connections_; }

  using Answers = std::map<std::pair<std::string_view, unsigned>, std::uint64_t>;
  using Lateness = std::map<std::string, core::LatenessHistogram, std::less<>>;
  [[nodiscard]] const Answers& answers() const noexcept { return answers_; }
  /// From due time to claim.
  [[nodiscard]] const Lateness& lateness() const noexcept { return lateness_; }
  [[nodiscard]] std::uint64_t connections() const noexcept { return connections_; }

 private:
  core::LatenessHistogram& lateness_of(std::string_view queue);
  void forget_all_but(const std::vector<QueueStats>& queues);

  std::set<std::string, std::less<>> alone_;
  std::map<std::string, QueueCounters, std::less<>> others_;  // as last seen
  QueueCounters others_sum_;
  Answers answers_;
  Lateness lateness_;
  std::uint64_t connections_ = 0;
};

}  // namespace tarry::metrics
