// BriefWait: what is written on a node of a cluster waits until a replica has it, where one
// follows, but not for long, and goes on without: nobody has asked for more. While a WAIT is out
// its connection does nothing else, so one serves all that came until it was sent; and where it was
// in vain, it holds up nobody again for a while.
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

  /// To be called when the answer to what was written comes, with its origin. `done` may run within
  /// the call.
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
  std::chrono::steady_clock::time_point again_;  // before it nobody waits
};

}  // namespace tarry::redis
