// NodeReplicas: what is written on one node of a cluster on account of what another one has waits
// until a replica of that one has it too, where it has any. Else a failover takes back the one and
// not the other. Without a cluster a failover takes back both, and nothing is waited for.
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

  /// One replica is waited for, or as many as `wish` says.
  NodeReplicas(net::Redis& redis, ReplicaWish wish);

  /// As ReplicaWait's. Which nodes have replicas is asked once each. `done` owns us.
  void confirm(const net::RedisOrigin& wrote, Done done);

 private:
  ReplicaWait wait_;
  const bool always_;                                // also where there are none
  std::map<std::shared_ptr<net::Redis>, bool> has_;  // by node: any replica that follows
};

}  // namespace tarry::redis
