// A message as text for those it is handed to: one line of JSON, and a command's environment.
//
// Pure functions.
#pragma once

#include <map>
#include <string>

#include <tarry/queue.h>

namespace tarry::relay {

/// {"queue","id","key","attempt","due","due_ms","headers","payload"}, without a line end. Bytes
/// that are not UTF-8 go as NAME_base64.
[[nodiscard]] std::string json_line(const Delivery& delivery);

/// TARRY_QUEUE, TARRY_ID, TARRY_KEY (empty where it holds a NUL byte), TARRY_ATTEMPT, TARRY_DUE_MS.
[[nodiscard]] std::map<std::string, std::string> variables_for(const Delivery& delivery);

}  // namespace tarry::relay
