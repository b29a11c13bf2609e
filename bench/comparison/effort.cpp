#include "comparison/measures.h"

namespace tarry::bench {

const Effort& full_effort() {
  static const Effort effort{.rate_messages = 200'000,
                             .box_ms = 2'000,
                             .rounded_ms = 1'100,
                             .per_second = 5'000,
                             .push_ms = 10'000,
                             .delay_ms = 10'000,
                             .grace_ms = 5'000,
                             .pending = {10'000, 100'000, 1'000'000},
                             .fill_ms = 45'000,
                             .among = 2'000,
                             .kill_per_second = 2'000,
                             .kill_delay_ms = 1'000,
                             .kills = 6,
                             .kill_after_ms = 1'000,
                             .kill_lease_ms = 2'000,
                             .kill_idle_ms = 6'000,
                             .long_ms = 5'000,
                             .longest_s = 400};
  return effort;
}

const Effort& quick_effort() {
  static const Effort effort{.rate_messages = 5'000,
                             .box_ms = 400,
                             .rounded_ms = 0,
                             .per_second = 5'000,
                             .push_ms = 1'000,
                             .delay_ms = 1'200,
                             .grace_ms = 1'500,
                             .pending = {1'000, 5'000, 20'000},
                             .fill_ms = 800,
                             .among = 500,
                             .kill_per_second = 2'000,
                             .kill_delay_ms = 400,
                             .kills = 2,
                             .kill_after_ms = 500,
                             .kill_lease_ms = 1'000,
                             .kill_idle_ms = 2'200,
                             .long_ms = 1'200,
                             .longest_s = 60};
  return effort;
}

}  // namespace tarry::bench
