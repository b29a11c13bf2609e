// Requests about a queue as a whole: statistics, the list of dead messages, revive, purge.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

#include "core/rules/headers.h"
#include "engines/rabbitmq/ladder/names.h"
#include "engines/rabbitmq/ladder/topology.h"
#include "engines/rabbitmq/messages/claim.h"
#include "engines/rabbitmq/messages/consumer.h"

namespace tarry::rabbitmq {
namespace {

using net::rabbit::amqp_view;
using net::rabbit::view_of;

constexpr std::uint16_t kDeadChannel = 2;
// The most dead messages that one request looks at, because it holds them all in memory.
constexpr std::uint64_t kMostLooked = 10'000;
constexpr std::chrono::seconds kPutBack{1};

MessageInfo info_of(const Message& message) {
  MessageInfo info;
  info.id = message.id;
  info.queue = message.queue;
  info.key = message.key;
  info.state = State::dead;
  info.due = Time(Millis(message.due_ms));
  info.attempt = message.attempt;
  info.max_attempts = message.max_attempts;
  info.tallies = message.tallies;
  info.reason = message.reason;
  if (auto headers = core::decode_headers(message.headers)) info.headers = *std::move(headers);
  return info;
}

/// Collects the publisher's answers for a thread that waits for all of them.
struct Confirmed {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t answered = 0;
  std::vector<std::uint64_t> tags;
  std::optional<Error> error;

  void add(std::uint64_t tag, Result<void> done) {
    const std::lock_guard lock(mutex);
    ++answered;
    if (done) {
      tags.push_back(tag);
    } else {
      error = done.error();
    }
    changed.notify_all();
  }
  void wait(std::size_t wanted) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return answered == wanted; });
  }
};

}  // namespace

struct Consumer::Looked {
  std::uint64_t tag = 0;
  Message message;
};

void Consumer::stats(PendingRequestPtr pending, std::set<std::string> queues) {
  post(std::move(pending), [this, queues = std::move(queues)](const PendingRequestPtr& posted) {
    const auto& request = std::get<core::StatsRequest>(posted->request);
    StoreStats stats;
    stats.engine = "rabbitmq";
    for (const std::string& queue : queues) {
      const auto ready = declarer_->count(ready_name(queue));
      if (!ready && ready.error().code == ErrorCode::not_found) continue;
      if (!ready) return posted->answer(ready.error());
      const auto dead = declarer_->count(dead_name(queue));
      QueueStats& figures = stats.queues.emplace_back();
      figures.queue = queue;
      figures.ready = ready->ready;
      figures.dead = dead ? dead->ready : 0;
      for (const auto& [channel, queue_channel] : queue_channels_) {
        if (queue_channel->queue == queue) figures.leased = queue_channel->claimed.size();
      }
      for (const auto& [ticket, claim] : claims_) {
        if (claim->consumers.empty() || claim->gone) continue;
        figures.waiting_claims += std::ranges::count(claim->queues, queue) > 0 ? 1u : 0u;
      }
    }
    if (!request.queue.empty() && stats.queues.empty()) {
      return posted->answer(
          Error{ErrorCode::not_found, "there is no queue \"" + request.queue + "\""});
    }
    stats.lateness = {lateness_.count(), static_cast<double>(lateness_.percentile(50)),
                      static_cast<double>(lateness_.percentile(99)),
                      static_cast<double>(lateness_.percentile(99.9)),
                      static_cast<double>(lateness_.max())};
    posted->answer(core::Reply(std::move(stats)));
  });
}

// Takes dead messages on a channel of their own; `leave_dead` returns those that were not acked.
Result<std::vector<Consumer::Looked>> Consumer::look_at_dead(const std::string& queue,
                                                             std::uint64_t most) {
  std::vector<Looked> looked;
  const std::string name = dead_name(queue);
  const auto there = declarer_->count(name);
  if (!there && there.error().code == ErrorCode::not_found) return looked;
  if (!there) return there.error();
  if (auto opened = thread_.link()->open_channel(kDeadChannel, false); !opened) {
    return opened.error();
  }
  amqp_connection_state_t state = thread_.link()->state();
  const std::uint64_t count = std::min(there->ready, most);
  while (looked.size() < count) {
    const amqp_rpc_reply_t got = amqp_basic_get(state, kDeadChannel, amqp_view(name), 0);
    if (got.reply_type != AMQP_RESPONSE_NORMAL) return thread_.link()->answered().error();
    if (got.reply.id != AMQP_BASIC_GET_OK_METHOD) break;
    const auto* ok = static_cast<const amqp_basic_get_ok_t*>(got.reply.decoded);
    const std::uint64_t tag = ok->delivery_tag;
    amqp_message_t message{};
    const amqp_rpc_reply_t read = amqp_read_message(state, kDeadChannel, &message, 0);
    if (read.reply_type != AMQP_RESPONSE_NORMAL) {
      return thread_.link()->failure("a dead message cannot be read");
    }
    Looked& one = looked.emplace_back();
    one.tag = tag;
    one.message = arrived_of(message.properties, queue, false).message;
    one.message.payload = view_of(message.body);
    amqp_destroy_message(&message);
  }
  return looked;
}

