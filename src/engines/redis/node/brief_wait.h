// BriefWait: a write on a node of a cluster waits until a replica has it, if there is one. The wait
// is short. If it fails, the work continues without the replica, because no user has asked for
// replicas. While a WAIT is outstanding, its connection does nothing else. So one WAIT serves all
// earlier writes, and after a WAIT that failed no WAIT is sent for a while.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <chrono>
#include <vector>

#include "base/unique_function.h"
#include "engines/redis/node/server.h"
#include "net/redis/redis.h"

namespace tarry::redis {

class BriefWait {
 public:
  using Done = base::UniqueFunction<void()>;

  explicit BriefWait(Server& server) : server_(server) {}

  /// Call `confirm` when the answer to the write arrives, with its origin. `done` may run before it
  /// returns.
  void confirm(const net::RedisOrigin& wrote, Done done);

 private:
  struct Waiting {
    net::RedisOrigin wrote;
    Done done;
  };
  void ask();

  Server& server_;
  std::vector<Waiting> waiting_;
  bool asked_ = false;
  std::chrono::steady_clock::time_point again_;  // no WAIT is sent before this time
};

}  // namespace tarry::redis
