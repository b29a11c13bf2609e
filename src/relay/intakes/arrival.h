// Arrival: a message that came to an intake, as it is to be pushed. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tarry/message.h>
#include <tarry/time.h>

namespace tarry::relay {

struct Arrival {
  std::uint64_t tag = 0;     // names it to its source, rising, while the connection lives
  bool redelivered = false;  // it was here before, and may have been pushed
  std::string key;           // empty: the store makes one
  std::string payload;
  Headers headers;
  Due due;
  std::optional<std::string> fault;  // why it cannot be pushed
};

}  // namespace tarry::relay