// A quorum queue loses acks that have not taken effect when their channel closes: it sends some 32
// of them on, and keeps further ones back. So this waits until no more messages count as taken.
void Consumer::await_acks(const std::string& queue, std::uint64_t taken, SteadyTime end) {
  while (std::chrono::steady_clock::now() < end) {
    const auto counts = declarer_->count(queue);
    if (!counts || counts->consumers <= taken) return;
  }
}

// After a channel closes, a broker takes a moment to return its messages to the queue. Waits for
// that, so that the next look finds them.
void Consumer::leave_dead(const std::string& queue, std::uint64_t left) {
  if (thread_.link() == nullptr) return;
  const SteadyTime end = std::chrono::steady_clock::now() + kPutBack;
  await_acks(dead_name(queue), left, end);
  static_cast<void>(amqp_channel_close(thread_.link()->state(), kDeadChannel, AMQP_REPLY_SUCCESS));
  while (std::chrono::steady_clock::now() < end) {
    const auto counts = declarer_->count(dead_name(queue));
    if (!counts || counts->ready >= left) return;
  }
}

void Consumer::list(PendingRequestPtr pending) {
  post(std::move(pending), [this](const PendingRequestPtr& posted) {
    const auto& request = std::get<core::ListRequest>(posted->request);
    std::uint64_t from = 0;
    for (const char digit : request.after) {
      if (digit < '0' || digit > '9' || from > kMostLooked) {
        return posted->answer(
            Error{ErrorCode::invalid_argument, "after is not what a page before answered"});
      }
      from = from * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    auto looked = look_at_dead(request.queue, std::min(from + request.limit + 1, kMostLooked));
    if (!looked) {
      thread_.give_up(looked.error());
      return posted->answer(looked.error());
    }
    leave_dead(request.queue, looked->size());
    core::ListReply reply;
    for (std::uint64_t i = from; i < looked->size(); ++i) {
      if (i - from == request.limit) {
        reply.next = std::to_string(i);
        break;
      }
      const Message& message = (*looked)[i].message;
      if (message.key.starts_with(request.prefix)) reply.messages.push_back(info_of(message));
    }
    posted->answer(core::Reply(std::move(reply)));
  });
}

void Consumer::revive(PendingRequestPtr pending) {
  post(std::move(pending), [this](const PendingRequestPtr& posted) {
    const auto& request = std::get<core::ReviveRequest>(posted->request);
    std::set<std::string, std::less<>> keys;
    for (const core::Slice key : request.keys) keys.emplace(core::view(request.bytes, key));
    auto looked = look_at_dead(request.queue, kMostLooked);
    if (!looked) {
      thread_.give_up(looked.error());
      return posted->answer(looked.error());
    }
    // A copy is published before the dead message is acked. The publisher has a thread and a
    // connection of its own, so this thread may wait for it.
    std::vector<Outgoing> out;
    const auto confirmed = std::make_shared<Confirmed>();
    for (Looked& one : *looked) {
      if (!request.all && !keys.contains(one.message.key)) continue;
      Message message = std::move(one.message);
      message.due_ms = clock_.now().realtime_ms;
      message.attempt = 0;
      message.reason.clear();
      ++message.tallies.revives;
      out.push_back({std::move(message), false, [confirmed, tag = one.tag](Result<void> done) {
                       confirmed->add(tag, std::move(done));
                     }});
    }
    const std::size_t wanted = out.size();
    publisher_.publish(std::move(out));
    confirmed->wait(wanted);
    for (const std::uint64_t tag : confirmed->tags) {
      sent(amqp_basic_ack(thread_.link()->state(), kDeadChannel, tag, 0));
    }
    leave_dead(request.queue, looked->size() - confirmed->tags.size());
    if (confirmed->error) return posted->answer(*confirmed->error);
    posted->answer(core::Reply(core::CountReply{confirmed->tags.size()}));
  });
}

void Consumer::purge(PendingRequestPtr pending) {
  post(std::move(pending), [this](const PendingRequestPtr& posted) {
    const auto& queue = std::get<core::PurgeRequest>(posted->request).queue;
    core::CountReply reply;
    for (const std::string& name : {ready_name(queue), dead_name(queue)}) {
      const auto purged = declarer_->purge(name);
      if (purged) {
        reply.count += *purged;
      } else if (purged.error().code != ErrorCode::not_found) {
        return posted->answer(purged.error());
      }
    }
    posted->answer(core::Reply(reply));
  });
}

void Consumer::configure(PendingRequestPtr pending) {
  post(std::move(pending), [this](const PendingRequestPtr& posted) {
    const auto& queue = std::get<core::ConfigureRequest>(posted->request).queue;
    if (auto there = declare_queue(*declarer_, queue, publisher_.broker()); !there) {
      return posted->answer(there.error());
    }
    posted->answer(core::Reply(core::ConfigureReply()));
  });
}

}  // namespace tarry::rabbitmq
