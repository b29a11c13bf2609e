// Counters: what a worker's sessions count for one of its queues. Thread safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include <tarry/worker.h>

#include "base/histogram.h"
#include "worker/verdicts.h"

namespace tarry::worker {

class Counters {
 public:
  std::atomic<std::uint64_t> delivered{0};
  std::atomic<std::uint64_t> acked{0};
  std::atomic<std::uint64_t> retried{0};
  std::atomic<std::uint64_t> buried{0};
  std::atomic<std::uint64_t> released{0};
  std::atomic<std::uint64_t> stale{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> run_out{0};
  std::atomic<std::uint64_t> in_flight{0};
  std::atomic<std::uint64_t> waiting{0};

  void claimed(Millis lateness) {
    const std::lock_guard lock(mutex_);
    lateness_.record(lateness.count());
  }
  void threw(std::string_view what) {
    const std::lock_guard lock(mutex_);
    ++thrown_;
    last_error_ = fit_reason(what);
  }

  /// Adds these to a sum: counts to `stats`, lateness to `lateness`.
  void add_to(WorkerStats& stats, base::Histogram& lateness) const {
    stats.delivered += delivered;
    stats.acked += acked;
    stats.retried += retried;
    stats.buried += buried;
    stats.released += released;
    stats.stale += stale;
    stats.refused += refused;
    stats.run_out += run_out;
    stats.in_flight += in_flight;
    stats.waiting += waiting;
    const std::lock_guard lock(mutex_);
    stats.thrown += thrown_;
    if (!last_error_.empty()) stats.last_error = last_error_;
    lateness.merge(lateness_);
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t thrown_ = 0;
  std::string last_error_;
  base::Histogram lateness_;
};

}  // namespace tarry::worker
