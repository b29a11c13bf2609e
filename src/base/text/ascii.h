// ASCII characters as headers, URLs, names, durations and times use them, whatever the locale.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tarry::base {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

[[nodiscard]] constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] constexpr char to_upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

[[nodiscard]] constexpr bool is_letter(char c) noexcept {
  return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

/// -1 if it is no hex digit.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

[[nodiscard]] constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char x, char y) { return to_lower(x) == to_lower(y); });
}

/// The text without any of `spaces` at its beginning and its end.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text,
                                                 std::string_view spaces = " \t") noexcept {
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) + 1 - begin);
}

}  // namespace tarry::base
