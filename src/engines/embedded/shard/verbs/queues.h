// Queues: makes, configures, pauses and resumes queues.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tarry/result.h>
#include <tarry/settings.h>

#include "core/request.h"
#include "engines/embedded/shard/context/shard_context.h"

namespace tarry::embedded {

class Queues {
 public:
  explicit Queues(ShardContext& shard) : shard_(shard) {}

  void execute(const core::ConfigureRequest& request, const Part& part);
  void execute(const core::PauseRequest& request, const Part& part);
  void execute(const core::ResumeRequest& request, const Part& part);
  /// Answers `unsupported`: the number of shards is set when the store is made.
  void execute(const core::ReshardRequest& request, const Part& part);

  /// How many bytes of room it takes to make the queue; 0 if the queue exists.
  [[nodiscard]] std::uint64_t bytes_to_make(const std::string& name) const;
  /// Finds the queue, or makes it if it does not exist. The caller has taken room for that. Error:
  /// `no_space` if the store has its limit of queues.
  Result<QueueId> find_or_make(const std::string& name);

 private:
  void count_messages(const std::string& queue, const OperationPtr& op) const;
  [[nodiscard]] bool comes_late(const core::ConfigureRequest& request, OrderStep step) const;
  void write(QueueId queue, const QueueSettings& settings, bool paused,
             std::optional<std::int64_t> until_ms);

  ShardContext& shard_;
};

}  // namespace tarry::embedded
