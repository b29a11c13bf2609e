// LatenessHistogram: how much later than they were due messages came, in buckets, as it is filled.
//
// Plain value. Not thread safe.
#pragma once

#include <tarry/metrics.h>
#include <tarry/time.h>

namespace tarry::core {

struct LatenessHistogram : tarry::LatenessHistogram {
  /// Less than nothing counts as nothing: two readings of a clock may cross.
  void record(Millis lateness) noexcept;
  void add(const LatenessHistogram& other) noexcept;
};

}  // namespace tarry::core
