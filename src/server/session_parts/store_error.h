// Removes paths of the server's machine from a store's errors before a client sees them.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

#include "core/reply.h"

namespace tarry::session {

/// Returns `text`, which is a store's error, with every absolute path replaced by its last two
/// names.
[[nodiscard]] std::string without_paths(std::string_view text);
/// Whether the code means that the store itself failed; such an error may name files.
[[nodiscard]] bool may_name_files(ErrorCode code) noexcept;

/// Removes paths from the errors of a batch's failed items. Returns the full message of the first
/// item that failed because of the store (mostly: no space), or nothing. The caller logs it,
/// because the answer to the batch is not an error, and the operator would not learn of it
/// otherwise.
[[nodiscard]] std::string hide_paths(core::Reply& reply);

}  // namespace tarry::session
