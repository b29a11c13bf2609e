// Backoff: which errors of a store pass by themselves, and how long to wait before the store is
// asked again.
#pragma once

#include <algorithm>
#include <chrono>

#include <tarry/result.h>

#include "core/engine_parts/away.h"

namespace tarry::leases {

/// True if the store may accept the same request a little later.
[[nodiscard]] constexpr bool is_passing(ErrorCode code) noexcept {
  return core::is_away(code) || code == ErrorCode::no_space;
}

/// Doubles from 100 ms to 5 s. Not thread safe.
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

}  // namespace tarry::leases
