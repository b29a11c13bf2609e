// QueueRemovals: leads removals of queues from step to step (operation.h). A store runs one removal
// at a time: two removals of one queue would wait for each other.
//
// Thread safety: any thread may call any function. Between two steps of a removal no other thread
// touches its operation.
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

  /// Sends the first step once all earlier removals have ended. Throws if memory runs out; then no
  /// shard has heard of this removal.
  void begin(const OperationPtr& op);
  /// Call `go_on` when all shards concerned have ended a step. Sends the next step and returns
  /// false. After the last step it begins the next removal and returns true.
  [[nodiscard]] bool go_on(const OperationPtr& op);

 private:
  void send_to_first(const OperationPtr& op, RemoveStep step);
  void send_to_all(const OperationPtr& op, RemoveStep step);
  void begin_next();

  ShardSet& shards_;
  std::mutex mutex_;
  std::deque<OperationPtr> removals_;  // the first is under way
};

/// Freezes, in all shards, the queues whose removal the last run left half done. Returns their
/// names.
[[nodiscard]] std::vector<std::string> freeze_half_removed(std::vector<ShardParts>& shards);

}  // namespace tarry::embedded
