// StoreClock: an estimate of Redis's clock without a request. It learns Redis's time when the store
// is opened, after each new connection, and about once a second from the sweep.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/threads/boot_clock.h"
#include "timing/clock.h"

namespace tarry::redis {

class StoreClock {
 public:
  /// `test_clock`: if not null, used instead of Redis's clock.
  explicit StoreClock(const timing::Clock* test_clock) : test_clock_(test_clock) {}

  /// Call `told` when Redis has just told its time.
  void told(std::int64_t now_ms) noexcept {
    told_ms_ = now_ms;
    told_at_ = base::BootClock::now();
  }
  /// Milliseconds since 1970.
  [[nodiscard]] std::int64_t now_ms() const noexcept {
    if (test_clock_ != nullptr) return test_clock_->now().realtime_ms;
    const auto since = base::BootClock::now() - told_at_;
    return told_ms_ + std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  }

 private:
  const timing::Clock* test_clock_;
  std::int64_t told_ms_ = 0;
  base::BootClock::time_point told_at_ = base::BootClock::now();
};

}  // namespace tarry::redis
