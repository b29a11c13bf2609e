// Check: says what a request's answer tells about the engine, besides about the request itself.
#pragma once

#include <cstdint>

namespace tarry::session {

enum class Check : std::uint8_t {
  none,
  health,     // /healthz: an answer without an error means that nothing is wrong
  readiness,  // /readyz: the answer only shows that the store answers
};

}  // namespace tarry::session
