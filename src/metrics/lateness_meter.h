// LatenessMeter: measures how late messages are claimed, by queue, for all callers of one engine:
// clients of the server, relays in the same process, handles of the program that embeds it. For
// queues with an objective it also measures whether the objective is kept.
//
// Thread safe. Bounded: once there are kMaxMeteredQueues, further queues are counted under
// kOtherQueues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/settings.h>
#include <tarry/time.h>

#include "core/engine.h"
#include "core/figures/lateness_histogram.h"
#include "metrics/objective_tally.h"

namespace tarry::metrics {

inline constexpr std::size_t kMaxMeteredQueues = 1'000;
inline constexpr std::string_view kOtherQueues = "*";  // no queue can be called that

class LatenessMeter {
 public:
  LatenessMeter() = default;
  /// The engine must outlive the meter.
  explicit LatenessMeter(core::Engine& engine);
  LatenessMeter(const LatenessMeter&) = delete;
  LatenessMeter& operator=(const LatenessMeter&) = delete;
  ~LatenessMeter();

  /// Counts those messages of the reply for which core::lateness_ms has a value.
  void claimed(const core::ClaimReply& reply);
  /// How many replies have been counted so far.
  [[nodiscard]] std::uint64_t replies() const;
  /// Forgets all queues that are not in `queues` (sorted by name). `queues` was requested after
  /// `replies` replies; a queue that was claimed from later is kept, because it may be a new one.
  void forget_all_but(const std::vector<QueueStats>& queues, std::uint64_t replies);

  /// Learns the queue's settings.
  void configured(std::string_view queue, const QueueSettings& settings);
  /// Learns the queue's settings, and its state at `now` by the store's clock. It does nothing for
  /// a queue that is not counted alone.
  void observe(const QueueStats& queue, Time now);
  /// Fills in the objectives of these queues.
  void tell(std::vector<QueueStats>& queues) const;
  /// The names of queues with an objective.
  [[nodiscard]] std::vector<std::string> with_objective() const;
  struct Objectives {
    ObjectiveTally::Counts counts;
    bool burning = false;
  };
  /// Since the start, by the queue's name.
  [[nodiscard]] std::map<std::string, Objectives, std::less<>> objectives() const;

  using Lateness = std::map<std::string, core::LatenessHistogram, std::less<>>;
  [[nodiscard]] Lateness lateness() const;

 private:
  struct Metered {
    core::LatenessHistogram lateness;
    std::uint64_t last_reply = 0;
    std::unique_ptr<ObjectiveTally> objective = {};  // null: the queue has none
  };
  Metered& metered(std::string_view queue);
  [[nodiscard]] ObjectiveTally* tally_of(std::string_view queue, Objective objective);

  core::Engine* engine_ = nullptr;
  core::ClaimWatches::Token token_ = 0;
  mutable std::mutex mutex_;
  std::uint64_t replies_ = 0;
  std::map<std::string, Metered, std::less<>> queues_;
};

}  // namespace tarry::metrics
