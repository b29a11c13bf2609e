// Joins the figures of all shards into the answer to a stats request.
#pragma once

#include "engines/embedded/shard/requests/operation.h"

namespace tarry::embedded {

/// Joins `op.figures` in the reply. Sets `op.error` if the request asks for a queue that no shard
/// knows.
void sum_figures(Operation& op, bool durable);

}  // namespace tarry::embedded
