// Ids: numbers for new messages, taken from the store in blocks. The rest of a block is never given
// again after the process ends or its connection is made again. So the first block is small: most
// processes push little.
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
  /// The first of `count` numbers that follow each other.
  using Taken = base::UniqueFunction<void(Result<std::uint64_t>)>;

  explicit Ids(Server& server) : server_(server) {}

  /// May answer within the call. Errors: `no_space` when all 3.4e13 are used up.
  void take(std::uint64_t count, Taken done);
  /// Ids that this process still holds may be others' by now.
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
  std::deque<Waiting> waiting_;   // for the block that is being asked for
  std::uint64_t block_ = kFirst;  // the next one's size, at least
  std::uint64_t next_ = 1;
  std::uint64_t end_ = 1;
};

}  // namespace tarry::redis
