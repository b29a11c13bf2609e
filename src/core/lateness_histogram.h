// LatenessHistogram: how much later than they were due messages came, in buckets. A bucket counts
// what is not above its bound.
//
// Plain value. Not thread safe.
#pragma once

#include <array>
#include <cstdint>

#include <tarry/time.h>

namespace tarry::core {

struct LatenessHistogram {
  static constexpr std::array<double, 16> kBoundsSeconds = {
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300};

  /// Less than nothing counts as nothing: two readings of a clock may cross.
  void record(Millis lateness) noexcept;
  void add(const LatenessHistogram& other) noexcept;

  std::array<std::uint64_t, kBoundsSeconds.size() + 1> counts{};  // the last: above all bounds
  double sum_seconds = 0;
};

}  // namespace tarry::core
