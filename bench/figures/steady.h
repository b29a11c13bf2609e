// Steady: messages that fall due at a steady rate, and how late each is in the hands of whoever
// claims it: by the wall clock there, not by what the store says of itself.
#pragma once

#include <cstdint>

#include <tarry/store.h>

#include "base/histogram.h"

namespace tarry::bench {

struct Steady {
  std::uint64_t per_second = 20'000;
  std::int64_t seconds = 5;
  std::int64_t delay_ms = 500;  // how long before its due time a message is pushed
  std::size_t payload = 100;
};

/// Microseconds from due to in hand. All are pushed, claimed (waiting, up to 1,000 at a time) and
/// settled meanwhile.
[[nodiscard]] base::Histogram lateness_of(const Queue& queue, const Steady& load);

}  // namespace tarry::bench
