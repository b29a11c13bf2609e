// LeaseEnd: until when a claim holds, as far as this process knows. The flow moves the end when the
// store extends the lease, or says that the lease is lost. A sending thread checks it just before
// it sends, because after the end another consumer may have the message, or the message may be
// cancelled.
//
// Thread safety: any thread.
#pragma once

#include <atomic>

#include "leases/moment.h"

namespace tarry::relay {

using leases::Moment;
using leases::moment_now;

class LeaseEnd {
 public:
  explicit LeaseEnd(Moment at) noexcept : at_ms_(at.count()) {}
  LeaseEnd(const LeaseEnd&) = delete;
  LeaseEnd& operator=(const LeaseEnd&) = delete;

  void move(Moment at) noexcept { at_ms_.store(at.count(), std::memory_order_relaxed); }
  /// Call `lose` when the store says that the lease is lost: it is then over, whatever the clock
  /// says.
  void lose() noexcept { move(Moment::min()); }
  [[nodiscard]] bool is_over(Moment now) const noexcept {
    return now.count() >= at_ms_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<Moment::rep> at_ms_;
};

}  // namespace tarry::relay
