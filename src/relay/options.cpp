#include "relay/options.h"

#include <algorithm>

#include "base/text/text.h"
#include "core/limits.h"
#include "core/rules/queue_pattern.h"
#include "core/rules/validation.h"

namespace tarry::relay {
Result<void> check(const RelayOptions& options) {
  if (auto error = core::check_number("the number of queues", options.queues.size(), 1,
                                      core::kMaxClaimQueues)) {
    return *std::move(error);
  }
  for (const std::string& queue : options.queues) {
    if (auto error = core::check_queue_pattern(queue)) return *std::move(error);
    if (std::ranges::count(options.queues, queue) > 1) {
      return Error{ErrorCode::invalid_argument, "queue " + base::quoted(queue) + " is named twice"};
    }
  }
  for (const core::MaybeError& error :
       {core::check_number("in_flight", options.in_flight, 1, kMaxInFlight),
        core::check_number("batch", options.batch, 1, core::kMaxBatch),
        core::check_number("rate", options.rate, 0, kMaxRate),
        core::check_number("max_attempts", options.max_attempts.value_or(1), 1, core::kMaxAttempts),
        core::check_span("drain", options.drain, 0, Millis(std::chrono::hours(1)).count()),
        core::check_lease(options.lease)}) {
    if (error) return *error;
  }
  const BreakerOptions& breaker = options.breaker;
  if (breaker.failures < 1 || breaker.least < Millis(1) || breaker.most < breaker.least) {
    return Error{ErrorCode::invalid_argument,
                 "the breaker needs 1 failure or more, and pauses of 1ms or more, the least first"};
  }
  return {};
}

}  // namespace tarry::relay
