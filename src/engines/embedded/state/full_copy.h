// A message's full state as a record, for a copy that cleaning or salvage makes.
//
// Pure functions; the views in their results point into the state and into the given record.
#pragma once

#include "engines/embedded/records/records.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {

/// `record` is the message's newest full record, as read back. If its payload has a wrong checksum,
/// the result is marked as damaged.
[[nodiscard]] PutRecord full_copy(const ShardState& state, const PutRecord& record);

/// The same for a message whose record cannot be read: it keeps its id and handle, and gets a
/// generated key.
[[nodiscard]] PutRecord full_copy_of_lost(const ShardState& state, Handle handle);

}  // namespace tarry::embedded
