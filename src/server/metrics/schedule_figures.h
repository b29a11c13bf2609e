// ScheduleFigures: the figures in /metrics about the schedules that the server runs.
//
// Plain value.
#pragma once

#include <cstdint>

namespace tarry::metrics {

struct ScheduleFigures {
  bool up = true;              // false: the store cannot be reached
  std::uint64_t pushed = 0;    // occurrences
  std::uint64_t repeated = 0;  // occurrences that had been pushed already
  std::uint64_t skipped = 0;   // missed occurrences that were not pushed
  std::uint64_t failed = 0;    // turns that failed, and are tried again
};

}  // namespace tarry::metrics
