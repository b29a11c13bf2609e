// RedisMapSearch: asks the nodes of a cluster, one after the other, which node serves which slot,
// until one knows all slots. If none does, it takes the map with the most slots. If a node does not
// answer soon, the next one is asked as well.
//
// Thread safety: none; on the io_context's thread. The search keeps itself alive until it has
// answered. `done` runs once, and not after `cancel`.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "net/redis/redis_client.h"
#include "net/redis/redis_redirect.h"

namespace tarry::net {

class RedisMapSearch : public std::enable_shared_from_this<RedisMapSearch> {
 public:
  /// Sends a node CLUSTER SLOTS.
  using Ask = std::function<void(const RedisAddress& node, Redis::Done answered)>;
  /// Errors: `unavailable` if no node answers or none serves a slot, `invalid_argument` if the
  /// server is not part of a cluster, `permission_denied`.
  using Done = base::UniqueFunction<void(Result<std::vector<RedisSlotRange>>)>;

  /// `nodes`: at least one, in the order in which they are asked. `cluster`: its name in errors.
  RedisMapSearch(boost::asio::io_context& io, std::vector<RedisAddress> nodes, Ask ask,
                 std::string cluster, Done done);

  void start() { ask_next(); }
  void cancel();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>,
                                                  boost::asio::io_context::executor_type>;

  void ask_next();
  void on_answer(const RedisAddress& node, RedisAnswer answer);
  void take(std::vector<RedisSlotRange> ranges);
  void finish(Result<std::vector<RedisSlotRange>> result);

  const std::vector<RedisAddress> nodes_;
  const Ask ask_;
  const std::string cluster_;
  Done done_;  // empty: finished
  Timer timer_;
  std::size_t asked_ = 0;
  std::size_t answered_ = 0;
  std::vector<RedisSlotRange> best_;  // the best map so far
  std::size_t best_covers_ = 0;       // how many slots best_ covers
  std::optional<Error> error_;        // the most informative one
};

/// The error for a command when no node serves its slot.
[[nodiscard]] Error no_slot_served(const std::string& cluster);

}  // namespace tarry::net
