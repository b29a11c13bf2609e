#include "base/secrets/token.h"

#include <algorithm>
#include <string>

#include "base/text/ascii.h"

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

bool is_same_secret(std::string_view given, std::string_view secret) noexcept {
  unsigned differs = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = secret[i % secret.size()];
    differs |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(other);
  }
  return differs == 0;
}

}  // namespace tarry::base
