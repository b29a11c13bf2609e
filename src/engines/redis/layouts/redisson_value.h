// Redisson's values: what a Java client's codec wrote, and what it reads.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

#include "engines/redis/layouts/layout_spec.h"

namespace tarry::redis {

struct Decoded {
  std::string_view payload;
  bool is_odd = false;  // not what `decode` says it is: handed out as it is
};
/// string: JBoss's frame of a text (MarshallingCodec's) is taken off, where there is one. json: a
/// JSON string is its text, any other JSON value itself (JsonJacksonCodec).
/// The payload is a piece of `value`, or lies in `scratch`.
[[nodiscard]] Decoded decode_value(std::string_view value, Decode decode, std::string& scratch);

/// The other way: what `decode_value` makes the payload of. Frames are the push script's to add.
/// `invalid_argument` for a payload that no such value has: json and text that is not UTF-8.
[[nodiscard]] Result<std::string> encode_value(std::string_view payload, Decode decode);

}  // namespace tarry::redis
