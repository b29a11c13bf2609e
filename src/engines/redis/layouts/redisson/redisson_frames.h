// The bytes that Redisson's binary codecs write for a plain value: a text, a number or a boolean.
// docs/formats/redis-layouts.md has them byte by byte.
//
// A frame is the whole value: with more or fewer bytes it is no frame. For a value this code writes
// the same bytes as the clients, so that their `remove` finds it.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tarry::redis {

/// Which of Redisson's codecs wrote a value. `text` is StringCodec, `json` JsonJacksonCodec.
/// `either`: one of these two, e.g. for a number or an object.
enum class Codec : std::uint8_t { unknown, either, text, json, kryo5, fst, marshalling };

/// The value's type in a Java client.
enum class Kind : std::uint8_t { other, text, int32, int64, float64, boolean };

struct PlainValue {
  Kind kind = Kind::other;
  std::string text;  // UTF-8
};
/// Nothing if the value is not such a frame. `codec`: kryo5, fst or marshalling.
[[nodiscard]] std::optional<PlainValue> read_frame(std::string_view value, Codec codec);

/// Nothing if `text` is no value of that kind, or is not UTF-8.
[[nodiscard]] std::optional<std::string> write_frame(std::string_view text, Codec codec, Kind kind);

}  // namespace tarry::redis
