// Queues: the requests that concern a queue as a whole: it is made, configured, paused, resumed.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tarry/result.h>
#include <tarry/settings.h>

#include "core/request.h"
#include "engines/embedded/shard/shard_context.h"

namespace tarry::embedded {

class Queues {
 public:
  explicit Queues(ShardContext& shard) : shard_(shard) {}

  void execute(const core::ConfigureRequest& request, const Part& part);
  void execute(const core::PauseRequest& request, const Part& part);
  void execute(const core::ResumeRequest& request, const Part& part);
  /// `unsupported`: a store's shards are set when it is made.
  void execute(const core::ReshardRequest& request, const Part& part);

  /// Bytes of room that making the queue takes; 0 where it is there.
  [[nodiscard]] std::uint64_t bytes_to_make(const std::string& name) const;
  /// The queue, made if it is not there; room for it has been taken. Error: `no_space`, the store
  /// has its limit of queues.
  Result<QueueId> find_or_make(const std::string& name);

 private:
  void write(QueueId queue, const QueueSettings& settings, bool paused,
             std::optional<std::int64_t> until_ms);

  ShardContext& shard_;
};

}  // namespace tarry::embedded
