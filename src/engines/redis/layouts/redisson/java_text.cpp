#include "engines/redis/layouts/redisson/java_text.h"

#include <cstdint>

#include "base/text/text.h"

namespace tarry::redis {
namespace {

constexpr std::uint32_t kFirstPair = 0x10000;

std::uint32_t byte_in(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

bool is_high(char16_t unit) noexcept { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(char16_t unit) noexcept { return unit >= 0xDC00 && unit < 0xE000; }

// Joins the lowest six bits of each byte; of the first byte, the bits in the mask `first`.
std::uint32_t bits_of(std::string_view bytes, std::size_t at, std::size_t size,
                      std::uint32_t first) {
  std::uint32_t bits = byte_in(bytes, at) & first;
  for (std::size_t i = 1; i < size; ++i) bits = bits << 6u | (byte_in(bytes, at + i) & 0x3Fu);
  return bits;
}

void add_bytes(std::string& bytes, std::uint32_t bits, std::size_t size) {
  constexpr std::uint32_t kLead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  if (size == 1) {
    bytes += static_cast<char>(bits);
    return;
  }
  bytes += static_cast<char>(kLead[size] | bits >> 6u * (size - 1));
  for (std::size_t i = size - 1; i > 0; --i) {
    bytes += static_cast<char>(0x80u | (bits >> 6u * (i - 1) & 0x3Fu));
  }
}

std::size_t size_of(std::uint32_t bits) noexcept {
  return bits < 0x80 ? 1 : bits < 0x800 ? 2 : bits < kFirstPair ? 3 : 4;
}

}  // namespace

std::optional<std::u16string> java_units(std::string_view utf8) {
  if (!base::is_valid_utf8(utf8)) return std::nullopt;
  std::u16string units;
  for (std::size_t at = 0; at < utf8.size();) {
    const std::uint32_t lead = byte_in(utf8, at);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    const std::uint32_t first = size == 1 ? 0x7F : 0xFFu >> (size + 1);
    const std::uint32_t point = bits_of(utf8, at, size, first);
    at += size;
    if (point < kFirstPair) {
      units += static_cast<char16_t>(point);
    } else {
      units += static_cast<char16_t>(0xD800u + ((point - kFirstPair) >> 10u));
      units += static_cast<char16_t>(0xDC00u + ((point - kFirstPair) & 0x3FFu));
    }
  }
  return units;
}

std::optional<std::string> utf8_of(std::u16string_view units) {
  std::string text;
  for (std::size_t at = 0; at < units.size(); ++at) {
    std::uint32_t point = units[at];
    if (is_high(units[at])) {
      if (at + 1 == units.size() || !is_low(units[at + 1])) return std::nullopt;
      ++at;
      point = kFirstPair + ((point - 0xD800u) << 10u) + (units[at] - 0xDC00u);
    } else if (is_low(units[at])) {
      return std::nullopt;
    }
    add_bytes(text, point, size_of(point));
  }
  return text;
}

std::string unit_bytes(std::u16string_view units, bool zero_is_two) {
  std::string bytes;
  for (const char16_t unit : units) {
    add_bytes(bytes, unit, unit == 0 && zero_is_two ? 2 : size_of(unit));
  }
  return bytes;
}

std::optional<std::u16string> units_in(std::string_view bytes, std::size_t count) {
  if (count > bytes.size()) return std::nullopt;
  std::u16string units;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint32_t lead = byte_in(bytes, at);
    const std::size_t size = lead < 0x80 ? 1 : lead >= 0xC0 && lead < 0xE0 ? 2 : 3;
    if (size == 3 && (lead & 0xF0u) != 0xE0u) return std::nullopt;
    if (bytes.size() - at < size || units.size() == count) return std::nullopt;
    for (std::size_t i = 1; i < size; ++i) {
      if ((byte_in(bytes, at + i) & 0xC0u) != 0x80u) return std::nullopt;
    }
    units +=
        static_cast<char16_t>(bits_of(bytes, at, size, size == 1 ? 0x7F : 0xFFu >> (size + 1)));
    at += size;
  }
  if (units.size() != count) return std::nullopt;
  return units;
}

}  // namespace tarry::redis
