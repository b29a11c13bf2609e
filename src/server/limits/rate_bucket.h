// RateBucket: limits how often something happens. It holds the permits of one second: after a pause
// a client may use all of them at once, and then one each time that the rate gives a new one.
//
// Its only state is the moment at which it is full again (the generic cell rate algorithm). So the
// rate may change at any time, and a bucket that has been left alone for a second is as good as a
// new one.
//
// Thread safety: none. The caller passes the time in.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tarry::limits {

class RateBucket {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr Clock::duration kBurst = std::chrono::seconds(1);  // how much fits in

  /// How long until there is a permit; 0: now. `rate`: permits a second, from 1 to 1,000,000.
  [[nodiscard]] Clock::duration wait(Clock::time_point now, std::uint64_t rate) const noexcept {
    const auto after = std::max(full_at_, now) + of_one(rate) - now;
    return std::max(after - kBurst, Clock::duration::zero());
  }
  /// Takes a permit if there is one. Otherwise the bucket stays empty.
  void take(Clock::time_point now, std::uint64_t rate) noexcept {
    full_at_ = std::min(std::max(full_at_, now) + of_one(rate), now + kBurst);
  }
  /// How many permits are taken and not replaced yet.
  [[nodiscard]] std::uint64_t taken(Clock::time_point now, std::uint64_t rate) const noexcept {
    if (is_full(now)) return 0;
    const auto one = of_one(rate);
    return static_cast<std::uint64_t>((full_at_ - now + one - Clock::duration(1)) / one);
  }
  [[nodiscard]] bool is_full(Clock::time_point now) const noexcept { return full_at_ <= now; }
  [[nodiscard]] bool is_unused() const noexcept { return full_at_ == Clock::time_point(); }

 private:
  /// How long it takes until a permit is replaced.
  [[nodiscard]] static Clock::duration of_one(std::uint64_t rate) noexcept {
    return kBurst / static_cast<Clock::rep>(rate);
  }

  Clock::time_point full_at_;
};

}  // namespace tarry::limits
