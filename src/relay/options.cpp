#include "relay/options.h"

#include <algorithm>

#include "base/text.h"
#include "core/limits.h"
#include "core/queue_pattern.h"
#include "core/validation.h"

namespace tarry::relay {
namespace {

std::optional<Error> out_of_range(const char* what, std::uint64_t value, std::uint64_t least,
                                  std::uint64_t most) {
  if (value >= least && value <= most) return std::nullopt;
  return Error{ErrorCode::invalid_argument, std::string(what) + " " + std::to_string(value) +
                                                " must be from " + std::to_string(least) + " to " +
                                                std::to_string(most)};
}

}  // namespace

Result<void> check(const RelayOptions& options) {
  if (options.queues.empty() || options.queues.size() > core::kMaxClaimQueues) {
    return *out_of_range("the number of queues", options.queues.size(), 1, core::kMaxClaimQueues);
  }
  for (const std::string& queue : options.queues) {
    if (auto error = core::check_queue_pattern(queue)) return *std::move(error);
    if (std::ranges::count(options.queues, queue) > 1) {
      return Error{ErrorCode::invalid_argument, "queue " + base::quoted(queue) + " is named twice"};
    }
  }
  if (auto e = out_of_range("in_flight", options.in_flight, 1, kMaxInFlight)) return *std::move(e);
  if (auto e = out_of_range("batch", options.batch, 1, core::kMaxBatch)) return *std::move(e);
  if (auto e = out_of_range("rate", options.rate, 0, kMaxRate)) return *std::move(e);
  if (auto e =
          out_of_range("max_attempts", options.max_attempts.value_or(1), 1, core::kMaxAttempts)) {
    return *std::move(e);
  }
  if (options.drain < Millis(0) || options.drain > std::chrono::hours(1)) {
    return Error{
        ErrorCode::invalid_argument,
        "drain " + base::format_duration_ms(options.drain.count()) + " must be from 0s to 1h"};
  }
  const BreakerOptions& breaker = options.breaker;
  if (breaker.failures < 1 || breaker.least < Millis(1) || breaker.most < breaker.least) {
    return Error{ErrorCode::invalid_argument,
                 "the breaker needs 1 failure or more, and pauses of 1ms or more, the least first"};
  }
  if (auto error = core::check_lease(options.lease)) return *std::move(error);
  return {};
}

}  // namespace tarry::relay
