// Ids: numbers for new messages, taken from the store in blocks. When the process ends or connects
// again, the rest of its block is never used. So the first block is small, because most processes
// push little.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <deque>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "engines/redis/node/server.h"

namespace tarry::redis {

class Ids {
 public:
  /// Gets the first of `count` consecutive numbers.
  using Taken = base::UniqueFunction<void(Result<std::uint64_t>)>;

  explicit Ids(Server& server) : server_(server) {}

  /// `done` may run before this returns. Errors: `no_space` when all 3.4e13 are used up.
  void take(std::uint64_t count, Taken done);
  /// Drops the ids that this process still holds, because they may belong to others by now.
  void drop() noexcept {
    next_ = end_ = 1;
    block_ = kFirst;
  }

 private:
  static constexpr std::uint64_t kFirst = 100;

  struct Waiting {
    std::uint64_t count = 0;
    Taken done;
  };
  void refill();
  void serve();

  Server& server_;
  std::deque<Waiting> waiting_;   // callers that wait for the next block
  std::uint64_t block_ = kFirst;  // the least size of the next block
  std::uint64_t next_ = 1;
  std::uint64_t end_ = 1;
};

}  // namespace tarry::redis
