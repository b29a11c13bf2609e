// Queries: the verbs that only read: get, list and stats. They too answer only when everything that
// they saw is durable. Tasks of the commit job read keys and payloads from the journal.
//
// Thread safety: none; the shard's thread.
#pragma once

#include "core/request.h"
#include "engines/embedded/reading/reply_reader.h"
#include "engines/embedded/shard/context/shard_context.h"
#include "engines/embedded/shard/verbs/removals.h"

namespace tarry::embedded {

class Queries {
 public:
  Queries(ShardContext& shard, const Removals& removals) : shard_(shard), removals_(removals) {}

  void execute(const core::GetRequest& request, const Part& part);
  /// Looks at one slice of the handles from the part's cursor on.
  void execute(const core::ListRequest& request, const Part& part);
  void execute(const core::StatsRequest& request, const Part& part);

 private:
  [[nodiscard]] MessageFacts facts(Handle handle) const;
  /// How many messages of its group are leased, over all shards, if a limit counts them.
  [[nodiscard]] std::uint64_t group_leased(Handle handle) const;
  [[nodiscard]] QueueStats stats_of(QueueId queue) const;

  ShardContext& shard_;
  const Removals& removals_;
};

}  // namespace tarry::embedded
