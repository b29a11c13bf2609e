// RedisBackoff: how long to wait before the next attempt to connect. The wait doubles from 100 ms
// to 5 s, plus or minus a random quarter, so that many clients do not reconnect at the same moment.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace tarry::net {

class RedisBackoff {
 public:
  using Clock = std::chrono::steady_clock;

  RedisBackoff() : random_(static_cast<unsigned>(Clock::now().time_since_epoch().count())) {}

  void succeeded() noexcept { delay_ = {}; }
  /// The time to wait now.
  Clock::duration failed() {
    constexpr std::chrono::milliseconds kFirst{100};
    constexpr std::chrono::milliseconds kLast{5'000};
    delay_ = std::clamp(2 * delay_, kFirst, kLast);
    const auto spread = static_cast<std::int64_t>(random_() % 512);
    return delay_ * 3 / 4 + std::chrono::milliseconds(delay_.count() * spread / 1024);
  }

 private:
  std::chrono::milliseconds delay_{0};
  std::minstd_rand random_;
};

}  // namespace tarry::net
