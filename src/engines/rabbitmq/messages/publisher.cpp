#include "engines/rabbitmq/messages/publisher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engines/rabbitmq/ladder/names.h"
#include "engines/rabbitmq/ladder/server_version.h"
#include "engines/rabbitmq/ladder/topology.h"

namespace tarry::rabbitmq {
namespace {

using net::rabbit::amqp_view;
using net::rabbit::in_one_line;
using std::chrono::steady_clock;

constexpr std::uint16_t kDeclaring = 1;
constexpr std::uint16_t kPublishing = 2;
constexpr std::size_t kMostUnconfirmed = 512;
constexpr std::size_t kMostBytes = 128 * 1024;
constexpr std::chrono::seconds kBlockedPatience{2};
constexpr std::chrono::seconds kClosePatience{5};
constexpr std::string_view kWeaker =
    "classic queues: a message that climbs from rung to rung can be lost if the broker fails at "
    "that moment; quorum queues, from RabbitMQ 3.10 on, lose none";

std::size_t size_of(const Message& message) {
  return message.payload.size() + message.headers.size() + message.key.size();
}

Error refused(const std::string& queue) {
  return {ErrorCode::unavailable, "the broker has refused the message (nack): queue " + queue +
                                      " takes no more; does a policy limit its length?"};
}

Error closed() { return {ErrorCode::closed, "the store is closed"}; }

}  // namespace

Publisher::Publisher(net::RabbitAddress address, Ladder ladder, Queues wanted, Log log)
    : address_(address),
      ladder_(ladder),
      wanted_(wanted),
      log_(std::move(log)),
      thread_(std::move(address), *this) {}

Result<void> Publisher::start() { return thread_.start("tarry-amqp-push"); }

void Publisher::publish(std::vector<Outgoing> messages) {
  {
    const std::lock_guard lock(mutex_);
    outstanding_ += messages.size();
  }
  auto shared = std::make_shared<std::vector<Outgoing>>(std::move(messages));
  if (thread_.post([this, shared] { add(std::move(*shared)); })) return;
  for (Outgoing& out : *shared) finish(out, closed());
}

void Publisher::close() {
  {
    std::unique_lock lock(mutex_);
    idle_.wait_for(lock, kClosePatience, [this] { return outstanding_ == 0; });
  }
  thread_.stop();
  fail_waiting(closed());
  fail_sent({ErrorCode::unknown_outcome,
             "the store was closed before the broker confirmed the message: it may be there"});
}

Result<void> Publisher::connected(net::rabbit::RabbitLink& link) {
  auto broker = broker_of(version_of(link), wanted_);
  if (!broker) {
    return Error{broker.error().code, link.failure(broker.error().message).message};
  }
  broker_ = *std::move(broker);
  declarer_.emplace(link, kDeclaring);
  there_.clear();
  auto done = declarer_->open();
  if (done) done = declare_ladder(*declarer_, ladder_, broker_);
  if (done) done = link.open_channel(kPublishing, true);
  if (!done) {
    declarer_.reset();
    return done;
  }
  last_tag_ = 0;
  returning_.reset();
  blocked_.reset();
  if (!broker_.quorum && !std::exchange(told_, true)) {
    log_({LogLevel::warning, "rabbitmq_classic_queues", kWeaker});
  }
  return {};
}

void Publisher::lost(const Error& error) {
  declarer_.reset();
  fail_waiting(error);
  fail_sent({ErrorCode::unknown_outcome,
             error.message + "; the message had been sent, and may be there"});
}

void Publisher::add(std::vector<Outgoing> messages) {
  for (Outgoing& out : messages) waiting_.push_back(std::move(out));
  send_some();
}

SteadyTime Publisher::tick(SteadyTime now) {
  not_there_.clear();
  const Error late{ErrorCode::unknown_outcome,
                   "the broker has not confirmed the message in time: it may be there"};
  if (blocked_ && now >= blocked_at_ + kBlockedPatience) fail_sent(late);
  if (!sent_.empty() && now >= sent_.begin()->second.end) thread_.give_up(late);
  return now + std::chrono::seconds(1);
}

void Publisher::send_some() {
  if (thread_.link() == nullptr) return fail_waiting(thread_.why_away());
  if (blocked_) {
    return fail_waiting({ErrorCode::unavailable,
                         thread_.link()->failure("takes no messages now: " + *blocked_).message});
  }
  while (!waiting_.empty() && sent_.size() < kMostUnconfirmed && bytes_ < kMostBytes) {
    Outgoing out = std::move(waiting_.front());
    waiting_.pop_front();
    if (auto there = ensure(out.message.queue); !there) {
      finish(out, there.error());
      continue;
    }
    const MessageProperties properties(out.message);
    if (auto fits = check_room(properties); !fits) {
      finish(out, fits.error());
      continue;
    }
    Route route = route_of(out);
    const int status = send(route, out.message, properties);
    bytes_ += size_of(out.message);
    sent_.emplace(++last_tag_,
                  Sent{std::move(out),
                       std::move(route),
                       steady_clock::now() + std::chrono::milliseconds(address_.confirm_timeout_ms),
                       {}});
    if (status != AMQP_STATUS_OK) return thread_.give_up(thread_.link()->failure(status));
  }
}

Result<void> Publisher::ensure(const std::string& queue) {
  if (there_.contains(queue)) return {};
  if (const auto known = not_there_.find(queue); known != not_there_.end()) return known->second;
  auto done = declare_queue(*declarer_, queue, broker_);
  if (done) {
    there_.insert(queue);
  } else {
    not_there_.emplace(queue, done.error());
  }
  return done;
}

Result<void> Publisher::check_room(const MessageProperties& properties) {
  const std::size_t room = thread_.link()->properties_room();
  scratch_.resize(room);
  // The library reads the properties, and does not change them.
  auto* decoded = const_cast<amqp_basic_properties_t*>(&properties.get());
  if (amqp_encode_properties(AMQP_BASIC_CLASS, decoded, amqp_view(scratch_)) >= 0) return {};
  return Error{ErrorCode::too_large, "key and headers do not fit the broker's frame, which has " +
                                         std::to_string(room) + " bytes for them"};
}

Publisher::Route Publisher::route_of(const Outgoing& out) const {
  const Message& message = out.message;
  if (out.dead) return {"", dead_name(message.queue)};
  const std::int64_t delay = message.due_ms - clock_.now().realtime_ms;
  // The delay is over the top only if the clock was set back after the request was checked.
  const auto units =
      delay <= 0 ? 0 : ladder_.units(std::min(delay + clock_.rounding_ms(), ladder_.top_ms()));
  if (*units == 0) return {"", ready_name(message.queue)};
  return {rung_name(ladder_.base_ms(), Ladder::first_rung(*units)),
          Ladder::routing_key(*units, message.queue)};
}

int Publisher::send(const Route& route, const Message& message,
                    const MessageProperties& properties) {
  return amqp_basic_publish(thread_.link()->state(), kPublishing, amqp_view(route.exchange),
                            amqp_view(route.key), 1, 0, &properties.get(),
                            amqp_view(message.payload));
}

Result<void> Publisher::take(const amqp_frame_t& frame) {
  if (frame.frame_type == AMQP_FRAME_HEADER) {
    take_returned(frame);
    return {};
  }
  if (frame.frame_type != AMQP_FRAME_METHOD) return {};
  auto taken = take_method(frame);
  if (taken) send_some();
  return taken;
}

Result<void> Publisher::take_method(const amqp_frame_t& frame) {
  const amqp_method_t& method = frame.payload.method;
  switch (method.id) {
    case AMQP_BASIC_ACK_METHOD: {
      const auto* ack = static_cast<const amqp_basic_ack_t*>(method.decoded);
      confirm(ack->delivery_tag, ack->multiple != 0, true);
      return {};
    }
    case AMQP_BASIC_NACK_METHOD: {
      const auto* nack = static_cast<const amqp_basic_nack_t*>(method.decoded);
      confirm(nack->delivery_tag, nack->multiple != 0, false);
      return {};
    }
    case AMQP_BASIC_RETURN_METHOD:
      returning_ = in_one_line(static_cast<const amqp_basic_return_t*>(method.decoded)->reply_text);
      return {};
    case AMQP_CHANNEL_CLOSE_METHOD:
      return reopen(
          in_one_line(static_cast<const amqp_channel_close_t*>(method.decoded)->reply_text));
    case AMQP_CONNECTION_CLOSE_METHOD:
      return thread_.link()->failure(
          in_one_line(static_cast<const amqp_connection_close_t*>(method.decoded)->reply_text));
    case AMQP_CONNECTION_BLOCKED_METHOD:
      blocked_ = in_one_line(static_cast<const amqp_connection_blocked_t*>(method.decoded)->reason);
      blocked_at_ = steady_clock::now();
      log_({LogLevel::warning, "rabbitmq_blocked",
            thread_.link()->failure("takes no messages now: " + *blocked_).message});
      return {};
    case AMQP_CONNECTION_UNBLOCKED_METHOD:
      blocked_.reset();
      log_({LogLevel::info, "rabbitmq_unblocked",
            thread_.link()->failure("takes messages again").message});
      return {};
    default: return {};
  }
}

void Publisher::take_returned(const amqp_frame_t& frame) {
  if (!returning_ || frame.channel != kPublishing) return;
  const std::uint64_t id =
      id_of(*static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded));
  for (auto& [tag, sent] : sent_) {
    if (sent.out.message.id != id || !sent.returned.empty()) continue;
    sent.returned = *returning_;
    there_.erase(sent.out.message.queue);  // declared again before the next push
    break;
  }
  returning_.reset();
}

