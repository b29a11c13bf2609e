// Reshard: the verb that gives a queue another number of shards.
//
// Thread safety: none; on the io_context's thread. A completion may run before
// the function returns.
#pragma once

#include <cstdint>

#include "engines/redis/verbs/asked.h"
#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

/// Does one step. `most_calls`: RedisEngineOptions::reshard_calls.
void reshard(Context& context, const AskedPtr& asked, std::int64_t most_calls);

}  // namespace tarry::redis
