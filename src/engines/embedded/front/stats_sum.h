// Joins the figures of all shards into the answer to a stats request.
#pragma once

#include "engines/embedded/shard/requests/operation.h"

namespace tarry::embedded {

/// `op.figures` into the reply. `op.error` is set if the request asks for a queue of which no shard
/// knows.
void sum_figures(Operation& op, bool durable);

}  // namespace tarry::embedded
