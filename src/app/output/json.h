// Writes the answers of the public API as JSON, in the same shapes as over HTTP
// (docs/reference/command-line.md), and times in a form for people.
//
// Each `write_fields` writes into an object that the caller has opened.
// Thread safety: pure functions.
#pragma once

#include <string>

#include <tarry/message.h>
#include <tarry/queue.h>

#include "wire/json/json_writer.h"

namespace tarry::app {

void write_fields(wire::JsonWriter& json, const Pushed& pushed);
void write_fields(wire::JsonWriter& json, const Answer& answer);
void write_fields(wire::JsonWriter& json, const Delivery& delivery);

/// `2026-11-20T10:00:00.000Z`
[[nodiscard]] std::string time_text(Time time);

}  // namespace tarry::app
