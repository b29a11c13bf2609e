// The error of a part that a shard cannot carry out, and the error of a request of which only some
// parts failed: docs/reference/errors.md, "Done in part".
//
// Thread safety: as for the operation's reply (operation.h).
#pragma once

#include <cstdint>

#include "engines/embedded/shard/requests/operation.h"

namespace tarry::embedded {

/// Call `fail_part` when the part has failed. In a batch only this part's items fail, and the other
/// shards' work stands. If the part is the whole request, the request fails.
void fail_part(const Part& part, const Error& error);

/// Call `tell_partly_done` when all parts have ended and `op.error` is set. Adds to the error how
/// far the request came.
void tell_partly_done(Operation& op, std::uint32_t shards);

}  // namespace tarry::embedded
