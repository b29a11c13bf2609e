#include "engines/redis/layouts/redisson_value.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/text.h"

namespace tarry::redis {
namespace {

namespace json = boost::json;

// JBoss Marshalling's "river" protocol: its version, the kind of text, the length.
constexpr std::uint8_t kFirstVersion = 2;
constexpr std::uint8_t kLastVersion = 4;
constexpr std::uint8_t kEmptyText = 0x3D;
constexpr std::uint8_t kShortText = 0x3E;   // a length of one byte, 0 for 256
constexpr std::uint8_t kLongerText = 0x3F;  // of two, big-endian

std::uint8_t byte_at(std::string_view value, std::size_t at) {
  return static_cast<std::uint8_t>(value[at]);
}

// Java's: a character outside the basic plane counts twice.
std::size_t java_length(std::string_view text) {
  std::size_t length = 0;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if ((byte & 0xC0u) != 0x80u) ++length;
    if (byte >= 0xF0u) ++length;
  }
  return length;
}

bool is_of_length(std::string_view text, std::size_t length) {
  return text.size() == length || java_length(text) == length;
}

std::string_view without_frame(std::string_view value) {
  if (value.size() < 2 || byte_at(value, 0) < kFirstVersion || byte_at(value, 0) > kLastVersion) {
    return value;
  }
  const std::uint8_t kind = byte_at(value, 1);
  if (kind == kEmptyText && value.size() == 2) return value.substr(2);
  if (kind == kShortText && value.size() > 3) {
    const std::size_t length = byte_at(value, 2) == 0 ? 256 : byte_at(value, 2);
    if (is_of_length(value.substr(3), length)) return value.substr(3);
  }
  if (kind == kLongerText && value.size() > 4) {
    const std::size_t length = byte_at(value, 2) * std::size_t{256} + byte_at(value, 3);
    if (is_of_length(value.substr(4), length)) return value.substr(4);
  }
  return value;
}

}  // namespace

Decoded decode_value(std::string_view value, Decode decode, std::string& scratch) {
  if (decode == Decode::raw) return {value};
  if (decode == Decode::string) return {without_frame(value)};
  boost::system::error_code error;
  const json::value parsed = json::parse({value.data(), value.size()}, error);
  if (error) return {value, true};
  if (!parsed.is_string()) return {value};
  scratch.assign(parsed.get_string().data(), parsed.get_string().size());
  return {scratch};
}

Result<std::string> encode_value(std::string_view payload, Decode decode) {
  if (decode != Decode::json) return std::string(payload);
  boost::system::error_code error;
  const json::value parsed = json::parse({payload.data(), payload.size()}, error);
  if (!error && (parsed.is_object() || parsed.is_array())) return std::string(payload);
  if (!base::is_valid_utf8(payload)) {
    return Unexpected(ErrorCode::invalid_argument,
                      "payload " + base::quoted(payload) +
                          " is not UTF-8, and so no JSON string; use decode=raw");
  }
  return json::serialize(json::value(json::string(payload.data(), payload.size())));
}

}  // namespace tarry::redis
