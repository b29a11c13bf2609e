// Tokens: checks the form of a token, which is sent after `Authorization: Bearer`, and compares
// tokens.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

#include <tarry/result.h>

namespace tarry::base {

inline constexpr std::size_t kMaxToken = 1'024;  // bytes
inline constexpr std::string_view kTokenRule =
    "a token is 1 to 1024 letters, digits and -._~+/, and may end with =";

/// The least length of a server's token: a shorter one could be guessed.
inline constexpr std::size_t kMinServerToken = 16;  // bytes

/// Whether the text has the form of a token. Callers report errors with kTokenRule, never with the
/// text, which is a secret.
[[nodiscard]] bool is_token(std::string_view text) noexcept;

/// Checks whether the text may be a server's token. Error: `invalid_argument`, whose text never
/// contains the token.
[[nodiscard]] Result<void> check_server_token(std::string_view text);

/// The comparison takes the same time wherever the two differ, so nobody can guess the secret byte
/// by byte. `secret` must not be empty.
[[nodiscard]] bool is_same_secret(std::string_view given, std::string_view secret) noexcept;

}  // namespace tarry::base
