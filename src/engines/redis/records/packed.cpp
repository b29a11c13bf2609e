#include "engines/redis/records/packed.h"

namespace tarry::redis {

// https://github.com/msgpack/msgpack/blob/master/spec.md
std::optional<std::size_t> PackedReader::array() noexcept {
  const auto kind = head();
  if (!kind) return std::nullopt;
  if (*kind >= 0x90 && *kind <= 0x9f) return *kind & 0x0f;
  if (*kind == 0xdc) return big_endian(2);
  if (*kind == 0xdd) return big_endian(4);
  return std::nullopt;
}

std::optional<std::string_view> PackedReader::text() noexcept {
  const auto kind = head();
  if (!kind) return std::nullopt;
  std::optional<std::uint64_t> size;
  if (*kind >= 0xa0 && *kind <= 0xbf) size = *kind & 0x1f;
  if (*kind >= 0xd9 && *kind <= 0xdb) size = big_endian(std::size_t{1} << (*kind - 0xd9));
  if (!size || *size > rest_.size()) return std::nullopt;
  const std::string_view text = rest_.substr(0, *size);
  rest_.remove_prefix(*size);
  return text;
}

std::optional<std::int64_t> PackedReader::number() noexcept {
  const auto kind = head();
  if (!kind) return std::nullopt;
  if (*kind <= 0x7f) return *kind;
  if (*kind < 0xcc || *kind > 0xcf) return std::nullopt;
  const auto number = big_endian(std::size_t{1} << (*kind - 0xcc));
  if (!number || *number > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<unsigned char> PackedReader::head() noexcept {
  const auto byte = big_endian(1);
  if (!byte) return std::nullopt;
  return static_cast<unsigned char>(*byte);
}

std::optional<std::uint64_t> PackedReader::big_endian(std::size_t bytes) noexcept {
  if (rest_.size() < bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(bytes);
  return value;
}

}  // namespace tarry::redis
