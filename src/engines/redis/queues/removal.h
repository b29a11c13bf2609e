// Removal: a queue goes with all that it has. Its record says so first, and from then on whoever
// reads that ends it: nobody depends on who began.
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
  /// How many calls may be made before it fails as if Redis were away; negative: any number.
  std::int64_t most_calls = -1;
};

/// Takes the shards away, each in one call however much is in it, and then the record. Answers how
/// many messages went since it was begun, whoever took them. Errors as `Server::run`; it can then
/// be ended again.
void end_removal(Server& server, BegunRemoval begun,
                 base::UniqueFunction<void(Result<std::uint64_t>)> done);

}  // namespace tarry::redis
