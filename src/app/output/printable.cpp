#include "app/output/printable.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace tarry::app {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 1;  // how many bytes it takes
  bool valid = false;
};

/// The first character of `text`, which is not empty.
CodePoint first_of(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {lead, 1, false};
  std::uint32_t value = lead & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0u) != 0x80) return {lead, 1, false};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[size] || surrogate || value > 0x10FFFF) return {lead, 1, false};
  return {value, size, true};
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

template <std::size_t N>
bool in_any(const std::array<Range, N>& ranges, std::uint32_t value) noexcept {
  for (const Range& range : ranges) {
    if (value >= range.first && value <= range.last) return true;
  }
  return false;
}

// Controls (C1), line and paragraph separators, marks that change the direction of text, and the
// byte order mark.
constexpr std::array<Range, 6> kUnsafe{{{0x80, 0x9F},
                                        {0x061C, 0x061C},
                                        {0x200E, 0x200F},
                                        {0x2028, 0x202E},
                                        {0x2066, 0x2069},
                                        {0xFEFF, 0xFEFF}}};

// The wide characters (W and F) of Unicode's EastAsianWidth.txt. Ranges are joined if no narrow
// character in use lies between them.
constexpr std::array<Range, 13> kWide{{{0x1100, 0x115F},
                                       {0x231A, 0x231B},
                                       {0x2E80, 0x303E},
                                       {0x3041, 0x33FF},
                                       {0x3400, 0x4DBF},
                                       {0x4E00, 0xA4CF},
                                       {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},
                                       {0xFF00, 0xFF60},
                                       {0xFFE0, 0xFFE6},
                                       {0x1F300, 0x1FAFF},
                                       {0x20000, 0x3FFFD}}};

constexpr std::array<Range, 6> kNone{{{0x0300, 0x036F},
                                      {0x1AB0, 0x1AFF},
                                      {0x200B, 0x200D},
                                      {0x20D0, 0x20FF},
                                      {0xFE00, 0xFE0F},
                                      {0xFE20, 0xFE2F}}};

std::size_t columns_of(CodePoint point) noexcept {
  if (!point.valid || point.value < 0x300) return 1;
  if (in_any(kNone, point.value)) return 0;
  return in_any(kWide, point.value) ? 2 : 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = first_of(text);
    if (point.value == '\n') {
      out += "\\n";
    } else if (point.value == '\r') {
      out += "\\r";
    } else if (point.value == '\t') {
      out += "\\t";
    } else if (!point.valid || point.value < 0x20 || point.value == 0x7F) {
      out += fmt::format("\\x{:02x}", point.value);
    } else if (in_any(kUnsafe, point.value)) {
      out += fmt::format("\\u{{{:x}}}", point.value);
    } else {
      out += text.substr(0, point.size);
    }
    text.remove_prefix(point.size);
  }
  return out;
}

std::size_t columns(std::string_view text) noexcept {
  std::size_t sum = 0;
  while (!text.empty()) {
    const CodePoint point = first_of(text);
    sum += columns_of(point);
    text.remove_prefix(point.size);
  }
  return sum;
}

std::string clipped(std::string_view text, std::size_t width) {
  if (columns(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const CodePoint point = first_of(text.substr(bytes));
    const std::size_t more = columns_of(point);
    if (used + more > width - 1) break;
    used += more;
    bytes += point.size;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

}  // namespace tarry::app
