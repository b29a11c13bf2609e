#include "base/token.h"

#include <algorithm>
#include <string>

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

Result<void> check_server_token(std::string_view text) {
  if (!is_token(text)) return Unexpected(ErrorCode::invalid_argument, std::string(kTokenRule));
  if (text.size() >= kMinServerToken) return {};
  const std::string size = std::to_string(text.size());
  return Unexpected(ErrorCode::invalid_argument,
                    "a token of " + size + (text.size() == 1 ? " character" : " characters") +
                        " can be guessed; it needs " + std::to_string(kMinServerToken) +
                        ", as from `openssl rand -hex 32`");
}

}  // namespace tarry::base
