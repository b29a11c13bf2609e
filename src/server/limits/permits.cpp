#include "server/limits/permits.h"

#include <chrono>
#include <string>

namespace tarry::limits {

std::optional<Reached> take_permits(std::span<const Counting> buckets,
                                    RateBucket::Clock::time_point now, bool may_refuse) {
  const Counting* empty = nullptr;
  RateBucket::Clock::duration longest{0};
  for (const Counting& one : buckets) {
    if (!may_refuse || one.bucket == nullptr || one.rate == 0) continue;
    const auto wait = one.bucket->wait(now, one.rate);
    if (wait <= longest) continue;
    longest = wait;
    empty = &one;
  }
  if (empty != nullptr) {
    return Reached{Limit::requests, empty->scope, empty->rate, std::string(empty->who),
                   std::chrono::ceil<std::chrono::seconds>(longest)};
  }
  for (const Counting& one : buckets) {
    if (one.bucket != nullptr && one.rate != 0) one.bucket->take(now, one.rate);
  }
  return std::nullopt;
}

}  // namespace tarry::limits
