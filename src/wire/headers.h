// A message's headers on the wire:
//
//   "headers":     {"name":"value"}
//   "header_list": [{"name","value"|"value_base64"}], in order
//
// The list stands beside the object only if the object cannot say it all: if a name occurs twice,
// or a value is not UTF-8. The object then has the first text value of each name. Until 0.1
// "headers" said this itself, as [[name, value]] and {"base64":"..."}; exports of that time are
// still read.
//
// Thread safety: pure functions.
#pragma once

#include <tarry/result.h>

#include "wire/json_reader.h"
#include "wire/json_writer.h"

namespace tarry::wire {

/// Both fields, within a message's object.
void write_headers(JsonWriter& out, const Headers& headers);

/// What an object says of headers, taken before it is finished. Good until the document goes.
struct HeaderFields {
  const boost::json::value* named = nullptr;
  const boost::json::array* list = nullptr;

  [[nodiscard]] bool given() const noexcept { return named != nullptr || list != nullptr; }
};
[[nodiscard]] HeaderFields take_headers(Fields& fields);

/// A list that is not empty has all headers, and whatever "headers" says must be in it. Errors:
/// `invalid_argument`.
[[nodiscard]] Result<Headers> read_headers(const HeaderFields& fields);

}  // namespace tarry::wire
