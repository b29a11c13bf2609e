// A server's own state, and its test clock, on the wire.
//
//   about:   {"service":"tarry","version","description","openapi","health","readiness","console"?}
//   health:  {"status":"ok","service":"tarry","version","engine","moves","durable",...}
//   advance, suspend: {"by":"31d"} -> {"advanced_ms":N}
//   step: {"by":"-1h"} -> {"stepped_ms":N}
//
// Thread safety: pure functions and plain values.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>
#include <tarry/time.h>

#include "core/engine.h"

namespace tarry::wire {

struct Health {
  std::string version;
  core::Capabilities capabilities;
};

/// The server's description, and where to read more. It is the same for every store.
/// `has_console`: the program serves the console.
[[nodiscard]] std::string encode_about(std::string_view version, bool has_console);
[[nodiscard]] std::string encode_health(const Health& health);
/// The answer of /readyz if the store answers.
[[nodiscard]] std::string encode_ready();
/// Errors: `invalid_argument` if it is not a tarry server's answer.
[[nodiscard]] Result<Health> decode_health(std::string_view body);

/// Errors: `invalid_argument`, including for a value below 0 ms or above 100 years.
[[nodiscard]] Result<Millis> decode_advance(std::string_view body);
[[nodiscard]] std::string encode_advanced(Millis by);
/// The value may be negative. Errors: `invalid_argument`, including for a value above 100 years in
/// either direction.
[[nodiscard]] Result<Millis> decode_step(std::string_view body);
[[nodiscard]] std::string encode_stepped(Millis by);

}  // namespace tarry::wire
