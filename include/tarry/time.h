// Times in tarry: UTC, milliseconds. Finer times are rounded up, never down, so that nothing is
// delivered early.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace tarry {

using Millis = std::chrono::milliseconds;
/// A moment: milliseconds since 1970-01-01T00:00:00Z.
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

namespace detail {
/// Rounds up to milliseconds. A duration too long for 64 bits becomes the longest possible one,
/// which the store refuses.
template <typename Rep, typename Period>
[[nodiscard]] constexpr std::int64_t ceil_millis(std::chrono::duration<Rep, Period> d) noexcept {
  using Wide = std::chrono::duration<long double, std::milli>;
  constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max() / 4;
  const long double wide = std::chrono::duration_cast<Wide>(d).count();
  // The condition has a `!`, so that a NaN duration saturates too.
  if (!(wide < static_cast<long double>(kLimit))) return kLimit;
  if (wide < -static_cast<long double>(kLimit)) return -kLimit;
  return static_cast<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(d).count());
}
}  // namespace detail

/// When a message falls due: at a moment, or after a delay that the store adds to its own clock.
/// The default is now.
class Due {
 public:
  constexpr Due() noexcept = default;

  [[nodiscard]] static constexpr Due after(Millis delay) noexcept { return {true, delay.count()}; }
  [[nodiscard]] static constexpr Due at(Time moment) noexcept {
    return {false, moment.time_since_epoch().count()};
  }

  [[nodiscard]] constexpr bool is_relative() const noexcept { return relative_; }
  /// The delay, or the moment since 1970, in milliseconds.
  [[nodiscard]] constexpr std::int64_t millis() const noexcept { return millis_; }

  friend constexpr bool operator==(const Due&, const Due&) noexcept = default;

 private:
  constexpr Due(bool relative, std::int64_t millis) noexcept
      : millis_(millis), relative_(relative) {}

  std::int64_t millis_ = 0;
  bool relative_ = true;
};

/// Due this long after the store accepts the push: `tarry::in(30min)`.
template <typename Rep, typename Period>
[[nodiscard]] constexpr Due in(std::chrono::duration<Rep, Period> delay) noexcept {
  return Due::after(Millis(detail::ceil_millis(delay)));
}

/// Due at this moment; a moment in the past means at once.
template <typename Duration>
[[nodiscard]] constexpr Due at(std::chrono::sys_time<Duration> moment) noexcept {
  return Due::at(Time(Millis(detail::ceil_millis(moment.time_since_epoch()))));
}

}  // namespace tarry
