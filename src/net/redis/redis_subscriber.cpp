#include "net/redis/redis_subscriber.h"

#include <algorithm>
#include <utility>

#include "net/redis/redis_sentinels.h"

namespace tarry::net {
namespace {

constexpr std::chrono::milliseconds kRedisPingEvery{10'000};

}  // namespace

RedisSubscriber::RedisSubscriber(boost::asio::io_context& io, RedisOptions options,
                                 RedisChannels kind, std::vector<std::string> channels,
                                 Redis::OnMessage on_message, Redis::OnSubscribed on_subscribed,
                                 std::shared_ptr<RedisSentinels> sentinels)
    : io_(io),
      options_(std::move(options)),
      sentinels_(std::move(sentinels)),
      sharded_(kind == RedisChannels::sharded),
      channels_(std::move(channels)),
      on_message_(std::move(on_message)),
      on_subscribed_(std::move(on_subscribed)),
      timer_(io.get_executor()) {}

void RedisSubscriber::start() {
  confirmed_ = 0;
  const auto self = shared_from_this();
  link_ = std::make_shared<RedisLink>(
      io_, options_,
      RedisLink::Events{[self] { self->on_ready(); },
                        [self](RedisReply reply) { self->on_reply(reply.view()); },
                        [self](RedisLink::End) { self->on_end(); }},
      sentinels_);
  link_->start();
}

void RedisSubscriber::on_ready() {
  if (is_elsewhere()) {
    link_->end({ErrorCode::unavailable, "another server is the master now"});
    return;
  }
  // Each channel has its own command, because one command may not name channels of several slots.
  std::string bytes;
  for (const std::string& channel : channels_) {
    RedisCommand command(sharded_ ? "SSUBSCRIBE" : "SUBSCRIBE");
    command.add(channel);
    bytes += std::move(command).take();
  }
  link_->send(bytes, channels_.size());
}

void RedisSubscriber::on_reply(RedisView reply) {
  std::string_view what = reply[0].text();
  if (sharded_ && what.starts_with('s')) what.remove_prefix(1);
  if (what == "message") {
    on_message_(reply[1].text(), reply[2].text());
  } else if (what == "subscribe" && ++confirmed_ == channels_.size()) {
    backoff_.succeeded();
    wait(std::min(kRedisPingEvery, std::chrono::milliseconds(options_.command_timeout_ms)));
    on_subscribed_();
  } else if (what == "unsubscribe") {
    link_->end({ErrorCode::unavailable, "the slot has moved"});
  } else if (reply.is_error()) {
    link_->end({ErrorCode::unavailable, std::string(reply.text())});
  }
}

bool RedisSubscriber::is_elsewhere() const {
  return sentinels_ && !(link_->address() == sentinels_->master());
}

void RedisSubscriber::follow() {
  if (closed_) return;
  if (!link_) {
    backoff_.succeeded();
    timer_.expires_at(
        // Stops the timer; a completion that comes late belongs to an older connection.
        Clock::time_point::max());
    start();
  } else if (link_->ready() && is_elsewhere()) {
    link_->end({ErrorCode::unavailable, "another server is the master now"});
  }
}

void RedisSubscriber::renew() {
  if (link_ && link_->ready()) {
    link_->end({ErrorCode::unavailable, "another server may be the master now"});
  }
}

void RedisSubscriber::on_end() {
  link_.reset();
  if (closed_) return;
  wait(backoff_.failed());
  if (on_lost_) on_lost_();
}

void RedisSubscriber::wait(Clock::duration time) {
  timer_.expires_after(time);
  timer_.async_wait(
      [self = shared_from_this(), when = timer_.expiry()](const boost::system::error_code& error) {
        if (!error && !self->closed_ && self->timer_.expiry() == when) self->on_timer();
      });
}

void RedisSubscriber::on_timer() {
  if (!link_) {
    start();
    return;
  }
  link_->send(RedisCommand("PING").take(), 1);
  wait(std::min(kRedisPingEvery, std::chrono::milliseconds(options_.command_timeout_ms)));
}

void RedisSubscriber::close() {
  closed_ = true;
  timer_.cancel();
  if (const auto link = std::exchange(link_, nullptr)) {
    link->end({ErrorCode::closed, "the subscription was given up"});
  }
}

}  // namespace tarry::net
