// What a server says of itself, and its test clock, on the wire.
//
//   about:   {"service":"tarry","version","description","openapi","health","readiness"}
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

/// What the server is, and where to read on; the same of every store.
[[nodiscard]] std::string encode_about(std::string_view version);
[[nodiscard]] std::string encode_health(const Health& health);
/// What /readyz says of a store that answers.
[[nodiscard]] std::string encode_ready();
/// Errors: `invalid_argument` for what is no tarry server's answer.
[[nodiscard]] Result<Health> decode_health(std::string_view body);

/// Errors: `invalid_argument`, also for less than 0 ms and more than 100 years.
[[nodiscard]] Result<Millis> decode_advance(std::string_view body);
[[nodiscard]] std::string encode_advanced(Millis by);
/// Of either sign. Errors: `invalid_argument`, also for more than 100 years either way.
[[nodiscard]] Result<Millis> decode_step(std::string_view body);
[[nodiscard]] std::string encode_stepped(Millis by);

}  // namespace tarry::wire
