// Tokens: which text may follow `Authorization: Bearer`, and whether it is the right one.
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

/// For the token of a server: a shorter one can be guessed.
inline constexpr std::size_t kMinServerToken = 16;  // bytes

/// Callers report errors with kTokenRule, and without the text, which is a secret.
[[nodiscard]] bool is_token(std::string_view text) noexcept;

/// Whether a server may ask for it. Errors: `invalid_argument`; they do not show it.
[[nodiscard]] Result<void> check_server_token(std::string_view text);

/// The time does not depend on where the two differ, so nobody can guess the secret byte by byte.
/// The secret is not empty.
[[nodiscard]] bool is_same_secret(std::string_view given, std::string_view secret) noexcept;

}  // namespace tarry::base
