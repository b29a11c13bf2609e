// LatenessMeter: measures how late messages are claimed, by queue, for all callers of one engine:
// clients of the server, relays in the same process, handles of the program that embeds it.
//
// Thread safe. Bounded: once there are kMaxMeteredQueues, further queues are counted under
// kOtherQueues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/settings.h>

#include "core/engine.h"
#include "core/lateness_histogram.h"

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

  using Lateness = std::map<std::string, core::LatenessHistogram, std::less<>>;
  [[nodiscard]] Lateness lateness() const;

 private:
  struct Metered {
    core::LatenessHistogram lateness;
    std::uint64_t last_reply = 0;
  };
  Metered& metered(std::string_view queue);

  core::Engine* engine_ = nullptr;
  core::ClaimWatches::Token token_ = 0;
  mutable std::mutex mutex_;
  std::uint64_t replies_ = 0;
  std::map<std::string, Metered, std::less<>> queues_;
};

}  // namespace tarry::metrics
