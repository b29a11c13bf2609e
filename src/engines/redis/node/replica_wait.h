// ReplicaWait: holds an answer back until as many replicas as wanted have the change. Redis's WAIT
// covers everything that its connection wrote before. So one WAIT serves every answer before it.
// Until a WAIT ends, its connection does nothing else, so there is one WAIT at a time. In a cluster
// this holds for each node: the WAIT goes to the node that gave the answer, on the same connection.
//
// The change stays on the master, whatever the replicas say. So a failure is `unknown_outcome`.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "net/redis/redis.h"

namespace tarry::redis {

struct ReplicaWish {
  std::uint32_t replicas = 0;
  std::int64_t timeout_ms = 1'000;  // 1 .. kMaxReplicaTimeoutMs
};
/// Below the client's time-out for commands, because other callers may have to wait until a WAIT
/// has ended.
inline constexpr std::int64_t kMaxReplicaTimeoutMs = 5'000;

class ReplicaWait {
 public:
  using Done = base::UniqueFunction<void(Result<void>)>;

  ReplicaWait(net::Redis& redis, ReplicaWish wish) : redis_(redis), wish_(wish) {}

  /// Asks the node that carried out a write whether its replicas have the write. `wrote`: the
  /// origin of the answer to the write. `done` may run before this returns.
  void confirm(const net::RedisOrigin& wrote, Done done);

 private:
  struct Waiting {
    Done done;
    std::uint64_t connection;  // on which the change was written
  };
  // For one server, or for a cluster's node.
  struct At {
    std::shared_ptr<net::Redis> node;  // null: the one server
    std::vector<Waiting> waiting;
    bool asked = false;
  };

  void ask(net::Redis& server);
  [[nodiscard]] Result<void> read(const net::Redis& server, const net::RedisAnswer& answer) const;
  [[nodiscard]] static Error in_doubt(const net::Redis& server, const std::string& why);

  net::Redis& redis_;
  const ReplicaWish wish_;
  std::map<net::Redis*, At> at_;
};

}  // namespace tarry::redis
