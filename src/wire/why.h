// Why a message has not been delivered, on the wire.
//
//   GET .../why?key=  (or key_base64=)
//   {"cause","text","message":{message without payload},"queue":{as in GET /v1/queues/NAME}}
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include <tarry/why.h>

#include "wire/json/json_writer.h"

namespace tarry::wire {

/// Writes the members of the answer's object.
void write_why(JsonWriter& out, const Why& why);

[[nodiscard]] std::string encode_why(const Why& why);

}  // namespace tarry::wire
