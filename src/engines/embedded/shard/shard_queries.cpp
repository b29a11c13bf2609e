// Get, list, stats, forecast: reads. They too answer only when everything that they saw is durable.
#include <algorithm>
#include <new>
#include <string>
#include <string_view>

#include "base/text.h"
#include "engines/embedded/shard/shard.h"
#include "engines/embedded/shard/shard_items.h"

namespace tarry::embedded {
namespace {

State state_of(Stage stage) noexcept {
  switch (stage) {
    case Stage::ready: return State::ready;
    case Stage::leased: return State::leased;
    case Stage::dead: return State::dead;
    case Stage::remembered: return State::remembered;
    default: return State::scheduled;
  }
}

// Counts one more message into the answer, if it still fits; the first one always does. Before its
// payload is read: an answer that names one long message a thousand times takes no more memory.
Result<void> take_room(Operation& op, core::GetReply& reply, std::uint64_t bytes,
                       std::uint64_t limit, std::string_view key) {
  const std::scoped_lock lock(op.merge);  // the other shards count too
  if (reply.bytes > 0 && (bytes > limit || reply.bytes > limit - bytes)) {
    return Unexpected(ErrorCode::too_large,
                      "message " + base::quoted(key) + " of " + std::to_string(bytes) +
                          " bytes is over what is left of the limit of " + std::to_string(limit) +
                          " bytes an answer; get it again with fewer keys");
  }
  reply.bytes += bytes;
  return {};
}

}  // namespace

MessageFacts Shard::facts(Handle handle) const {
  const Message& message = state_->slab[handle];
  MessageFacts facts;
  facts.handle = handle;
  facts.position = message.position;
  facts.segment = journal_->place(message.position).segment;
  facts.generated_key = message.generated_key != 0;
  MessageInfo& info = facts.info;
  info.id = message.id;
  info.queue = state_->queue(message.queue).name;
  info.state = state_of(message.stage());
  info.stopping = message.stopping != 0;
  info.due = Time(Millis(message.due_ms()));
  info.priority = message.priority;
  info.max_attempts = state_->max_attempts_override(handle);
  if (message.history == kNoHistory) return facts;
  const History& history = state_->histories[message.history];
  info.attempt = history.attempt;
  info.tallies = history.tallies;
  if (message.stage() == Stage::leased) {
    info.lease_left = Millis(std::max<std::int64_t>(history.lease_end_ms() - now_.boottime_ms, 0));
  } else if (message.stage() == Stage::dead) {
    info.kept_until = Time(Millis(history.until_ms));
    info.reason = std::string(state_->reasons.text(history.reason));
  } else if (message.stage() == Stage::remembered) {
    info.kept_until = Time(Millis(history.until_ms));
    info.settlement = Settlement{history.ending, Time(Millis(history.stamp_ms))};
  }
  return facts;
}

void Shard::execute(const core::GetRequest& request, const Part& part) {
  const QueueId id = state_->find_queue(request.queue);
  if (id != kNoQueue) {
    const std::scoped_lock lock(part.op->merge);
    part.op->found = true;
  }
  if (id == kNoQueue || part.op->asks_for_queue) {
    job_.end(part.op);
    return;
  }
  const QueueState& queue = state_->queue(id);
  std::vector<std::pair<std::size_t, MessageFacts>> found;
  auto& reply = std::get<core::GetReply>(part.op->reply);
  each_item(part, request.keys.size(), [&](std::size_t i) {
    const Handle handle =
        resolve_or_none(request.queue, core::view(request.bytes, request.keys[i]));
    if (handle == kNoHandle) return;
    MessageInfo& info = found.emplace_back(i, facts(handle)).second.info;
    info.paused = is_paused(queue);
    if (info.paused && queue.paused_until_ms) {
      info.paused_until = Time(Millis(*queue.paused_until_ms));
    }
  });
  job_.add_task([router = router_, op = part.op, files = files_, &reply, found = std::move(found),
                 tag = state_->store_tag(), shard = config_.number,
                 limit = config_.limits.max_reply,
                 with_payload = request.with_payload](const CommitOutcome& outcome) mutable {
    if (outcome.failure != nullptr) {
      op->fail(*outcome.failure);
    } else {
      ReplyReader reader(*files, tag, static_cast<std::uint16_t>(shard));
      try {
        for (auto& [i, facts] : found) {
          auto done = reader.describe(facts);
          if (done) {
            const std::uint64_t bytes = reader.reply_bytes(facts, with_payload);
            done = take_room(*op, reply, bytes, limit, facts.info.key);
          }
          if (done) done = reader.complete(facts, with_payload);
          reply.items[i] = done ? Result<MessageInfo>(std::move(facts.info))
                                : Result<MessageInfo>(std::move(done).error());
        }
      } catch (const std::bad_alloc&) {
        op->fail(no_memory());
      }
    }
    router->finish_part(op);
  });
}

void Shard::execute(const core::ListRequest& request, const Part& part) {
  std::vector<MessageFacts> found;
  const QueueId queue = state_->find_queue(request.queue);
  const auto& reply = std::get<core::ListReply>(part.op->reply);
  const std::size_t wanted =
      request.limit - std::min<std::size_t>(request.limit, reply.messages.size());
  Handle cursor = part.cursor;
  const Handle all = queue == kNoQueue ? cursor : state_->slab.end();
  const Handle end = static_cast<Handle>(
      std::min<std::uint64_t>(all, std::uint64_t{cursor} + config_.slices.sweep));
  for (; cursor < end && found.size() < wanted; ++cursor) {
    if (!state_->slab.is_live(cursor)) continue;
    const Message& message = state_->slab[cursor];
    if (message.queue != queue) continue;
    if (request.state && state_of(message.stage()) != *request.state) continue;
    found.push_back(facts(cursor));
  }
  bool exhausted = cursor >= all;
  job_.add_task([router = router_, op = part.op, files = files_, found = std::move(found),
                 tag = state_->store_tag(), shard = config_.number, cursor, exhausted,
                 limit = config_.limits.max_reply,
                 prefix = request.prefix](const CommitOutcome& outcome) mutable {
    if (outcome.failure != nullptr) {
      op->fail(*outcome.failure);
      router->finish_part(op);
      return;
    }
    ReplyReader reader(*files, tag, static_cast<std::uint16_t>(shard));
    auto& reply = std::get<core::ListReply>(op->reply);
    for (MessageFacts& facts : found) {
      if (reply.bytes >= limit) {  // a full page; the next one goes on here
        cursor = facts.handle;
        exhausted = false;
        break;
      }
      // A message with a damaged record is listed with the fields that are known.
      auto done = reader.describe(facts);
      if (!facts.info.key.starts_with(prefix)) continue;
      if (done) {
        reply.bytes += reader.reply_bytes(facts, false);
        done = reader.complete(facts, false);
      }
      if (!done) facts.info.reason = done.error().message;
      reply.messages.push_back(std::move(facts.info));
    }
    router->list_visited(op, shard, cursor, exhausted);
  });
}

QueueStats Shard::stats_of(QueueId id) const {
  const QueueState& queue = state_->queue(id);
  QueueStats stats;
  stats.queue = queue.name;
  stats.settings = queue.settings;
  stats.scheduled = queue.in(Stage::scheduled);
  stats.ready = queue.in(Stage::ready);
  stats.leased = queue.in(Stage::leased);
  stats.dead = queue.in(Stage::dead);
  stats.remembered = queue.in(Stage::remembered);
  stats.waiting_claims = waiting_.waiting_at(queue.name);
  stats.paused = is_paused(queue);
  if (stats.paused && queue.paused_until_ms) {
    stats.paused_until = Time(Millis(*queue.paused_until_ms));
  }
  if (!queue.lanes.empty()) stats.oldest_ready = Time(Millis(queue.lanes.oldest_due_ms()));
  stats.counters = queue.counters;
  return stats;
}

void Shard::execute(const core::StatsRequest& request, const Part& part) {
  ShardFigures& mine = part.op->figures[config_.number];
  if (request.queue.empty()) {
    for (QueueId id = 0; id < state_->queue_count(); ++id) {
      const QueueState& queue = state_->queue(id);
      if (!queue.is_there()) continue;
      if (const auto going = removals_.find(queue.name);
          going != removals_.end() && going->second.decided) {
        continue;
      }
      mine.queues.push_back(stats_of(id));
    }
  } else if (const QueueId id = state_->find_queue(request.queue); id != kNoQueue) {
    mine.queues.push_back(stats_of(id));
  }
  mine.lateness = std::make_unique<base::Histogram>(lateness_);
  mine.disk_bytes = journal_->disk_bytes();
  mine.live_bytes = state_->live.total_bytes();
  mine.ram_bytes = state_->ram_bytes();
  mine.syncs = committer_->syncs();
  job_.end(part.op);
}

void Shard::execute(const core::ReshardRequest&, const Part& part) {
  part.op->fail({ErrorCode::unsupported, "the shards of this store are fixed"});
  job_.end(part.op);
}

void Shard::execute(const core::ForecastRequest& request, const Part& part) {
  const QueueId queue = state_->find_queue(request.queue);
  if (queue == kNoQueue) {
    job_.end(part.op);
    return;
  }
  Count count;
  count.op = part.op;
  count.queue = queue;
  count.now_ms = now_.realtime_ms;
  count.end = state_->slab.end();  // messages pushed from now on are not counted
  count.found.buckets.resize(request.buckets);
  counts_.push_back(std::move(count));
}

bool Shard::count_slice() {
  if (counts_.empty()) return false;
  Count& count = counts_.front();
  const std::int64_t width = std::get<core::ForecastRequest>(count.op->request).width.count();
  const Handle end = static_cast<Handle>(
      std::min<std::uint64_t>(count.end, std::uint64_t{count.cursor} + config_.slices.sweep));
  for (; count.cursor < end; ++count.cursor) {
    if (!state_->slab.is_live(count.cursor)) continue;
    const Message& message = state_->slab[count.cursor];
    if (message.queue != count.queue) continue;
    const Stage stage = message.stage();
    if (stage == Stage::ready) {
      ++count.found.due_now;
    } else if (stage == Stage::scheduled) {
      // A message that fell due after the question was in the first span then.
      const std::int64_t ahead = std::max<std::int64_t>(message.due_ms() - count.now_ms, 1);
      const auto bucket = static_cast<std::uint64_t>((ahead - 1) / width);
      ++(bucket < count.found.buckets.size() ? count.found.buckets[bucket] : count.found.later);
    }
  }
  if (count.cursor < count.end && !failure_) return true;
  {
    const std::scoped_lock lock(count.op->merge);
    if (failure_ && !count.op->error) count.op->error = failure_.error();
    auto& reply = std::get<core::ForecastReply>(count.op->reply);
    reply.due_now += count.found.due_now;
    reply.later += count.found.later;
    for (std::size_t i = 0; i < reply.buckets.size(); ++i) {
      reply.buckets[i] += count.found.buckets[i];
    }
  }
  job_.end(count.op);
  counts_.pop_front();
  return !counts_.empty();
}

}  // namespace tarry::embedded
