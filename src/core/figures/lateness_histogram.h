// LatenessHistogram: counts claims by their lateness, in buckets.
//
// Plain value. Not thread safe.
#pragma once

#include <tarry/metrics.h>
#include <tarry/time.h>

namespace tarry::core {

struct LatenessHistogram : tarry::LatenessHistogram {
  /// A negative lateness counts as 0, because two readings of a clock may cross.
  void record(Millis lateness) noexcept;
  void add(const LatenessHistogram& other) noexcept;
};

}  // namespace tarry::core
