// How a settle is carried out: acks; and retries, releases and buries, which publish a copy first.
#include <algorithm>
#include <utility>

#include "base/text/text.h"
#include "core/rules/queue_pattern.h"
#include "core/rules/validation.h"
#include "core/settings/retry_policy.h"
#include "engines/rabbitmq/messages/claim.h"
#include "engines/rabbitmq/messages/consumer.h"

namespace tarry::rabbitmq {

/// A settle request that is being carried out.
struct SettleJob {
  struct Ack {
    std::size_t index = 0;
    std::uint64_t queue_channel = 0;
    std::uint64_t tag = 0;
  };
  PendingRequestPtr pending;
  core::ItemsReply reply;
  std::size_t publishing = 0;  // copies that the broker has not confirmed yet
  std::vector<Ack> acks;       // sent after the last confirm
  std::size_t barriers = 0;    // not answered yet

  [[nodiscard]] const core::SettleRequest& request() const {
    return std::get<core::SettleRequest>(pending->request);
  }
};

namespace {

Error lost_ack() {
  return {ErrorCode::unknown_outcome,
          "the connection to the broker ended before it confirmed the ack: the message may be "
          "delivered again"};
}

core::MaybeError check(const core::SettleRequest& request, const core::SettleItem& item) {
  if (auto wrong = core::check_item(request, item)) return wrong;
  if (item.priority) {
    return Error{ErrorCode::unsupported, "rabbitmq cannot keep priorities: settle without one"};
  }
  if (item.action == core::SettleAction::move_away) {
    return Error{ErrorCode::unsupported, "rabbitmq cannot move messages away"};
  }
  return std::nullopt;
}

}  // namespace

void Consumer::settle(PendingRequestPtr pending) {
  post(std::move(pending), [this](const PendingRequestPtr& posted) {
    auto job = std::make_shared<SettleJob>();
    job->pending = posted;
    job->reply.items.resize(job->request().items.size());
    ++job->publishing;  // keeps the job open during this loop
    for (std::size_t i = 0; i < job->reply.items.size(); ++i) settle_item(job, i);
    if (--job->publishing == 0) acked(job);
  });
}

void Consumer::settle_item(const std::shared_ptr<SettleJob>& job, std::size_t index) {
  const core::SettleRequest& request = job->request();
  const core::SettleItem& item = request.items[index];
  core::ItemResult& result = job->reply.items[index];
  result.error = check(request, item);
  if (result.error) return;
  const std::string_view text = core::view(request.bytes, item.receipt);
  const auto receipt = receipt_of(text);
  if (!receipt) {
    result.error = Error{ErrorCode::invalid_argument,
                         "receipt " + base::quoted(text) + " is not one that a claim gave"};
    return;
  }
  result.outcome = Outcome::stale;
  if (receipt->epoch != epoch_) return;
  QueueChannel* queue_channel = channel_numbered(receipt->queue_channel);
  if (queue_channel == nullptr) return;
  if (!core::allows(request.only_queues, queue_channel->queue)) return;
  const auto found = queue_channel->claimed.find(receipt->tag);
  if (found == queue_channel->claimed.end() || found->second.settling) return;
  ClaimedMessage& claimed = found->second;
  const std::string_view reason = core::view(request.bytes, item.reason);

  Message message = claimed.message;
  ++message.tallies.claims;
  message.attempt = claimed.attempt;
  bool dead = item.action == core::SettleAction::bury;
  if (item.action == core::SettleAction::retry) {
    const std::uint32_t most =
        message.max_attempts > 0 ? message.max_attempts : settings_.max_attempts;
    dead = claimed.attempt >= most;
    if (!dead) {
      const std::int64_t delay = item.delay
                                     ? item.delay->count()
                                     : core::backoff_ms(settings_, claimed.attempt, message.id);
      if (!ladder_.units(delay)) {
        result.error = over_the_top(ladder_, delay);
        return;
      }
      message.due_ms = clock_.now().realtime_ms + delay;
      result.due_ms = message.due_ms;
    }
  }
  claimed.settling = true;
  result.outcome = Outcome::done;
  job->acks.push_back({index, receipt->queue_channel, receipt->tag});
  if (item.action == core::SettleAction::ack) return;
  if (item.action == core::SettleAction::release) {
    --message.attempt;
    ++message.tallies.releases;
  }
  if (dead) {
    ++message.tallies.buries;
    message.reason = reason;
  }
  put_anew(job, index, std::move(message), dead);
}

void Consumer::put_anew(const std::shared_ptr<SettleJob>& job, std::size_t index, Message message,
                        bool dead) {
  ++job->publishing;
  std::vector<Outgoing> out;
  out.push_back({std::move(message), dead, [this, job, index](Result<void> done) mutable {
                   auto how = std::make_shared<Result<void>>(std::move(done));
                   const bool posted = thread_.post([this, job, index, how] {
                     if (!*how) job->reply.items[index].error = how->error();
                     if (--job->publishing == 0) acked(job);
                   });
                   if (!posted) unposted(job);
                 }});
  publisher_.publish(std::move(out));
}

// Runs when every copy is confirmed or has failed.
void Consumer::acked(const std::shared_ptr<SettleJob>& job) {
  std::vector<QueueChannel*> queue_channels;
  for (const SettleJob::Ack& ack : job->acks) {
    core::ItemResult& result = job->reply.items[ack.index];
    QueueChannel* queue_channel = channel_numbered(ack.queue_channel);
    if (result.error) {
      // The caller may settle it again.
      if (queue_channel != nullptr) queue_channel->claimed.at(ack.tag).settling = false;
      continue;
    }
    if (queue_channel == nullptr) {
      result.error = lost_ack();
      continue;
    }
    this->ack(ack.queue_channel, ack.tag);
    if (std::ranges::find(queue_channels, queue_channel) == queue_channels.end())
      queue_channels.push_back(queue_channel);
  }
  const auto complete = [](const std::shared_ptr<SettleJob>& done) {
    done->pending->answer(core::Reply(std::move(done->reply)));
  };
  job->barriers = queue_channels.size();
  if (queue_channels.empty()) return complete(job);
  for (QueueChannel* queue_channel : queue_channels) {
    barrier(*queue_channel, [job, complete, number = queue_channel->number](bool answered) {
      for (const SettleJob::Ack& ack : job->acks) {
        core::ItemResult& result = job->reply.items[ack.index];
        if (!answered && ack.queue_channel == number && !result.error) result.error = lost_ack();
      }
      if (--job->barriers == 0) complete(job);
    });
  }
}

void Consumer::unposted(const std::shared_ptr<SettleJob>& job) {
  if (--job->publishing > 0) return;
  job->pending->answer(Error{ErrorCode::closed, "the store is closed"});
}

}  // namespace tarry::rabbitmq
