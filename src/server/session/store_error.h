// What a front tells a client of an error of the store: no path of the server's machine.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

#include "core/reply.h"

namespace tarry::session {

/// The engine works, and says that what it asks does not answer just now: a probe of
/// readiness tells that, and to start this process again would mend nothing.
[[nodiscard]] bool is_away(const Error& error) noexcept;
/// `text` with no absolute path in it, of each only the last two names: for an error of the store.
[[nodiscard]] std::string without_paths(std::string_view text);
/// Whether the store itself failed, whose errors may name files.
[[nodiscard]] bool may_name_files(ErrorCode code) noexcept;

/// The same of the items of a batch that failed. Answers, of the first of which the store itself
/// was at fault (no space, mostly), the message whole: the answer of the batch is no error, and
/// nothing else would tell who runs the server. Empty: of none.
[[nodiscard]] std::string hide_paths(core::Reply& reply);

}  // namespace tarry::session
