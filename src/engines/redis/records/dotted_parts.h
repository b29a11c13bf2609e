// The parts of a list's `next`, which is a text with dots in it.
//
// Thread safety: a pure function.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tarry::redis {

/// Nothing if there are fewer parts. A dot beyond them belongs to the last one.
template <std::size_t Count>
[[nodiscard]] std::optional<std::array<std::string_view, Count>> dotted_parts(
    std::string_view text) {
  std::array<std::string_view, Count> parts;
  for (std::size_t i = 0; i < Count; ++i) {
    const std::size_t dot = i + 1 < Count ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return std::nullopt;
    parts[i] = text.substr(0, dot);
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return parts;
}

}  // namespace tarry::redis