void Publisher::confirm(std::uint64_t tag, bool multiple, bool taken) {
  auto from = multiple ? sent_.begin() : sent_.find(tag);
  while (from != sent_.end() && from->first <= tag) {
    Sent sent = std::move(from->second);
    from = sent_.erase(from);
    bytes_ -= size_of(sent.out.message);
    if (!taken) {
      finish(sent.out, refused(sent.route.exchange.empty() ? sent.route.key : sent.route.exchange));
    } else if (!sent.returned.empty()) {
      finish(sent.out, Error{ErrorCode::unavailable, "the broker has no queue for the message (" +
                                                         sent.returned + "); push it again"});
    } else {
      finish(sent.out, {});
    }
  }
}

// The broker has closed the channel. Messages that it has not confirmed may have been stored.
Result<void> Publisher::reopen(const std::string& why) {
  amqp_channel_close_ok_t ok{};
  const int status =
      amqp_send_method(thread_.link()->state(), kPublishing, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
  if (status != AMQP_STATUS_OK) return thread_.link()->failure(status);
  fail_sent({ErrorCode::unknown_outcome, why + "; the message had been sent, and may be there"});
  there_.clear();
  last_tag_ = 0;
  return thread_.link()->open_channel(kPublishing, true);
}

void Publisher::fail_waiting(const Error& error) {
  std::deque<Outgoing> failed;
  failed.swap(waiting_);
  for (Outgoing& out : failed) finish(out, error);
}

void Publisher::fail_sent(const Error& error) {
  std::map<std::uint64_t, Sent> failed;
  failed.swap(sent_);
  bytes_ = 0;
  for (auto& [tag, sent] : failed) finish(sent.out, error);
}

void Publisher::finish(Outgoing& out, Result<void> how) {
  out.done(std::move(how));
  const std::lock_guard lock(mutex_);
  if (--outstanding_ == 0) idle_.notify_all();
}

}  // namespace tarry::rabbitmq
