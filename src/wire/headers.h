// A message's headers on the wire:
//
//   "headers":     {"name":"value"}
//   "header_list": [{"name","value"|"value_base64"}], in order
//
// The list is added only if the object cannot hold all headers: if a name occurs twice, or a value
// is not UTF-8. The object then has the first text value of each name. Before 0.1 "headers" itself
// held such values, as [[name, value]] and {"base64":"..."}; exports from that time can still
// be read.
//
// Thread safety: pure functions.
#pragma once

#include <tarry/result.h>

#include "wire/json_reader.h"
#include "wire/json_writer.h"

namespace tarry::wire {

/// Both fields, within a message's object.
void write_headers(JsonWriter& out, const Headers& headers);

/// The headers in an object, read before it is finished. Valid until the document is destroyed.
struct HeaderFields {
  const boost::json::value* named = nullptr;
  const boost::json::array* list = nullptr;

  [[nodiscard]] bool given() const noexcept { return named != nullptr || list != nullptr; }
};
[[nodiscard]] HeaderFields take_headers(Fields& fields);

/// A list that is not empty has all headers, and everything in "headers" must be in it. Errors:
/// `invalid_argument`.
[[nodiscard]] Result<Headers> read_headers(const HeaderFields& fields);

}  // namespace tarry::wire
