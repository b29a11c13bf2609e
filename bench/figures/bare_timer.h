// BareTimer: measures how late the machine itself is. Its thread only waits for a timerfd at every
// millisecond, and records by how much it woke too late.
//
// Thread safety: one owner.
#pragma once

#include <atomic>
#include <thread>

#include "base/histogram.h"

namespace tarry::bench {

class BareTimer {
 public:
  BareTimer();
  ~BareTimer();
  BareTimer(const BareTimer&) = delete;
  BareTimer& operator=(const BareTimer&) = delete;

  /// Ends the thread. The values are microseconds.
  [[nodiscard]] const base::Histogram& stop();

 private:
  void run();

  std::atomic<bool> stopping_{false};
  base::Histogram lateness_;
  std::thread thread_;
};

}  // namespace tarry::bench
