// LoadGenerator: puts a queue under load and measures how fast messages are pushed, claimed and
// settled, and how late messages are claimed at a given rate.
//
// Thread safety: one thread at a time, except for `stop`. It starts one thread for each client, and
// ends them before it returns.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tarry/queue.h>

#include "app/pictures/lateness_at_load.h"

namespace tarry::app {

struct LoadShape {
  std::uint32_t clients = 4;    // threads that claim and settle; `rates` uses them for pushes too
  std::uint32_t batch = 256;    // messages in each call of a verb
  std::uint32_t payload = 100;  // bytes
};

/// Messages a second.
struct LoadRates {
  double push = 0;
  double claim = 0;
  double settle = 0;

  /// The rate at which messages can be pushed, claimed and settled, if the three verbs run one
  /// after the other.
  [[nodiscard]] double lifecycle() const;
};

class LoadGenerator {
 public:
  /// Called after `done` of `total` steps.
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

  LoadGenerator(Queue queue, const LoadShape& shape, Progress progress);

  /// Measures each verb on its own: pushes this many messages that are due at once, then claims all
  /// of them, then settles all of them. Errors: the first error that any client got;
  /// `unknown_outcome` after `stop`.
  Result<LoadRates> rates(std::uint64_t messages);

  /// Pushes messages at a steady rate, each due a quarter of a second after its push, and claims
  /// them as they fall due. Times are by this machine's clock. If the store cannot keep up, it gets
  /// as much load as it can take.
  Result<LatenessAtLoad> lateness(double per_second, std::chrono::milliseconds duration);

  /// Ends the current work soon. May be called from any thread.
  void stop() noexcept { stopped_.store(true); }

 private:
  class Clients;
  struct RateRun;
  struct LatenessRun;

  /// The work of one client. It ends when all is done, when another client has set `failed`, or
  /// after `stop`.
  Result<void> push_all(RateRun& run, const std::atomic<bool>& failed);
  Result<void> claim_all(RateRun& run, std::uint32_t client, const std::atomic<bool>& failed);
  Result<void> settle_all(RateRun& run, std::uint32_t client, const std::atomic<bool>& failed);
  Result<void> claim_due(LatenessRun& run, std::uint32_t client, const std::atomic<bool>& failed);
  Result<void> push_steadily(LatenessRun& run, const Clients& claimers,
                             const std::atomic<bool>& failed);

  Queue queue_;
  LoadShape shape_;
  Progress progress_;
  std::string payload_;
  std::atomic<bool> stopped_{false};
};

}  // namespace tarry::app
