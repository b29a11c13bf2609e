// Error texts for all implementations of the file seam. The same failure has the same text on a
// disk and in RAM:
//   cannot write /x/y (offset 4096): No space left on device
//
// Thread safety: free functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::storage {

/// The error code for an errno value.
[[nodiscard]] ErrorCode code_of_errno(int error_number) noexcept;

/// The system's text for an errno value.
[[nodiscard]] std::string text_of_errno(int error_number);

/// "cannot OPERATION PATH: REASON", on one line: control bytes become '?'.
[[nodiscard]] Error failure(ErrorCode code, std::string_view operation, std::string_view path,
                            std::string_view reason);

/// The same, with the code and the reason of an errno value.
[[nodiscard]] Error system_failure(std::string_view operation, std::string_view path,
                                   int error_number);

/// The same, with " (offset N)" after the path.
[[nodiscard]] Error system_failure_at(std::string_view operation, std::string_view path,
                                      std::uint64_t offset, int error_number);

/// Checks a name by rule 5 of the seam. Error: invalid_argument.
[[nodiscard]] Result<void> check_name(std::string_view operation, std::string_view directory,
                                      std::string_view name);

/// Checks that a range ends within the largest offset (2^63 - 1). Error: too_large.
[[nodiscard]] Result<void> check_range(std::string_view operation, std::string_view path,
                                       std::uint64_t offset, std::uint64_t length);

/// Makes bytes from outside safe for a message: control bytes become '?'.
[[nodiscard]] std::string printable(std::string_view text);

/// The reason in the error when another process's lock_shared() keeps a lock from us.
inline constexpr const char* kHeldByReader = "held by another process, which only reads";

/// "a" and "b" to "a/b".
[[nodiscard]] std::string join_path(std::string_view directory, std::string_view name);

}  // namespace tarry::storage
