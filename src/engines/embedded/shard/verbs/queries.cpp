#include "engines/embedded/shard/verbs/queries.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "base/text/text.h"
#include "engines/embedded/shard/requests/part_items.h"

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

MessageHistory history_of(std::uint32_t limit, const EventList* list) {
  MessageHistory history;
  history.limit = limit;
  if (list == nullptr) return history;
  for (std::string_view rest = list->bytes(); !rest.empty();) {
    const auto entry = take_event(rest);
    if (!entry) break;
    MessageEvent& event = history.events.emplace_back();
    event.kind = entry->kind;
    event.at = Time(Millis(entry->at_ms));
    event.attempt = entry->attempt;
    if (sets_due(entry->kind)) event.due = Time(Millis(entry->due_ms));
    (entry->kind == EventKind::claimed ? event.by : event.reason) = std::string(entry->text);
  }
  return history;
}

// Counts one more message into the answer if it still fits; the first one always fits. Call it
// before the payload is read. So a request that names one long message a thousand times takes no
// more memory.
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

// The bytes that the events take in an answer.
std::uint64_t memory_of(const EventList* events) {
  return events == nullptr ? 0 : events->bytes().size() + events->count() * sizeof(MessageEvent);
}

std::uint64_t memory_of(const MessageHistory& history) {
  std::uint64_t bytes = history.events.size() * sizeof(MessageEvent);
  for (const MessageEvent& event : history.events) bytes += event.reason.size() + event.by.size();
  return bytes;
}

}  // namespace

MessageFacts Queries::facts(Handle handle) const {
  const Message& message = shard_.state.slab[handle];
  MessageFacts facts;
  facts.handle = handle;
  facts.place = shard_.journal.place(message.position);
  facts.generated_key = message.generated_key != 0;
  MessageInfo& info = facts.info;
  info.id = message.id;
  info.queue = shard_.state.queue(message.queue).name;
  info.state = state_of(message.stage());
  info.stopping = message.stopping != 0;
  info.due = Time(Millis(message.due_ms()));
  info.priority = message.priority;
  info.max_attempts = shard_.state.own.max_attempts(handle);
  if (const core::Expiry expiry = shard_.state.own.expiry(handle); expiry.any()) {
    info.expire_at = Time(Millis(expiry.at_ms));
    if (expiry.after_ms != 0) info.expire = Millis(expiry.after_ms);
  }
  if (const Group* const group = shard_.state.queue(message.queue).lanes.group_of(handle)) {
    info.group = *group->name;
  }
  if (message.history == kNoHistory) return facts;
  const History& history = shard_.state.histories[message.history];
  info.attempt = history.attempt;
  info.tallies = history.tallies;
  if (message.stage() == Stage::leased) {
    info.lease_left =
        Millis(std::max<std::int64_t>(history.lease_end_ms() - shard_.now.boottime_ms, 0));
  } else if (message.stage() == Stage::dead) {
    info.kept_until = Time(Millis(history.until_ms));
    info.reason = std::string(shard_.state.reasons.text(history.reason));
  } else if (message.stage() == Stage::remembered) {
    info.kept_until = Time(Millis(history.until_ms));
    info.settlement = Settlement{history.ending, Time(Millis(history.stamp_ms))};
  }
  return facts;
}

std::uint64_t Queries::group_leased(Handle handle) const {
  const QueueState& queue = shard_.state.queue(shard_.state.slab[handle].queue);
  const Group* const group = queue.lanes.group_of(handle);
  if (group == nullptr) return 0;
  if (queue.settings.group_order == GroupOrder::push) return group->leased;  // all are here
  if (!queue.at_gate.counts_groups) return 0;
  return queue.at_gate.gate->with_groups(
      [&](GroupLeases& leases) { return leases.of(*group->name) - group->freed; });
}

void Queries::execute(const core::GetRequest& request, const Part& part) {
  const QueueId id = shard_.state.queues.find(request.queue);
  if (id != kNoQueue) {
    const std::scoped_lock lock(part.op->merge);
    part.op->found = true;
  }
  if (id == kNoQueue || part.op->asks_for_queue) {
    shard_.job.end(part.op);
    return;
  }
  const QueueState& queue = shard_.state.queue(id);
  std::vector<std::pair<std::size_t, MessageFacts>> found;
  auto& reply = std::get<core::GetReply>(part.op->reply);
  std::uint64_t histories = 0;  // bytes; they are built here, so their sum is limited here
  each_item(part, request.keys.size(), [&](std::size_t i) {
    const Handle handle = shard_.keys.find(id, core::view(request.bytes, request.keys[i]));
    if (handle == kNoHandle) return;
    const EventList* const events = request.with_history ? shard_.state.events(handle) : nullptr;
    const std::uint64_t bytes = memory_of(events);
    if (histories != 0 && histories + bytes > shard_.config.limits.max_reply) {
      reply.items[i] =
          Error{ErrorCode::too_large, "the histories are larger than an answer may be (" +
                                          std::to_string(shard_.config.limits.max_reply) +
                                          " bytes); ask for fewer keys at once"};
      return;
    }
    histories += bytes;
    MessageInfo& info = found.emplace_back(i, facts(handle)).second.info;
    info.group_leased = group_leased(handle);
    if (request.with_history) info.history = history_of(queue.settings.history, events);
    info.group_waits = info.state == State::ready && !queue.lanes.order_permits(handle);
    info.paused = queue.is_paused(shard_.now.realtime_ms);
    if (info.paused && queue.paused_until_ms) {
      info.paused_until = Time(Millis(*queue.paused_until_ms));
    }
  });
  shard_.job.add_task([router = &shard_.router, op = part.op, files = &shard_.files, &reply,
                       found = std::move(found), tag = shard_.state.store_tag(),
                       shard = shard_.config.number, limit = shard_.config.limits.max_reply,
                       with_payload = request.with_payload](const CommitOutcome& outcome) mutable {
    if (outcome.failure != nullptr) {
      op->fail(*outcome.failure);
    } else {
      ReplyReader reader(*files, tag, static_cast<std::uint16_t>(shard));
      try {
        for (auto& [i, facts] : found) {
          auto done = reader.describe(facts);
          if (done) {
            const std::uint64_t bytes =
                reader.reply_bytes(facts, with_payload) + memory_of(facts.info.history);
            done = take_room(*op, reply, bytes, limit, facts.info.key);
          }
          if (done) done = reader.complete(facts, with_payload);
          reply.items[i] = done ? Result<MessageInfo>(std::move(facts.info))
                                : Result<MessageInfo>(std::move(done).error());
        }
      } catch (const std::bad_alloc&) {  // the text is too short to need any
        op->fail({ErrorCode::unavailable, "out of memory"});
      }
    }
    router->finish_part(op);
  });
}

