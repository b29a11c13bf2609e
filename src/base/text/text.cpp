#include "base/text/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/bytes.h"
#include "base/text/percent.h"

namespace tarry::base {
namespace {

// The length of the character that starts at `at`, 0 if the bytes there are not valid UTF-8. Table
// 3-7 of the Unicode standard: only the second byte's range depends on the first.
std::size_t utf8_length(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2   ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || text.size() - at < length) return 0;
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

// Valid characters that a terminal or a log viewer acts upon: C1 controls (U+0080 to U+009F), line
// and paragraph separators, marks that change the writing direction.
bool is_active(std::string_view character) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (character.size() != 3 || byte(0) != 0xE2) return false;
  if (byte(1) == 0x80)
    return byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xA8 && byte(2) <= 0xAE);
  return byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

struct SizeUnit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::array kSizeUnits = {
    SizeUnit{"", 1},
    SizeUnit{"B", 1},
    SizeUnit{"kB", 1000},
    SizeUnit{"KB", 1000},
    SizeUnit{"MB", 1'000'000},
    SizeUnit{"GB", 1'000'000'000},
    SizeUnit{"TB", 1'000'000'000'000},
    SizeUnit{"KiB", 1ULL << 10},
    SizeUnit{"MiB", 1ULL << 20},
    SizeUnit{"GiB", 1ULL << 30},
    SizeUnit{"TiB", 1ULL << 40},
};

}  // namespace

Result<std::uint64_t> parse_u64(std::string_view text, std::string_view what, std::uint64_t min,
                                std::uint64_t max) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || stop != end || error != std::errc() || value < min || value > max) {
    return Unexpected(ErrorCode::invalid_argument,
                      std::string(what) + " " + quoted(text) + " is not a whole number from " +
                          std::to_string(min) + " to " + std::to_string(max));
  }
  return value;
}

Result<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  const auto* known = std::ranges::find(kSizeUnits, unit, &SizeUnit::name);
  if (text.empty() || error == std::errc::invalid_argument || known == kSizeUnits.end()) {
    return Unexpected(
        ErrorCode::invalid_argument,
        "size " + quoted(text) +
            " is not a whole number with a unit; use 512B, 1KiB, 64MiB, 2GiB or 10MB");
  }
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  if (error == std::errc::result_out_of_range || value > kMax / known->bytes) {
    return Unexpected(
        ErrorCode::invalid_argument,
        "size " + quoted(text) + " is over the limit of " + std::to_string(kMax) + "B");
  }
  return value * known->bytes;
}

std::string Quoted::operator()(std::string_view text, std::size_t max) const {
  std::string out = "\"";
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text, at);
    if (at + std::max<std::size_t>(length, 1) > max) break;
    const std::string_view character = text.substr(at, std::max<std::size_t>(length, 1));
    const char c = character.front();
    const bool plain = length == 1 ? c >= ' ' && c != 0x7F && c != '"' && c != '\\'
                                   : length > 1 && !is_active(character);
    if (plain) {
      out += character;
    } else {
      for (const char byte : character) append_escaped(out, byte);
    }
    at += character.size();
  }
  out += '"';
  if (at < text.size()) out += "…(" + std::to_string(text.size()) + " bytes)";
  return out;
}

bool is_valid_utf8(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    constexpr std::uint64_t kTopBits = 0x8080'8080'8080'8080;
    if (text.size() - at >= 8 && (load_u64(text.data() + at) & kTopBits) == 0) {
      at += 8;
      continue;
    }
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string path_in_url(std::string_view path) { return percent_encoded(path, "-._/"); }

}  // namespace tarry::base
