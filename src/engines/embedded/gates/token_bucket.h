// TokenBucket: how many messages a rate permits now. A message takes one token. Tokens come back at
// the rate, up to the burst.
//
// Thread safety: none.
//
// Invariants
//  1. Between any two moments at most `burst` tokens were taken, plus those that came back in
//     between. The arithmetic is exact: no token comes too early, and no part of one is lost
//     unless the bucket is full. So a burst of 1 loses what is left of the millisecond in which a
//     token came: 3 a second are then one each 334 ms.
//  2. A new bucket is full.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tarry/settings.h>

namespace tarry::embedded {

class TokenBucket {
 public:
  /// Another rate keeps the tokens that `tokens` told last, up to its burst.
  void set(const DeliveryRate& rate) noexcept {
    if (rate == rate_) return;
    const bool had_none = rate_ == DeliveryRate();
    const std::int64_t tokens = had_none ? rate.burst : level_ / rate_.per.count();
    rate_ = rate;
    level_ = std::min<std::int64_t>(tokens, rate.burst) * rate.per.count();
  }
  [[nodiscard]] bool is_unlimited() const noexcept { return rate_ == DeliveryRate(); }

  /// `now_ms`: BOOTTIME. Time that goes back brings no tokens.
  [[nodiscard]] std::uint32_t tokens(std::int64_t now_ms) noexcept {
    fill(now_ms);
    return static_cast<std::uint32_t>(level_ / rate_.per.count());
  }
  /// Call `take` with at most as many as `tokens` has told.
  void take(std::uint32_t tokens) noexcept { level_ -= tokens * rate_.per.count(); }
  void put_back(std::uint32_t tokens) noexcept {
    level_ = std::min(level_ + tokens * rate_.per.count(), full());
  }
  /// When there is a token: `now_ms` or later.
  [[nodiscard]] std::int64_t next_ms(std::int64_t now_ms) noexcept {
    fill(now_ms);
    const std::int64_t missing = rate_.per.count() - level_;
    if (missing <= 0) return now_ms;
    return std::max(now_ms, filled_ms_ + (missing + rate_.count - 1) / rate_.count);
  }

 private:
  [[nodiscard]] std::int64_t full() const noexcept { return rate_.burst * rate_.per.count(); }
  void fill(std::int64_t now_ms) noexcept {
    if (now_ms <= filled_ms_) return;
    const std::int64_t elapsed = now_ms - filled_ms_;
    filled_ms_ = now_ms;
    const std::int64_t missing = full() - level_;
    level_ = elapsed > missing / rate_.count ? full() : level_ + elapsed * rate_.count;
  }

  DeliveryRate rate_;
  // A token is `per` units, and `count` units come in each millisecond. At most 10^6 times 7 days,
  // so nothing overflows.
  std::int64_t level_ = 0;
  std::int64_t filled_ms_ = 0;
};

}  // namespace tarry::embedded
