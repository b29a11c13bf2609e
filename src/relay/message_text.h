// A message as text for its receiver: as one line of JSON, or as the environment of a command.
//
// Pure functions.
#pragma once

#include <map>
#include <string>

#include <tarry/queue.h>

namespace tarry::relay {

/// {"queue","id","key","attempt","due","due_ms","headers","payload"}, without a line end. A field
/// whose bytes are not UTF-8 is called NAME_base64 instead.
[[nodiscard]] std::string json_line(const Delivery& delivery);

/// TARRY_QUEUE, TARRY_ID, TARRY_KEY (empty if it contains a NUL byte), TARRY_ATTEMPT, TARRY_DUE_MS.
/// TRACEPARENT and TRACESTATE, which are empty if the message has no valid header `traceparent`.
[[nodiscard]] std::map<std::string, std::string> variables_for(const Delivery& delivery);

}  // namespace tarry::relay
