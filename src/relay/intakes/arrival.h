// Arrival: a message that came to an intake, in the form in which it will be pushed. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tarry/message.h>
#include <tarry/time.h>

namespace tarry::relay {

struct Arrival {
  // Identifies it to its source; tags rise, and are valid for this connection only.
  std::uint64_t tag = 0;
  bool redelivered = false;  // delivered before, and perhaps pushed then
  std::string key;           // empty: the store makes one
  std::string payload;
  Headers headers;
  Due due;
  std::optional<std::string> fault;  // why it cannot be pushed
};

}  // namespace tarry::relay
