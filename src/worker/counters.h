// Counters: the counts of all runs of a worker on one of its queues. Thread safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include <tarry/worker.h>

#include "base/histogram.h"
#include "core/claimed.h"
#include "leases/book.h"
#include "leases/settlement.h"

namespace tarry::worker {

class Counters {
 public:
  std::atomic<std::uint64_t> delivered{0};
  std::atomic<std::uint64_t> in_flight{0};
  std::atomic<std::uint64_t> waiting{0};

  void claimed(const core::ClaimReply& reply) {
    const std::lock_guard lock(mutex_);
    for (const core::ClaimedItem& item : reply.items) {
      if (const auto late = core::lateness_ms(item)) lateness_.record(*late);
    }
  }
  void ended(const leases::Counts& counts) {
    if (counts == leases::Counts()) return;
    const std::lock_guard lock(mutex_);
    ended_ += counts;
  }
  void threw(std::string_view what) {
    const std::lock_guard lock(mutex_);
    ++thrown_;
    last_error_ = leases::fit_reason(what);
  }

  /// Adds the counts to `stats`, and the lateness to `lateness`.
  void add_to(WorkerStats& stats, base::Histogram& lateness) const {
    stats.delivered += delivered;
    stats.in_flight += in_flight;
    stats.waiting += waiting;
    const std::lock_guard lock(mutex_);
    stats.acked += ended_.acked;
    stats.retried += ended_.retried;
    stats.buried += ended_.buried;
    stats.released += ended_.released;
    stats.stale += ended_.stale;
    stats.refused += ended_.refused;
    stats.run_out += ended_.run_out;
    stats.thrown += thrown_;
    if (!last_error_.empty()) stats.last_error = last_error_;
    lateness.merge(lateness_);
  }

 private:
  mutable std::mutex mutex_;
  leases::Counts ended_;
  std::uint64_t thrown_ = 0;
  std::string last_error_;
  base::Histogram lateness_;
};

}  // namespace tarry::worker
