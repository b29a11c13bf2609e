// A message's headers on the wire:
//
//   "headers":     {"name":"value"}
//   "header_list": [{"name","value"|"value_base64"}], in order
//
// The list is written only if the object cannot express all headers, because a name occurs twice or
// a value is not UTF-8. The object then has the first text value of each name. Before 0.1,
// "headers" itself expressed these cases, as [[name, value]] and {"base64":"..."}. Exports from
// that time can still be read.
//
// Thread safety: pure functions.
#pragma once

#include <tarry/result.h>

#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"

namespace tarry::wire {

/// Writes both fields into a message's object.
void write_headers(JsonWriter& out, const Headers& headers);

/// The two fields, read from an object before its `finish`. Valid until the document is destroyed.
struct HeaderFields {
  const boost::json::value* named = nullptr;
  const boost::json::array* list = nullptr;

  [[nodiscard]] bool given() const noexcept { return named != nullptr || list != nullptr; }
};
[[nodiscard]] HeaderFields take_headers(Fields& fields);

/// If the list is not empty, it has all headers, and must contain everything that "headers" has.
/// Error: `invalid_argument`.
[[nodiscard]] Result<Headers> read_headers(const HeaderFields& fields);

}  // namespace tarry::wire
