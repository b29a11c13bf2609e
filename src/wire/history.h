// The history of a message, on the wire: the answer of GET .../history?key=, and the member
// "history" of a message, if a get asks for it.
//
//   {"limit":20,"events":[{"event":"claimed","at","at_ms","attempt","due","due_ms","reason","by"}]}
//   fields that do not apply are left out
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include <tarry/history.h>

#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"

namespace tarry::wire {

/// Writes the members of the history's object.
void write_history(JsonWriter& out, const MessageHistory& history);

[[nodiscard]] std::string encode_history(const MessageHistory& history);
[[nodiscard]] Result<MessageHistory> decode_history(std::string_view body);
[[nodiscard]] MaybeError read_history(const boost::json::value& value, MessageHistory& history);

}  // namespace tarry::wire
