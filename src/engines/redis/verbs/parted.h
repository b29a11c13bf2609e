// Parted: messages on their way from a queue's closed shards to its open ones. The mover holds
// copies in the open shards, where no verb sees them, before the closed one lets go. A process that
// finds a key absent in the closed shard, which is final, makes the held copy real or drops it
// before it asks the open one. So nobody depends on the mover.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <string>
#include <vector>

#include <tarry/result.h>

#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

/// Answers for each key whether it is gone from its closed shard. A held copy is then real, or is
/// dropped if the message ended in the closed shard. Errors as `Server::run_on`.
void settle_parted(Context& context, const QueuePtr& queue, std::vector<std::string> keys,
                   base::UniqueFunction<void(Result<std::vector<bool>>)> done);

/// The same for all messages that the queue's open shards hold.
void settle_held(Context& context, const QueuePtr& queue,
                 base::UniqueFunction<void(Result<void>)> done);

}  // namespace tarry::redis
