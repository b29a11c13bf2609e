// The verbs: each checks its request, asks the shards, and completes the request.
//
// Thread safety: none; on the io_context's thread. A completion may run before
// the function returns.
#pragma once

#include "engines/redis/verbs/asked.h"
#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

void push(Context& context, const AskedPtr& asked, const core::Limits& limits);
void move(Context& context, const AskedPtr& asked, const core::Limits& limits);
void cancel(Context& context, const AskedPtr& asked);
void reschedule(Context& context, const AskedPtr& asked);
void settle(Context& context, const AskedPtr& asked);
void extend(Context& context, const AskedPtr& asked);
void get(Context& context, const AskedPtr& asked, const core::Limits& limits);
void list(Context& context, const AskedPtr& asked, const core::Limits& limits);
void configure(Context& context, const AskedPtr& asked);
void pause(Context& context, const AskedPtr& asked);
void resume(Context& context, const AskedPtr& asked);
void purge(Context& context, const AskedPtr& asked);
void revive(Context& context, const AskedPtr& asked);
/// Revives messages by their keys; `revive` calls it.
void revive_some(Context& context, const AskedPtr& asked);
/// `most_calls`: RedisEngineOptions::reshard_calls, counted from the moment when the removal can no
/// longer be undone.
void remove(Context& context, const AskedPtr& asked, std::int64_t most_calls);
void forecast(Context& context, const AskedPtr& asked);
/// Gives queues and their counts. The engine adds lateness and waiting claims.
void stats(Context& context, const AskedPtr& asked);

}  // namespace tarry::redis
