// Times as scripts answer them: ms since 1970, whole numbers that a double holds exactly. Other
// values are limited to that range, so that differences between times cannot overflow, whatever a
// server says.
//
// Pure functions.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "net/redis/protocol/redis_reply.h"

namespace tarry::redis {

inline constexpr std::int64_t kMaxToldTime = std::int64_t{1} << 53;

[[nodiscard]] inline std::int64_t told_time(net::RedisView view) noexcept {
  return std::clamp<std::int64_t>(view.integer(), 0, kMaxToldTime);
}

/// The due time in a score. The score also has ".5" if the message has a past.
[[nodiscard]] inline std::int64_t due_of_score(std::string_view score) noexcept {
  std::int64_t due = 0;
  (void)std::from_chars(score.data(), score.data() + score.size(), due);
  return std::clamp<std::int64_t>(due, 0, kMaxToldTime);
}

}  // namespace tarry::redis
