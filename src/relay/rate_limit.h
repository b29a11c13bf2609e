// RateLimit: a token bucket. It fills at a steady rate and holds the messages of a tenth of a
// second, at least one. `take` reserves messages, and `give_back` returns those that were not sent.
//
// Pure state; moments are passed in. Not thread safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "relay/breaker.h"

namespace tarry::relay {

class RateLimit {
 public:
  /// Messages a second; 0: no limit.
  explicit RateLimit(std::uint32_t rate) noexcept
      : rate_(rate), most_(std::max<std::int64_t>(1, rate / 10) * kWhole), level_(most_) {}

  void advance(Moment now) noexcept {
    const std::int64_t passed = std::min<std::int64_t>((now - at_).count(), 3'600'000);
    at_ = std::max(at_, now);
    if (passed > 0) level_ = std::min(most_, level_ + passed * rate_);
  }
  [[nodiscard]] std::uint32_t available() const noexcept {
    if (rate_ == 0) return std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::max<std::int64_t>(0, level_ / kWhole));
  }
  /// When the next message may be taken.
  [[nodiscard]] Moment next() const noexcept {
    if (rate_ == 0 || level_ >= kWhole) return at_;
    return at_ + Moment((kWhole - level_ + rate_ - 1) / rate_);
  }
  void take(std::uint32_t count) noexcept {
    if (rate_ != 0) level_ -= std::int64_t{count} * kWhole;
  }
  void give_back(std::uint32_t count) noexcept {
    if (rate_ != 0) level_ = std::min(most_, level_ + std::int64_t{count} * kWhole);
  }

 private:
  static constexpr std::int64_t kWhole = 1'000;  // one message, in units of (rate x milliseconds)

  std::int64_t rate_;
  std::int64_t most_;
  std::int64_t level_;
  Moment at_{0};
};

}  // namespace tarry::relay
