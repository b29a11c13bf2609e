// Check: what a successful answer to a request proves about the engine as a whole.
#pragma once

#include <cstdint>

namespace tarry::session {

enum class Check : std::uint8_t {
  none,
  health,     // /healthz: that nothing is wrong
  readiness,  // /readyz: only that the store answers
};

}  // namespace tarry::session
