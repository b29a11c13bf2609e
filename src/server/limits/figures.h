// Figures: a server's limits, how much of them is used, and what was refused, for /metrics.
//
// Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "server/limits/limit.h"

namespace tarry::limits {

/// Counts a token's refusals by its name. A server has at most identity::kMaxTokens of them.
using TokenRefusals = std::map<std::string, Refusals, std::less<>>;

struct Figures {
  struct One {
    ByScope limit;
    std::uint64_t used = 0;  // by all clients together
  };
  std::array<One, kLimits.size()> of = {};
  Refusals refusals = {};
  TokenRefusals of_tokens = {};
};

}  // namespace tarry::limits
