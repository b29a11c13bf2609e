// How a claim takes messages: with basic.get first, then as a consumer until a message arrives.
#include <algorithm>
#include <utility>

#include "base/text/text.h"
#include "core/claimed.h"
#include "engines/rabbitmq/ladder/names.h"
#include "engines/rabbitmq/messages/claim.h"
#include "engines/rabbitmq/messages/consumer.h"

namespace tarry::rabbitmq {
namespace {

using net::rabbit::amqp_view;

// The number of basic.get sent without waiting for answers. Each answer is a whole message.
constexpr std::uint32_t kMostGets = 256;
// The broker takes a message back if it is not acked in 30 minutes (its setting consumer_timeout).
constexpr std::int64_t kLeaseMs = 30 * 60 * 1'000;
constexpr std::string_view kUsedUp = "attempts used up: the last one was not settled";

}  // namespace

void Consumer::claim(core::Ticket ticket, PendingRequestPtr pending) {
  post(std::move(pending), [this, ticket](const PendingRequestPtr& posted) {
    auto claim = std::make_shared<Claim>();
    claim->ticket = ticket;
    claim->pending = posted;
    claim->request = &std::get<core::ClaimRequest>(posted->request);
    claim->queues = claim->request->queues;
    const std::size_t turn = turn_++ % claim->queues.size();
    std::ranges::rotate(claim->queues, claim->queues.begin() + static_cast<std::ptrdiff_t>(turn));
    claim->end = std::chrono::steady_clock::now() + claim->request->wait;
    claims_.emplace(ticket, claim);
    look(claim);
  });
}

void Consumer::withdraw(core::Ticket ticket) {
  thread_.post([this, ticket] {
    const auto found = claims_.find(ticket);
    if (found == claims_.end() || found->second->gone) return;
    const ClaimPtr claim = found->second;
    claim->gone = true;
    claim->pending->answer(core::Reply(core::ClaimReply()));
    if (claim->gets == 0) end_wait(claim);
  });
}

// A message's size is known only when it has arrived, so this assumes the mean of the sizes so far.
// If some messages are larger, `answer` releases those beyond the limit.
std::uint32_t Consumer::room(const Claim& claim) noexcept {
  if (claim.gone) return 0;
  const auto used = static_cast<std::uint32_t>(claim.taken.size()) + claim.gets;
  const std::uint32_t by_count = claim.request->max > used ? claim.request->max - used : 0;
  if (claim.taken.empty()) return by_count;
  if (claim.bytes >= claim.request->max_bytes) return 0;
  const std::uint64_t mean = std::max<std::uint64_t>(1, claim.bytes / claim.taken.size());
  const std::uint64_t by_bytes = (claim.request->max_bytes - claim.bytes) / mean;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(by_count, by_bytes));
}

void Consumer::look(const ClaimPtr& claim) {
  for (; claim->looked_at < claim->queues.size() && room(*claim) > 0; ++claim->looked_at) {
    const std::string& queue = claim->queues[claim->looked_at];
    if (!has_channel(queue)) {
      // A claim that does not wait must not make a queue.
      const auto there = declarer_->count(ready_name(queue));
      if (!there && there.error().code == ErrorCode::not_found) continue;
      if (!there) return fail(claim, there.error());
    }
    const auto channel = channel_of(queue);
    if (!channel) return fail(claim, channel.error());
    return get(**channel, claim, 1);
  }
  if (!claim->taken.empty() || claim->gone || claim->request->wait.count() == 0) {
    return answer(claim);
  }
  park(claim);
}

void Consumer::get(QueueChannel& queue_channel, const ClaimPtr& claim, std::uint32_t count) {
  const std::string name = ready_name(queue_channel.queue);
  amqp_basic_get_t method{};
  method.queue = amqp_view(name);
  for (std::uint32_t i = 0; i < count; ++i) {
    queue_channel.gets.push_back(claim);
    ++claim->gets;
    sent(amqp_send_method(thread_.link()->state(), queue_channel.channel, AMQP_BASIC_GET_METHOD,
                          &method));
  }
}

