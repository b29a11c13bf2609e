// Backoff: how long to leave a store alone that is not available. Doubles from 100 ms to 5 s.
// Not thread safe.
#pragma once

#include <algorithm>
#include <chrono>

namespace tarry::worker {

class Backoff {
 public:
  [[nodiscard]] std::chrono::milliseconds next() noexcept {
    const auto now = next_;
    next_ = std::min(next_ * 2, kMost);
    return now;
  }
  void reset() noexcept { next_ = kLeast; }

 private:
  static constexpr std::chrono::milliseconds kLeast{100};
  static constexpr std::chrono::milliseconds kMost{5'000};
  std::chrono::milliseconds next_ = kLeast;
};

}  // namespace tarry::worker
