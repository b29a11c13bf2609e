// Arrival: a message that came to an intake, in the form in which it will be pushed. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tarry/message.h>
#include <tarry/time.h>

namespace tarry::relay {

struct Arrival {
  std::uint64_t tag = 0;     // identifies it to its source; rising, for this connection only
  bool redelivered = false;  // it arrived before, and may have been pushed then
  std::string key;           // empty: the store makes one
  std::string payload;
  Headers headers;
  Due due;
  std::optional<std::string> fault;  // why it cannot be pushed
};

}  // namespace tarry::relay
