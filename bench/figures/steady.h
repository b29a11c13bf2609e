// Steady: messages that fall due at a steady rate, and their lateness when the consumer has them.
// It is measured by the consumer's wall clock, not by the store's own report.
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

/// Lateness in microseconds, from a message's due time until the consumer has it. Meanwhile all
/// messages are pushed, claimed (by waiting claims of up to 1,000) and settled.
[[nodiscard]] base::Histogram lateness_of(const Queue& queue, const Steady& load);

}  // namespace tarry::bench
