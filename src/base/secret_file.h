// Files that hold a secret in their first line: tokens, passwords, keys of signatures.
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

/// Whether every user of the machine may read the file.
[[nodiscard]] bool is_readable_by_all(const std::string& path) noexcept;

}  // namespace tarry::base
