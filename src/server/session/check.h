// Check: whether an error of a request is about the engine rather than about the one request.
#pragma once

#include <cstdint>

namespace tarry::session {

enum class Check : std::uint8_t {
  none,
  health,     // /healthz: and an answer says that nothing is wrong
  readiness,  // /readyz: the answer only shows that the store answers
};

}  // namespace tarry::session
