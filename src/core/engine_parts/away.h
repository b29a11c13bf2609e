// Whether a store is unreachable: one rule for every part that waits for a store to come back.
#pragma once

#include <tarry/result.h>

namespace tarry::core {

/// True if the store cannot be reached, or if the connection broke before the answer came. The
/// engine itself works: restarting the process would not help, and the same request may succeed
/// once the store is back. A pure function.
[[nodiscard]] constexpr bool is_away(ErrorCode code) noexcept {
  return code == ErrorCode::unavailable || code == ErrorCode::unknown_outcome;
}

}  // namespace tarry::core
