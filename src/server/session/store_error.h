// The text of a store's error for a client: no path of the server's machine.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

#include "core/reply.h"

namespace tarry::session {

/// `text` with no absolute path in it, of each only the last two names: for an error of the store.
[[nodiscard]] std::string without_paths(std::string_view text);
/// Whether the store itself failed, whose errors may name files.
[[nodiscard]] bool may_name_files(ErrorCode code) noexcept;

/// The same for the failed items of a batch. Returns the full message of the first item for which
/// the store itself was at fault (mostly no space): the batch's answer is no error, and nothing
/// else would tell the operator. Empty: there is none.
[[nodiscard]] std::string hide_paths(core::Reply& reply);

}  // namespace tarry::session
