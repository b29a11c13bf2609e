// RedisSubscriber: a subscription on a connection of its own, kept for good: made again when the
// connection breaks, and asked for a sign of life (PING) when nothing comes.
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

#include "net/redis_backoff.h"
#include "net/redis_client.h"
#include "net/redis_link.h"

namespace tarry::net {

class RedisSubscriber : public std::enable_shared_from_this<RedisSubscriber> {
 public:
  /// `options` must outlive it.
  RedisSubscriber(boost::asio::io_context& io, const RedisOptions& options, RedisChannels kind,
                  std::vector<std::string> channels, Redis::OnMessage on_message,
                  Redis::OnSubscribed on_subscribed);

  void start();
  void close();

 private:
  using Clock = RedisBackoff::Clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>,
                                                  RedisStream::Executor>;

  void on_ready();
  void on_reply(RedisView reply);
  void on_end();
  void wait(Clock::duration time);
  void on_timer();

  boost::asio::io_context& io_;
  const RedisOptions& options_;
  const bool sharded_;
  const std::vector<std::string> channels_;
  Redis::OnMessage on_message_;
  Redis::OnSubscribed on_subscribed_;
  Timer timer_;
  RedisBackoff backoff_;
  std::shared_ptr<RedisLink> link_;
  std::size_t confirmed_ = 0;  // channels
  bool closed_ = false;
};

}  // namespace tarry::net
