// Ladder: makes any delay out of fixed ones. Rung i is a queue whose messages all wait the same
// time, base << i, so no message waits behind a longer one. A delay is a number of base rungs
// (units). Its message visits the rungs whose bits are set in that number, the longest first: with
// a base of 100 ms, 500 ms are 5 units, bits 101, so 400 ms on rung 2 and 100 ms on rung 0.
//
// A broker counts whole milliseconds, so a rung may end up to 1 ms early. The number of units
// allows for that: a message never leaves the ladder before its delay is over.
//
// Thread safety: an immutable value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::rabbitmq {

class Ladder {
 public:
  /// With 100 ms at the bottom the ladder is 621 days long.
  static constexpr int kRungs = 29;
  static constexpr std::int64_t kDefaultBaseMs = 100;
  static constexpr std::int64_t kMostBaseMs = 10'000;

  /// `base_ms`: 1 to kMostBaseMs.
  explicit constexpr Ladder(std::int64_t base_ms = kDefaultBaseMs) noexcept : base_ms_(base_ms) {}

  [[nodiscard]] constexpr std::int64_t base_ms() const noexcept { return base_ms_; }
  /// How long a message waits on that rung, 0 to kRungs - 1.
  [[nodiscard]] constexpr std::int64_t wait_ms(int rung) const noexcept { return base_ms_ << rung; }
  /// The longest delay, in ms.
  [[nodiscard]] std::int64_t top_ms() const noexcept;

  /// The delay in base rungs, rounded up. Empty if it is over the top.
  [[nodiscard]] std::optional<std::uint32_t> units(std::int64_t delay_ms) const noexcept;

  /// The rung where a message with that delay begins: the highest bit. `units` is not 0.
  [[nodiscard]] static int first_rung(std::uint32_t units) noexcept;
  /// "0.0.1. ... .1.QUEUE": a word for each bit, the highest first.
  [[nodiscard]] static std::string routing_key(std::uint32_t units, std::string_view queue);
  /// A topic pattern of the routing keys in which this rung's bit is `bit`.
  [[nodiscard]] static std::string pattern(int rung, bool bit);
  /// A topic pattern of that queue's routing keys.
  [[nodiscard]] static std::string pattern(std::string_view queue);

 private:
  std::int64_t base_ms_;
};

/// An `invalid_argument` that names the delay and the top.
[[nodiscard]] Error over_the_top(const Ladder& ladder, std::int64_t delay_ms);

}  // namespace tarry::rabbitmq
