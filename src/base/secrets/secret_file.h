// Files that hold a secret: a token, password or key of signatures in the first line; or the hashes
// of tokens.
//
// Thread safety: reads one file; thread safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::base {

inline constexpr std::size_t kMaxSecretLine = 4'096;  // bytes

/// The first line of the file, without its end (`\n` or `\r\n`); never empty. The file must be a
/// regular one, and little more than that line is read. Error: `invalid_argument` if the file
/// cannot be read, if its first line is empty, or if users other than its owner may write to it
/// (whoever may write it can choose the secret). The error names `named_by` and the path, and shows
/// nothing of the contents.
[[nodiscard]] Result<std::string> read_secret(std::string_view named_by, const std::string& path);

/// The whole text of such a file, which may be empty and has at most `most` bytes. Errors as above.
[[nodiscard]] Result<std::string> read_secret_text(std::string_view named_by,
                                                   const std::string& path, std::size_t most);

/// Whether every user of the machine may read the file.
[[nodiscard]] bool is_readable_by_all(const std::string& path) noexcept;

}  // namespace tarry::base