void Queries::execute(const core::ListRequest& request, const Part& part) {
  std::vector<MessageFacts> found;
  const QueueId queue = shard_.state.queues.find(request.queue);
  const auto& reply = std::get<core::ListReply>(part.op->reply);
  const std::size_t wanted =
      request.limit - std::min<std::size_t>(request.limit, reply.messages.size());
  Handle cursor = part.cursor;
  const Handle all = queue == kNoQueue ? cursor : shard_.state.slab.end();
  const Handle end = static_cast<Handle>(
      std::min<std::uint64_t>(all, std::uint64_t{cursor} + shard_.config.slices.sweep));
  for (; cursor < end && found.size() < wanted; ++cursor) {
    if (!shard_.state.slab.is_live(cursor)) continue;
    const Message& message = shard_.state.slab[cursor];
    if (message.queue != queue) continue;
    if (request.state && state_of(message.stage()) != *request.state) continue;
    found.push_back(facts(cursor));
  }
  bool exhausted = cursor >= all;
  shard_.job.add_task([router = &shard_.router, op = part.op, files = &shard_.files,
                       found = std::move(found), tag = shard_.state.store_tag(),
                       shard = shard_.config.number, cursor, exhausted,
                       limit = shard_.config.limits.max_reply,
                       prefix = request.prefix](const CommitOutcome& outcome) mutable {
    if (outcome.failure != nullptr) {
      op->fail(*outcome.failure);
      router->finish_part(op);
      return;
    }
    ReplyReader reader(*files, tag, static_cast<std::uint16_t>(shard));
    auto& reply = std::get<core::ListReply>(op->reply);
    for (MessageFacts& facts : found) {
      if (reply.bytes >= limit) {  // the page is full; the next page continues here
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

QueueStats Queries::stats_of(QueueId id) const {
  const QueueState& queue = shard_.state.queue(id);
  QueueStats stats;
  stats.queue = queue.name;
  stats.settings = queue.settings;
  // The queue's home decides. This shard may not have heard of it, if the store was killed then.
  stats.settings.group_order =
      shard_.state.gated.homes().route(queue.name).at_home ? GroupOrder::push : GroupOrder::due;
  stats.scheduled = queue.in(Stage::scheduled);
  stats.ready = queue.in(Stage::ready);
  stats.leased = queue.in(Stage::leased);
  stats.dead = queue.in(Stage::dead);
  stats.remembered = queue.in(Stage::remembered);
  stats.waiting_claims = shard_.waiting.waiting_at(queue.name);
  stats.paused = queue.is_paused(shard_.now.realtime_ms);
  if (stats.paused && queue.paused_until_ms) {
    stats.paused_until = Time(Millis(*queue.paused_until_ms));
  }
  if (!queue.lanes.empty()) stats.oldest_ready = Time(Millis(queue.lanes.oldest_due_ms()));
  stats.counters = queue.counters;
  if (queue.lanes.has_groups()) {
    stats.groups_ready = queue.lanes.groups()->ready_groups();
    stats.groups_held = queue.lanes.groups()->held_groups();
  }
  if (queue.at_gate.is_limited()) {
    const auto next = queue.at_gate.gate->rate_next_ms(shard_.now.boottime_ms);
    if (next) {
      stats.rate_next = Time(Millis(shard_.now.realtime_ms + *next - shard_.now.boottime_ms));
    }
  }
  return stats;
}

void Queries::execute(const core::StatsRequest& request, const Part& part) {
  ShardFigures& mine = part.op->figures[shard_.config.number];
  if (request.queue.empty()) {
    for (QueueId id = 0; id < shard_.state.queues.size(); ++id) {
      const QueueState& queue = shard_.state.queue(id);
      if (!queue.is_there()) continue;
      if (removals_.is_going(queue.name)) continue;
      mine.queues.push_back(stats_of(id));
    }
  } else if (const QueueId id = shard_.state.queues.find(request.queue); id != kNoQueue) {
    mine.queues.push_back(stats_of(id));
  }
  mine.lateness = std::make_unique<base::Histogram>(shard_.lateness);
  mine.disk_bytes = shard_.journal.disk_bytes();
  mine.live_bytes = shard_.state.live.total_bytes();
  mine.ram_bytes = shard_.state.ram_bytes();
  mine.syncs = shard_.committer.syncs();
  shard_.committer.times().add_to(mine.commit_times);
  shard_.job.end(part.op);
}

}  // namespace tarry::embedded
