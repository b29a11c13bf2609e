// Permits: lets a request begin if no bucket that counts it is empty.
//
// Thread safety: none. The caller passes the time in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "server/limits/limit.h"
#include "server/limits/rate_bucket.h"

namespace tarry::limits {

/// A bucket that counts a request.
struct Counting {
  Scope scope = Scope::total;
  RateBucket* bucket = nullptr;  // null: does not count this request
  std::uint64_t rate = 0;        // 0: no limit
  std::string_view who = {};     // as in Reached
};

/// Takes a permit from every bucket, or, if one of them is empty and `may_refuse`, from none: so
/// what is refused for one reason uses up no other permits. Returns the limit that takes longest to
/// give a permit.
[[nodiscard]] std::optional<Reached> take_permits(std::span<const Counting> buckets,
                                                  RateBucket::Clock::time_point now,
                                                  bool may_refuse);

}  // namespace tarry::limits
