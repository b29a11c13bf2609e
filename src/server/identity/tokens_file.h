// The tokens file: a line of text for each token, with the hash of its secret. The secret itself is
// in no file of the server's. docs/reference/config.md describes it.
//
//     # name   scopes        queues         hash                       end (optional)
//     scraper  read          *              sha256:9f86d081884c...     2027-01-01T00:00:00Z
//     shop     push,consume  shop.*,mails   sha256:60303ae22b99...
//
// Thread safety: pure functions, except that `read_tokens_file` reads one file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "server/identity/identity.h"

namespace tarry::identity {

inline constexpr std::size_t kMaxTokens = 1'000;        // in a file: each request compares all
inline constexpr std::size_t kMaxTokensFile = 1 << 20;  // bytes
inline constexpr std::size_t kMaxTokenName = 64;        // bytes

/// One line of the file.
struct ListedToken {
  Identity identity;
  std::size_t line = 0;  // from 1
};

/// The tokens of the text, in its order. Each fault adds one line to `problems`, with the file's
/// name, the line and the value; a value that may be a secret is never shown. A token that has
/// ended is no fault.
[[nodiscard]] std::vector<ListedToken> parse_tokens(std::string_view text, std::string_view file,
                                                    std::vector<std::string>& problems);

/// A line for each token that has ended.
[[nodiscard]] std::vector<std::string> ended_tokens(const std::vector<ListedToken>& tokens,
                                                    std::string_view file, Time now);

/// The text of a tokens file. Error: `invalid_argument`, which names the file, if it cannot be
/// read, is not a regular file, is too large, can be read by every user of the machine, or can be
/// written by users other than its owner.
[[nodiscard]] Result<std::string> read_tokens_file(const std::string& path);

/// The token's line, without its end; `parse_tokens` reads it back.
[[nodiscard]] std::string spell_token(const Identity& identity);

// The checks of `parse_tokens`, for other places where people name these values. Each error is one
// line that names the value.

/// 1 to kMaxTokenName letters, digits, `-`, `_` and `.`, but not kTokenFile.
[[nodiscard]] std::optional<Error> check_token_name(std::string_view name);
/// Reads `read,push`.
[[nodiscard]] Result<Scopes> parse_scopes(std::string_view text);
/// Reads `shop.*,mails`.
[[nodiscard]] Result<std::vector<std::string>> parse_patterns(std::string_view text);

/// `read,push`: in the order of kScopes.
[[nodiscard]] std::string spell_scopes(Scopes scopes);

}  // namespace tarry::identity