void Consumer::got(QueueChannel& queue_channel, const ClaimPtr& claim, std::uint32_t left) {
  --claim->gets;
  const std::uint32_t more = claim->gets > 0 ? 0 : std::min({room(*claim), left, kMostGets});
  if (more > 0) return get(queue_channel, claim, more);
  if (claim->gets > 0) return;
  ++claim->looked_at;
  look(claim);
}

void Consumer::got_none(const ClaimPtr& claim) {
  if (--claim->gets > 0) return;
  ++claim->looked_at;
  look(claim);
}

void Consumer::park(const ClaimPtr& claim) {
  if (auto full = count_.begin(*claim->request)) return fail(claim, *full);
  claim->counted = true;
  for (const std::string& queue : claim->queues) {
    const auto queue_channel = channel_of(queue);
    if (!queue_channel) return fail(claim, queue_channel.error());
    const std::string tag = "claim-" + std::to_string(++last_consumer_);
    const std::string name = ready_name(queue);
    claim->consumers.emplace(tag, (*queue_channel)->number);
    consumers_.emplace(tag, claim);
    barrier(**queue_channel, [](bool) {});
    amqp_basic_consume_t method{};
    method.queue = amqp_view(name);
    method.consumer_tag = amqp_view(tag);
    sent(amqp_send_method(thread_.link()->state(), (*queue_channel)->channel,
                          AMQP_BASIC_CONSUME_METHOD, &method));
  }
}

// A message that is already under way arrives before the broker's answer, and belongs to the claim.
void Consumer::end_wait(const ClaimPtr& claim) {
  if (std::exchange(claim->ending, true)) return;
  if (claim->consumers.empty()) return answer(claim);
  stop_consuming(*claim);
}

void Consumer::stop_consuming(const Claim& claim) {
  for (const auto& [tag, number] : claim.consumers) {
    const QueueChannel* queue_channel = channel_numbered(number);
    if (queue_channel == nullptr) continue;
    amqp_basic_cancel_t method{};
    method.consumer_tag = amqp_view(tag);
    sent(amqp_send_method(thread_.link()->state(), queue_channel->channel, AMQP_BASIC_CANCEL_METHOD,
                          &method));
  }
}

void Consumer::consumer_ended(const ClaimPtr& claim, const std::string& tag) {
  consumers_.erase(tag);
  claim->consumers.erase(tag);
  if (!claim->consumers.empty()) return;
  if (claim->taken.empty()) return answer(claim);
  claim->looked_at = 0;  // for further messages that fell due
  look(claim);
}

void Consumer::arrived(QueueChannel& queue_channel) {
  Arriving came = *std::exchange(queue_channel.arriving, std::nullopt);
  ClaimedMessage claimed{std::move(came.arrived.message), 0};
  claimed.attempt = claimed.message.attempt + came.arrived.redeliveries + 1;
  claimed.message.tallies.claims += came.arrived.redeliveries;
  claimed.message.tallies.run_outs += came.arrived.redeliveries;
  if (came.arrived.is_foreign) claimed.message.due_ms = clock_.now().realtime_ms;
  const ClaimPtr claim = came.claim;
  const std::uint64_t tag = came.tag;
  const std::uint64_t bytes = claimed.message.payload.size();
  const auto& kept = queue_channel.claimed.emplace(tag, std::move(claimed)).first->second;
  if (!keep_away(queue_channel, tag, kept)) {
    if (claim && !claim->gone) {
      claim->taken.emplace_back(queue_channel.number, tag);
      claim->bytes += bytes;
      if (!came.by_get) end_wait(claim);
    } else {
      release(queue_channel.number, tag);
    }
  }
  if (claim && came.by_get) got(queue_channel, claim, came.left);
}

