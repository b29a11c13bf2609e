// ReplicaWait: holds an answer back until so many replicas have what was done (WAIT). Redis's WAIT
// is about all that its connection wrote before, so one serves every answer that came until it was
// sent; meanwhile the connection does nothing else, so there is one at a time. In a cluster that
// holds for each node: asked is the one that gave the answer, on the connection that carried it.
//
// What was done stays done on the master, whatever the replicas say: a failure is
// `unknown_outcome`.
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
/// Below the client's time-out for commands, and what other callers wait at most.
inline constexpr std::int64_t kMaxReplicaTimeoutMs = 5'000;

class ReplicaWait {
 public:
  using Done = base::UniqueFunction<void(Result<void>)>;

  ReplicaWait(net::Redis& redis, ReplicaWish wish) : redis_(redis), wish_(wish) {}

  /// To be called when the answer to what was written comes, with its origin: who is asked. `done`
  /// may run within the call.
  void confirm(const net::RedisOrigin& wrote, Done done);

 private:
  struct Waiting {
    Done done;
    std::uint64_t connection;  // on which it was written
  };
  // Of one server, or of a cluster's node.
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
