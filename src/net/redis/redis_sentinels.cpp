#include "net/redis/redis_sentinels.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text/text.h"
#include "net/redis/redis_stream.h"
#include "net/redis/redis_subscriber.h"

namespace tarry::net {
namespace {

constexpr std::size_t kSentinelReplyBytes = 64 * 1024;

}  // namespace

RedisSentinels::RedisSentinels(boost::asio::io_context& io, const RedisOptions& options)
    : io_(io), options_(options), order_(options.sentinels->addresses.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

RedisSentinels::~RedisSentinels() { close(); }

RedisOptions RedisSentinels::options_of(std::size_t sentinel) const {
  const RedisSentinelOptions& known = *options_.sentinels;
  RedisOptions options;
  options.host = known.addresses[sentinel].host;
  options.port = known.addresses[sentinel].port;
  options.user = known.user;
  options.password = known.password;
  options.tls = options_.tls;
  options.connect_timeout_ms = options_.connect_timeout_ms;
  options.command_timeout_ms = options_.command_timeout_ms;
  options.max_reply_bytes = kSentinelReplyBytes;
  options.client_name = options_.client_name;
  options.is_sentinel = true;
  return options;
}

std::shared_ptr<RedisSentinelSearch> RedisSentinels::find(OnFound done) {
  std::vector<RedisOptions> sentinels;
  for (const std::size_t each : order_) sentinels.push_back(options_of(each));
  auto search = std::make_shared<RedisSentinelSearch>(
      io_, std::move(sentinels), options_.sentinels->master,
      [self = shared_from_this(), order = order_,
       done = std::move(done)](Result<RedisSentinelSearch::Found> found) mutable {
        if (!found) {
          done(std::move(found).error());
          return;
        }
        const std::size_t by = order[found->second];
        self->master_ = found->first;
        self->prefer(by);
        done(Found{std::move(found->first), by});
      });
  search->start();
  return search;
}

void RedisSentinels::prefer(std::size_t sentinel) {
  const auto place = std::ranges::find(order_, sentinel);
  std::rotate(order_.begin(), place, place + 1);
}

void RedisSentinels::distrust(std::size_t sentinel) {
  const auto place = std::ranges::find(order_, sentinel);
  std::rotate(place, place + 1, order_.end());
}

void RedisSentinels::watch(OnSwitched on_switched) {
  if (closed_) return;
  on_switched_ = std::move(on_switched);
  const std::weak_ptr<RedisSentinels> weak = weak_from_this();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    watched_.push_back(std::make_shared<RedisSubscriber>(
        io_, options_of(i), RedisChannels::plain, std::vector<std::string>{"+switch-master"},
        [weak, i](std::string_view, std::string_view message) {
          if (const auto self = weak.lock()) self->on_switch(i, message);
        },
        [weak, i] {
          if (const auto self = weak.lock()) self->on_watching(i);
        }));
    watched_.back()->start();
  }
}

// Asks again after a new subscription, because messages from before it were missed.
void RedisSentinels::on_watching(std::size_t sentinel) {
  if (closed_) return;
  prefer(sentinel);
  if (search_) search_->cancel();
  const RedisAddress before = master_;
  search_ = find([self = shared_from_this(), before](const Result<Found>& found) {
    self->search_.reset();
    if (!self->closed_ && found && !(found->master == before)) self->on_switched_();
  });
}

// `message` is "orders 10.0.0.7 6379 10.0.0.8 6379": name, old address, new address.
void RedisSentinels::on_switch(std::size_t by, std::string_view message) {
  const std::string& name = options_.sentinels->master;
  const std::size_t end = message.rfind(' ');
  if (closed_ || end == std::string_view::npos || !message.starts_with(name + " ")) return;
  const std::size_t host = message.rfind(' ', end - 1);
  const auto port = base::parse_u64(message.substr(end + 1), "port", 1, 65'535);
  if (host == std::string_view::npos || host < name.size() || !port) return;
  master_ = {std::string(message.substr(host + 1, end - host - 1)),
             static_cast<std::uint16_t>(*port)};
  prefer(by);
  on_switched_();
}

void RedisSentinels::close() {
  closed_ = true;
  if (const auto search = std::exchange(search_, nullptr)) search->cancel();
  for (const auto& each : watched_) each->close();
}

std::string RedisSentinels::server() const {
  RedisOptions named = options_;
  named.host = master_.host;
  named.port = master_.port;
  return redis_server_name(named);
}

}  // namespace tarry::net
