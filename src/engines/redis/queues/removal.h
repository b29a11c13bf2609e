// Removal: deletes a queue with everything in it. First the queue's record says that it is being
// removed. From then on every process that reads the record completes the removal. So nobody
// depends on the process that began it.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <string>

#include <tarry/result.h>

#include "engines/redis/node/server.h"
#include "engines/redis/records/record.h"

namespace tarry::redis {

struct BegunRemoval {
  std::string queue;
  QueueRecord record;
  std::string text;  // the record as the store spells it
  std::uint32_t partitions = 0;
  /// How many calls may be made before the removal fails as if Redis were unreachable; negative:
  /// any number.
  std::int64_t most_calls = -1;
};

/// Removes the shards, each in one call however much is in it, and then the record. Gives the
/// number of messages that any process has removed since the removal began. Errors as
/// `Server::run`; the removal can then be completed later.
void end_removal(Server& server, BegunRemoval begun,
                 base::UniqueFunction<void(Result<std::uint64_t>)> done);

}  // namespace tarry::redis
