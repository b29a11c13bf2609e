// Parted: messages on their way from a queue's closed shards to its open ones. The mover holds
// copies in the open shards, where nobody sees them, before the closed one lets go. Who has found a
// key absent in the closed shard, which is final, makes what is held of it real, or drops it,
// before it asks the open one: so nobody depends on the mover.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <string>
#include <vector>

#include <tarry/result.h>

#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

/// Of each key answers whether it is gone from its closed shard: what was held of it is then real,
/// or dropped where it ended in the closed one. Errors as `Server::run_on`.
void settle_parted(Context& context, const QueuePtr& queue, std::vector<std::string> keys,
                   base::UniqueFunction<void(Result<std::vector<bool>>)> done);

/// The same for all that is held in the queue's open shards.
void settle_held(Context& context, const QueuePtr& queue,
                 base::UniqueFunction<void(Result<void>)> done);

}  // namespace tarry::redis
