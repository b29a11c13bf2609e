// Parted: messages on their way from a queue's closed shards to its open ones. Before a closed
// shard lets a message go, the mover puts a copy into an open shard; no verb sees such a held copy.
// Absence of a key in the closed shard is final. A process that finds a key absent there makes the
// held copy real, or drops it, before it asks the open shard. So nobody depends on the mover.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <string>
#include <vector>

#include <tarry/result.h>

#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

/// Tells for each key whether it is gone from its closed shard. If it is gone, its held copy is
/// made real, or is dropped if the message ended in the closed shard. Errors as `Server::run_on`.
void settle_parted(Context& context, const QueuePtr& queue, std::vector<std::string> keys,
                   base::UniqueFunction<void(Result<std::vector<bool>>)> done);

/// The same for all held copies in the queue's open shards.
void settle_held(Context& context, const QueuePtr& queue,
                 base::UniqueFunction<void(Result<void>)> done);

}  // namespace tarry::redis
