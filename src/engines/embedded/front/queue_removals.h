// QueueRemovals: leads removals of queues from step to step (operation.h). A store runs one removal
// at a time: two removals of one queue would wait for each other.
//
// Thread safety: all of it. No other thread touches a removal's operation between two of its steps.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "engines/embedded/front/shard_set.h"
#include "engines/embedded/shard/requests/operation.h"

namespace tarry::embedded {

class QueueRemovals {
 public:
  explicit QueueRemovals(ShardSet& shards) : shards_(shards) {}

  /// Sends the first step once the removals before it have ended. Throws if memory runs out; then
  /// no shard has heard of it.
  void begin(const OperationPtr& op);
  /// All shards concerned have ended a step. Sends the next one; or returns true, when the removal
  /// has ended and the next removal has begun.
  [[nodiscard]] bool go_on(const OperationPtr& op);

 private:
  void send_to_first(const OperationPtr& op, RemoveStep step);
  void send_to_all(const OperationPtr& op, RemoveStep step);
  void begin_next();

  ShardSet& shards_;
  std::mutex mutex_;
  std::deque<OperationPtr> removals_;  // the first is under way
};

/// The queues whose removal the last run left half done. They are frozen in all shards.
[[nodiscard]] std::vector<std::string> freeze_half_removed(std::vector<ShardParts>& shards);

}  // namespace tarry::embedded
