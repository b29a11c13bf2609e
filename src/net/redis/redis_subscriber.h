// RedisSubscriber: a permanent subscription on its own connection. It reconnects when the
// connection breaks, and sends a PING when nothing arrives for a while.
//
// Thread safety: none; on the io_context's thread. Callbacks never run within a method, nor after
// `close`.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "net/redis/redis_backoff.h"
#include "net/redis/redis_client.h"
#include "net/redis/redis_link.h"

namespace tarry::net {

class RedisSubscriber : public std::enable_shared_from_this<RedisSubscriber> {
 public:
  /// `sentinels`: not null if `options` has them.
  RedisSubscriber(boost::asio::io_context& io, RedisOptions options, RedisChannels kind,
                  std::vector<std::string> channels, Redis::OnMessage on_message,
                  Redis::OnSubscribed on_subscribed,
                  std::shared_ptr<RedisSentinels> sentinels = nullptr);

  /// Called each time the subscription breaks, before it is made again. Call `on_lost` before
  /// `start`.
  void on_lost(base::UniqueFunction<void()> call) { on_lost_ = std::move(call); }
  /// Whether all channels are confirmed, on an open connection.
  [[nodiscard]] bool stands() const noexcept { return link_ && confirmed_ == channels_.size(); }
  void start();
  /// Call `follow` when the sentinels may name another server: if they do, the subscription moves
  /// to that server.
  void follow();
  /// Call `renew` when the host name may lead to another server now: the subscription reconnects.
  void renew();
  void close();

 private:
  using Clock = RedisBackoff::Clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>,
                                                  RedisStream::Executor>;

  void on_ready();
  [[nodiscard]] bool is_elsewhere() const;
  void on_reply(RedisView reply);
  void on_end();
  void wait(Clock::duration time);
  void on_timer();

  boost::asio::io_context& io_;
  const RedisOptions options_;
  const std::shared_ptr<RedisSentinels> sentinels_;
  const bool sharded_;
  const std::vector<std::string> channels_;
  Redis::OnMessage on_message_;
  Redis::OnSubscribed on_subscribed_;
  base::UniqueFunction<void()> on_lost_;
  Timer timer_;
  RedisBackoff backoff_;
  std::shared_ptr<RedisLink> link_;
  std::size_t confirmed_ = 0;  // number of confirmed channels
  bool closed_ = false;
};

}  // namespace tarry::net
