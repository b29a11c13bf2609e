// NodeReplicas: in a cluster, a write on one node may depend on a write on another. This class
// waits until a replica of the other node has that node's write, if the node has replicas.
// Otherwise a failover could undo the one write and not the other. Without a cluster a failover
// undoes both, and there is no wait.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <map>
#include <memory>

#include <tarry/result.h>

#include "engines/redis/node/replica_wait.h"
#include "net/redis/redis.h"

namespace tarry::redis {

class NodeReplicas {
 public:
  using Done = ReplicaWait::Done;

  /// Waits for one replica, or for as many as `wish` says.
  NodeReplicas(net::Redis& redis, ReplicaWish wish);

  /// As ReplicaWait::confirm. Each node is asked once whether it has replicas. `done` must keep
  /// this object alive.
  void confirm(const net::RedisOrigin& wrote, Done done);

 private:
  ReplicaWait wait_;
  const bool always_;                                // waits even if a node has no replicas
  std::map<std::shared_ptr<net::Redis>, bool> has_;  // by node: whether a replica follows it
};

}  // namespace tarry::redis
