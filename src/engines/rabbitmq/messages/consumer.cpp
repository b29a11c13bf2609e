#include "engines/rabbitmq/messages/consumer.h"

#include <algorithm>
#include <random>
#include <utility>

#include "engines/rabbitmq/ladder/names.h"
#include "engines/rabbitmq/ladder/topology.h"
#include "engines/rabbitmq/messages/claim.h"

namespace tarry::rabbitmq {
namespace {

using net::rabbit::in_one_line;
using net::rabbit::view_of;

constexpr std::uint16_t kAsking = 1;
// A quorum queue counts a delivery even if its consumer was cancelled meanwhile. The first message
// of a waiting claim cancels its consumer, so no second message may be under way then.
constexpr std::uint16_t kPrefetch = 1;
constexpr std::chrono::seconds kAckPatience{1};  // acks take effect within milliseconds
constexpr std::uint16_t kFirstQueueChannel = 3;  // kDeadChannel is 2

Error store_is_closed() { return {ErrorCode::closed, "the store is closed"}; }

std::uint64_t random_epoch() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

Consumer::Consumer(net::RabbitAddress address, Ladder ladder, Publisher& publisher,
                   const core::Limits& limits, Log log)
    : address_(address),
      ladder_(ladder),
      publisher_(publisher),
      log_(std::move(log)),
      epoch_(random_epoch()),
      count_(limits),
      thread_(std::move(address), *this) {}

Result<void> Consumer::start() { return thread_.start("tarry-amqp-take"); }

void Consumer::post(PendingRequestPtr pending,
                    base::UniqueFunction<void(const PendingRequestPtr&)> run) {
  const bool posted = thread_.post([this, pending, run = std::move(run)]() mutable {
    if (closing_) return pending->answer(store_is_closed());
    if (thread_.link() == nullptr) return pending->answer(thread_.why_away());
    run(pending);
  });
  if (!posted) pending->answer(store_is_closed());
}

void Consumer::end_waits() {
  thread_.post([this] {
    closing_ = true;
    const auto claims = claims_;
    for (const auto& [ticket, claim] : claims) {
      if (claim->gone) continue;
      claim->gone = true;
      claim->pending->answer(store_is_closed());
      if (claim->gets == 0) end_wait(claim);
    }
  });
}

void Consumer::close() {
  thread_.post([this] {
    if (!declarer_) return;
    for (const auto& [channel, on] : queue_channels_) {
      await_acks(ready_name(on->queue), on->claimed.size(), on->last_ack + kAckPatience);
    }
  });
  thread_.stop();
  lost(store_is_closed());
}

Result<void> Consumer::connected(net::rabbit::RabbitLink& link) {
  told_early_ = false;
  declarer_.emplace(link, kAsking);
  return declarer_->open();
}

void Consumer::lost(const Error& error) {
  declarer_.reset();
  consumers_.clear();
  // All channels end together, before any claim fails: a claim cannot release messages that it has
  // on another channel either.
  const auto queue_channels = std::exchange(queue_channels_, {});
  for (const auto& [channel, queue_channel] : queue_channels) {
    for (auto& answered : queue_channel->barriers) answered(false);
  }
  const auto claims = std::exchange(claims_, {});
  for (const auto& [ticket, claim] : claims) {
    claim->consumers.clear();
    fail(claim, error);
  }
}

SteadyTime Consumer::tick(SteadyTime now) {
  SteadyTime next = now + std::chrono::seconds(1);
  const auto claims = claims_;
  for (const auto& [ticket, claim] : claims) {
    if (claim->consumers.empty() || claim->ending) continue;
    if (claim->end <= now) {
      end_wait(claim);
    } else {
      next = std::min(next, claim->end);
    }
  }
  return next;
}

// -- channels

bool Consumer::has_channel(const std::string& queue) const noexcept {
  return std::ranges::any_of(queue_channels_,
                             [&](const auto& each) { return each.second->queue == queue; });
}

Result<QueueChannel*> Consumer::channel_of(const std::string& queue) {
  for (auto& [channel, queue_channel] : queue_channels_) {
    if (queue_channel->queue == queue) return queue_channel.get();
  }
  if (auto there = declare_queue(*declarer_, queue, publisher_.broker()); !there) {
    return there.error();
  }
  const int most = amqp_get_channel_max(thread_.link()->state());
  std::uint16_t channel = kFirstQueueChannel;
  while (queue_channels_.contains(channel)) ++channel;
  if (channel > most) {
    return Error{ErrorCode::unavailable,
                 "queue " + queue + ": a connection to the broker has " + std::to_string(most) +
                     " channels, and this store uses one for each queue that it claims from"};
  }
  if (auto opened = thread_.link()->open_channel(channel, false); !opened) return opened.error();
  auto queue_channel = std::make_unique<QueueChannel>();
  queue_channel->queue = queue;
  queue_channel->channel = channel;
  queue_channel->number = ++last_number_;
  return (queue_channels_[channel] = std::move(queue_channel)).get();
}

QueueChannel* Consumer::channel_at(std::uint16_t channel) noexcept {
  const auto found = queue_channels_.find(channel);
  return found == queue_channels_.end() ? nullptr : found->second.get();
}

QueueChannel* Consumer::channel_numbered(std::uint64_t number) noexcept {
  for (auto& [channel, queue_channel] : queue_channels_) {
    if (queue_channel->number == number) return queue_channel.get();
  }
  return nullptr;
}

void Consumer::end_channel(std::uint16_t channel, const Error& error) {
  const auto found = queue_channels_.find(channel);
  const std::unique_ptr<QueueChannel> queue_channel = std::move(found->second);
  queue_channels_.erase(found);
  for (auto& answered : queue_channel->barriers) answered(false);
  std::set<ClaimPtr> hit(queue_channel->gets.begin(), queue_channel->gets.end());
  for (const auto& [ticket, claim] : claims_) {
    for (const auto& [tag, number] : claim->consumers) {
      if (number == queue_channel->number) hit.insert(claim);
    }
  }
  for (const ClaimPtr& claim : hit) fail(claim, error);
}

Result<void> Consumer::take(const amqp_frame_t& frame) {
  if (frame.channel == 0 && frame.frame_type == AMQP_FRAME_METHOD &&
      frame.payload.method.id == AMQP_CONNECTION_CLOSE_METHOD) {
    return thread_.link()->failure(in_one_line(
        static_cast<const amqp_connection_close_t*>(frame.payload.method.decoded)->reply_text));
  }
  QueueChannel* queue_channel = channel_at(frame.channel);
  if (queue_channel == nullptr) return {};
  if (frame.frame_type == AMQP_FRAME_METHOD)
    return take_method(*queue_channel, frame.payload.method);
  if (!queue_channel->arriving) return {};
  Arriving& arriving = *queue_channel->arriving;
  if (frame.frame_type == AMQP_FRAME_HEADER) {
    arriving.size = frame.payload.properties.body_size;
    arriving.arrived =
        arrived_of(*static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded),
                   queue_channel->queue, arriving.redelivered);
  } else if (frame.frame_type == AMQP_FRAME_BODY) {
    arriving.arrived.message.payload.append(view_of(frame.payload.body_fragment));
  }
  if (arriving.arrived.message.payload.size() >= arriving.size) arrived(*queue_channel);
  return {};
}

Result<void> Consumer::take_method(QueueChannel& queue_channel, const amqp_method_t& method) {
  switch (method.id) {
    case AMQP_BASIC_DELIVER_METHOD: {
      const auto* deliver = static_cast<const amqp_basic_deliver_t*>(method.decoded);
      const auto to = consumers_.find(view_of(deliver->consumer_tag));
      begin_arrival(queue_channel, {.tag = deliver->delivery_tag,
                                    .redelivered = deliver->redelivered != 0,
                                    .claim = to == consumers_.end() ? nullptr : to->second});
      return {};
    }
    case AMQP_BASIC_GET_OK_METHOD: {
      const auto* ok = static_cast<const amqp_basic_get_ok_t*>(method.decoded);
      Arriving arriving{.tag = ok->delivery_tag,
                        .redelivered = ok->redelivered != 0,
                        .by_get = true,
                        .left = ok->message_count};
      arriving.claim = queue_channel.gets.front();
      queue_channel.gets.pop_front();
      begin_arrival(queue_channel, std::move(arriving));
      return {};
    }
    case AMQP_BASIC_GET_EMPTY_METHOD: {
      const ClaimPtr claim = queue_channel.gets.front();
      queue_channel.gets.pop_front();
      got_none(claim);
      return {};
    }
    case AMQP_BASIC_QOS_OK_METHOD: {
      auto answered = std::move(queue_channel.barriers.front());
      queue_channel.barriers.pop_front();
      answered(true);
      return {};
    }
    case AMQP_BASIC_CANCEL_OK_METHOD: {
      const std::string tag(
          view_of(static_cast<const amqp_basic_cancel_ok_t*>(method.decoded)->consumer_tag));
      const auto found = consumers_.find(tag);
      if (found == consumers_.end()) return {};
      const ClaimPtr claim = found->second;
      consumer_ended(claim, tag);
      return {};
    }
    case AMQP_BASIC_CANCEL_METHOD:
      // The queue was deleted. The next channel declares it again.
      return thread_.link()->failure("queue " + ready_name(queue_channel.queue) + " was deleted");
    case AMQP_CHANNEL_CLOSE_METHOD:
      return channel_closed(queue_channel,
                            *static_cast<const amqp_channel_close_t*>(method.decoded));
    default: return {};
  }
}

Result<void> Consumer::channel_closed(QueueChannel& queue_channel,
                                      const amqp_channel_close_t& closed) {
  const Error error{ErrorCode::unavailable,
                    thread_.link()->failure(in_one_line(closed.reply_text)).message};
  const std::uint16_t channel = queue_channel.channel;
  amqp_channel_close_ok_t ok{};
  const int status =
      amqp_send_method(thread_.link()->state(), channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
  if (status != AMQP_STATUS_OK) return thread_.link()->failure(status);
  end_channel(channel, error);
  return {};
}

void Consumer::begin_arrival(QueueChannel& queue_channel, Arriving arriving) {
  queue_channel.arriving.emplace(std::move(arriving));
}

void Consumer::ack(std::uint64_t queue_channel, std::uint64_t tag) {
  QueueChannel* on = channel_numbered(queue_channel);
  if (on == nullptr || on->claimed.erase(tag) == 0) return;
  on->last_ack = std::chrono::steady_clock::now();
  sent(amqp_basic_ack(thread_.link()->state(), on->channel, tag, 0));
}

void Consumer::barrier(QueueChannel& queue_channel, base::UniqueFunction<void(bool)> answered) {
  amqp_basic_qos_t qos{};
  qos.prefetch_count = kPrefetch;
  queue_channel.barriers.push_back(std::move(answered));
  sent(amqp_send_method(thread_.link()->state(), queue_channel.channel, AMQP_BASIC_QOS_METHOD,
                        &qos));
}

void Consumer::sent(int status) {
  if (status != AMQP_STATUS_OK) thread_.give_up(thread_.link()->failure(status));
}

}  // namespace tarry::rabbitmq
