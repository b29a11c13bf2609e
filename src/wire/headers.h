// A message's headers on the wire: an object of name -> value; or, where a name occurs twice, an
// array of [name, value]. A value that is not UTF-8 is {"base64":"..."}.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

#include "wire/json_reader.h"
#include "wire/json_writer.h"

namespace tarry::wire {

void write_headers(JsonWriter& out, const Headers& headers);
/// Errors: as core::encode_headers, and `invalid_argument` for another form.
[[nodiscard]] Result<Headers> read_headers(const boost::json::value& value);

}  // namespace tarry::wire
