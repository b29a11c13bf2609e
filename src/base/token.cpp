#include "base/token.h"

#include <algorithm>

#include "base/ascii.h"

namespace tarry::base {

bool is_token(std::string_view text) noexcept {
  if (text.size() > kMaxToken) return false;
  while (text.ends_with('=')) text.remove_suffix(1);
  constexpr std::string_view kMarks = "-._~+/";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_letter(c) || is_digit(c) || kMarks.find(c) != std::string_view::npos;
  });
}

}  // namespace tarry::base
