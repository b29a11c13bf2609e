// What is said of a part that a shard cannot carry out, and of a request whose parts fared
// differently: docs/reference/errors.md, "Done in part".
//
// Thread safety: as for the operation's reply (operation.h).
#pragma once

#include <cstdint>

#include "engines/embedded/shard/operation.h"

namespace tarry::embedded {

/// The part has failed. Of a batch its items fail, and what other shards do of it stands; where the
/// part is the whole request, that fails.
void fail_part(const Part& part, const Error& error);

/// All parts have ended, and `op.error` is set: says how far the request came, where it was done in
/// part.
void tell_partly_done(Operation& op, std::uint32_t shards);

}  // namespace tarry::embedded
