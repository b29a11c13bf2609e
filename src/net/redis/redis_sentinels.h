// RedisSentinels: asks the sentinels of a master where it is, before each attempt to connect. After
// `watch`, the sentinels also report when another server has become the master.
//
// The sentinel that answered last is asked first. Its answer may be out of date. A caller that
// finds no master at that address calls `distrust`, and then another sentinel is asked first.
//
// Thread safety: none; on the io_context's thread. Callbacks never run within a method, nor after
// `close`.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "net/redis/redis_client.h"
#include "net/redis/redis_sentinel_search.h"

namespace tarry::net {

class RedisSubscriber;

class RedisSentinels : public std::enable_shared_from_this<RedisSentinels> {
 public:
  struct Found {
    RedisAddress master;
    std::size_t by = 0;  // the sentinel that named it, for `distrust`
  };
  using OnFound = base::UniqueFunction<void(Result<Found>)>;
  /// Called when `master` may have changed.
  using OnSwitched = base::UniqueFunction<void()>;

  /// `options.sentinels` must be set; TLS, client name and time-outs apply to the sentinels too.
  RedisSentinels(boost::asio::io_context& io, const RedisOptions& options);
  ~RedisSentinels();

  /// Asks the sentinels. Errors: those of RedisSentinelSearch. The search that it returns lives
  /// until it has answered, and may be cancelled.
  std::shared_ptr<RedisSentinelSearch> find(OnFound done);
  /// Call it when the answer of this sentinel was wrong.
  void distrust(std::size_t sentinel);

  /// From now on subscribes to all sentinels, and asks again after each new subscription. May be
  /// called at most once.
  void watch(OnSwitched on_switched);
  void close();

  /// The master's address by the last answer; port 0 if there was none yet.
  [[nodiscard]] const RedisAddress& master() const noexcept { return master_; }
  /// "orders (10.0.0.7:6379)", or "orders (of sentinels a:26379, b:26379)": for messages.
  [[nodiscard]] std::string server() const;

 private:
  [[nodiscard]] RedisOptions options_of(std::size_t sentinel) const;
  void on_switch(std::size_t by, std::string_view message);
  void on_watching(std::size_t sentinel);
  void prefer(std::size_t sentinel);

  boost::asio::io_context& io_;
  const RedisOptions options_;
  std::vector<std::size_t> order_;  // the order in which they are asked
  RedisAddress master_{"", 0};
  OnSwitched on_switched_;
  std::vector<std::shared_ptr<RedisSubscriber>> watched_;
  std::shared_ptr<RedisSentinelSearch> search_;  // after a new subscription
  bool closed_ = false;
};

}  // namespace tarry::net
