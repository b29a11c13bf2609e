#include "net/redis_subscriber.h"

#include <algorithm>
#include <utility>

namespace tarry::net {
namespace {

constexpr std::chrono::milliseconds kRedisPingEvery{10'000};

}  // namespace

RedisSubscriber::RedisSubscriber(boost::asio::io_context& io, const RedisOptions& options,
                                 RedisChannels kind, std::vector<std::string> channels,
                                 Redis::OnMessage on_message, Redis::OnSubscribed on_subscribed)
    : io_(io),
      options_(options),
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
                        [self](RedisLink::End) { self->on_end(); }});
  link_->start();
}

void RedisSubscriber::on_ready() {
  // One by one: channels of several slots may not stand in one command.
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

void RedisSubscriber::on_end() {
  link_.reset();
  if (!closed_) wait(backoff_.failed());
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
