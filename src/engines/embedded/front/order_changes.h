// OrderChanges: leads a configure that gives a queue another `group_order` from step to step
// (operation.h). With the order of pushes a queue's messages are all in its home, else in the
// shards of their keys. So the order changes only while the queue has no message.
//
// Thread safety: any thread may call any function. Between two steps no other thread touches the
// operation.
#pragma once

#include "core/request.h"
#include "engines/embedded/front/shard_set.h"
#include "engines/embedded/gates/queue_homes.h"
#include "engines/embedded/shard/requests/operation.h"
#include "engines/embedded/store/store_files.h"

namespace tarry::embedded {

class OrderChanges {
 public:
  OrderChanges(const StoreIdentity& identity, QueueHomes& homes, ShardSet& shards)
      : identity_(identity), homes_(homes), shards_(shards) {}

  [[nodiscard]] bool changes(const core::ConfigureRequest& request) const;
  /// Sends the first step of a request that `changes`. Throws if memory runs out; then no shard has
  /// heard of it.
  void begin(const OperationPtr& op);
  /// Call `go_on` when all shards concerned have ended a step. Sends the next step and returns
  /// false; true after the last one.
  [[nodiscard]] bool go_on(const OperationPtr& op);

 private:
  void send_to_home(const OperationPtr& op, std::uint32_t home);
  void send_to_others(const OperationPtr& op, std::uint32_t home);

  const StoreIdentity& identity_;
  QueueHomes& homes_;
  ShardSet& shards_;
};

}  // namespace tarry::embedded
