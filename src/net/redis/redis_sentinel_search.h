// RedisSentinelSearch: asks sentinels, one after the other, where a master is, until one knows. If
// a sentinel does not answer soon, the next one is asked as well.
//
// Thread safety: none; on the io_context's thread. The search keeps itself alive until it has
// answered. `done` runs once, never within a method, and not after `cancel`.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "net/redis/redis_client.h"
#include "net/redis/redis_link.h"

namespace tarry::net {

class RedisSentinelSearch : public std::enable_shared_from_this<RedisSentinelSearch> {
 public:
  /// The master's address, and the sentinel that named it. Errors are one line that names the
  /// sentinels: `unavailable` if none answers within `connect_timeout_ms`, `invalid_argument` if
  /// none knows the master or a server is not a sentinel, `permission_denied` if user or password
  /// are refused.
  using Found = std::pair<RedisAddress, std::size_t>;
  using Done = base::UniqueFunction<void(Result<Found>)>;

  /// `sentinels`: at least one, in the order in which they are asked.
  RedisSentinelSearch(boost::asio::io_context& io, std::vector<RedisOptions> sentinels,
                      std::string master, Done done);

  void start();
  void cancel();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>,
                                                  RedisStream::Executor>;
  // The result of one sentinel.
  struct Asked {
    std::shared_ptr<RedisLink> link;
    std::optional<Error> error;
    bool knows_no_such_master = false;
  };

  void ask_next();
  void on_ready(std::size_t sentinel);
  void on_reply(std::size_t sentinel, RedisView reply);
  void on_end(std::size_t sentinel, Error error);
  void on_timer();
  void finish(Result<Found> result);
  [[nodiscard]] Error failure() const;
  [[nodiscard]] std::string names(bool (*which)(const Asked&)) const;

  boost::asio::io_context& io_;
  const std::vector<RedisOptions> sentinels_;
  const std::string master_;
  Done done_;
  Timer timer_;
  Clock::time_point deadline_;
  std::vector<Asked> asked_;
  std::size_t ended_ = 0;
  bool finished_ = false;
};

}  // namespace tarry::net