bool Consumer::keep_away(QueueChannel& queue_channel, std::uint64_t tag,
                         const ClaimedMessage& claimed) {
  const Message& message = claimed.message;
  if (const std::int64_t early = message.due_ms - clock_.now().realtime_ms; early > 0) {
    tell_early(queue_channel, early);
    replace(queue_channel.number, tag, message, false);
    return true;
  }
  const std::uint32_t most =
      message.max_attempts > 0 ? message.max_attempts : settings_.max_attempts;
  if (claimed.attempt <= most) return false;
  Message dead = message;
  dead.attempt = most;
  dead.reason = kUsedUp;
  ++dead.tallies.buries;
  replace(queue_channel.number, tag, std::move(dead), true);
  return true;
}

void Consumer::tell_early(QueueChannel& queue_channel, std::int64_t early_ms) {
  if (std::exchange(told_early_, true)) return;
  log_({LogLevel::warning, "rabbitmq_early",
        "queue " + queue_channel.queue + ": a message came " + base::format_duration_ms(early_ms) +
            " before it was due, and waits again; does a policy set message-ttl on queues "
            "tarry.v1., or do the clocks of two machines differ?"});
}

void Consumer::replace(std::uint64_t queue_channel, std::uint64_t tag, Message message, bool dead) {
  std::vector<Outgoing> out;
  out.push_back({std::move(message), dead, [this, queue_channel, tag](const Result<void>& done) {
                   // If that failed, the old message stays unacked until the connection ends.
                   if (done) thread_.post([this, queue_channel, tag] { ack(queue_channel, tag); });
                 }});
  publisher_.publish(std::move(out));
}

void Consumer::release(std::uint64_t queue_channel, std::uint64_t tag) {
  QueueChannel* on = channel_numbered(queue_channel);
  if (on == nullptr) return;
  ClaimedMessage& claimed = on->claimed.at(tag);
  claimed.settling = true;
  Message message = claimed.message;
  ++message.tallies.claims;
  ++message.tallies.releases;
  message.attempt = claimed.attempt - 1;
  replace(queue_channel, tag, std::move(message), false);
}

void Consumer::answer(const ClaimPtr& claim) {
  const core::ClaimRequest& request = *claim->request;
  core::ClaimReply reply;
  const std::int64_t now = clock_.now().realtime_ms;
  std::uint64_t bytes = 0;
  for (const auto& [number, tag] : claim->taken) {
    QueueChannel* queue_channel = channel_numbered(number);
    if (queue_channel == nullptr) continue;
    ClaimedMessage& claimed = queue_channel->claimed.at(tag);
    const Message& message = claimed.message;
    bytes += message.payload.size();
    if (claim->gone || reply.items.size() >= request.max ||
        (!reply.items.empty() && bytes > request.max_bytes)) {
      release(number, tag);
      continue;
    }
    core::ClaimedItem& item = reply.items.emplace_back();
    item.queue = core::append(reply.bytes, message.queue);
    item.key = core::append(reply.bytes, message.key);
    item.payload = core::append(reply.bytes, message.payload);
    item.headers = core::append(reply.bytes, message.headers);
    item.receipt = core::append(reply.bytes, text_of({epoch_, number, tag}));
    item.id = message.id;
    item.due_ms = message.due_ms;
    item.claimed_ms = now;
    item.lease_ms = kLeaseMs;
    item.attempt = claimed.attempt;
    item.priority = kDefaultPriority;
    item.tallies = message.tallies;
    ++item.tallies.claims;
    if (const auto late = core::lateness_ms(item)) lateness_.record(*late);
  }
  finish(claim);
  if (!claim->gone) claim->pending->answer(core::Reply(std::move(reply)));
}

void Consumer::fail(const ClaimPtr& claim, const Error& error) {
  if (!std::exchange(claim->ending, true)) stop_consuming(*claim);
  for (const auto& [tag, queue_channel] : claim->consumers) consumers_.erase(tag);
  finish(claim);
  if (std::exchange(claim->gone, true)) return;
  for (const auto& [queue_channel, tag] : std::exchange(claim->taken, {}))
    release(queue_channel, tag);
  claim->pending->answer(error);
}

void Consumer::finish(const ClaimPtr& claim) {
  claims_.erase(claim->ticket);
  if (std::exchange(claim->counted, false)) count_.end(*claim->request);
}

}  // namespace tarry::rabbitmq
