#include "engines/embedded/shard/verbs/pushes.h"

#include <algorithm>
#include <functional>

#include "base/planted.h"
#include "core/engine_parts/carried.h"
#include "core/rules/expiry.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/records/tokens.h"
#include "engines/embedded/shard/context/requested_due.h"
#include "engines/embedded/shard/requests/part_items.h"

namespace tarry::embedded {
namespace {

void tell(const Message& message, core::PushResult& result) {
  result.id = message.id;
  result.due_ms = message.due_ms();
}

template <typename Items, typename Pick>
std::pair<std::uint64_t, std::uint64_t> put_bytes(const Items& items, const Pick& pick) {
  std::uint64_t bytes = 0;
  std::uint64_t largest = kQueueRecord;
  for (const auto& item : items) {
    const core::PushItem& push = pick(item);
    const std::uint64_t size = kPutOverhead + push.key.size + push.headers.size + push.payload.size;
    bytes += size + kPushExtra;
    largest = std::max(largest, size);
  }
  return {bytes, largest};
}

}  // namespace

Result<core::Expiry> Pushes::expiry_of(QueueId queue, const Pushed& pushed,
                                       std::int64_t due_ms) const {
  if (pushed.move != nullptr) return core::moved_expiry(pushed.item, due_ms);
  return core::expiry_of(pushed.item, due_ms, shard_.state.queue(queue).settings.expire);
}

Result<core::GroupSpan> Pushes::group_of(QueueId id, const Pushed& pushed) const {
  const QueueState& queue = shard_.state.queue(id);
  const Grouping& grouping = queue.settings.group;
  if (grouping.by == Grouping::By::none) return core::GroupSpan();
  const std::string_view key = core::view(pushed.bytes, pushed.item.key);
  const std::string_view headers = core::view(pushed.bytes, pushed.item.headers);
  if (pushed.move != nullptr) return core::moved_group(grouping, key, headers);
  return core::group_of(grouping, queue.name, key, headers);
}

void Pushes::put_new(QueueId queue, const Pushed& pushed, core::PushResult& result,
                     std::string& reply_bytes) {
  const auto& [bytes, item, payload_crc, move] = pushed;
  const auto times = requested_due(item.due, shard_);
  if (!times) {
    result.error = times.error();
    return;
  }
  const auto expiry = expiry_of(queue, pushed, times->due_ms);
  if (!expiry) {
    result.error = expiry.error();
    return;
  }
  const auto group = group_of(queue, pushed);
  if (!group) {
    result.error = group.error();
    return;
  }
  PutRecord record;
  record.expiry = *expiry;
  record.group = *group;
  record.ref = {shard_.state.slab.peek_free(), shard_.state.next_id()};
  if (record.ref.handle > kMaxHandle) {
    result.error = Error{ErrorCode::no_space, "the shard has its limit of 2^31 messages"};
    return;
  }
  record.queue = queue;
  record.due_ms = times->due_ms;
  record.boot_due_ms = times->boot_due_ms;
  record.priority = item.priority;
  record.max_attempts = static_cast<std::uint16_t>(item.max_attempts);
  record.generated_key = item.key.size == 0;
  record.key = core::view(bytes, item.key);
  record.headers = core::view(bytes, item.headers);
  record.payload = core::view(bytes, item.payload);
  record.payload_crc = payload_crc;
  record.pushed_ms = shard_.now.realtime_ms;
  std::string events;
  if (move != nullptr) {
    record.pushed_ms = move->pushed_ms;
    Carried carried;
    carried.stage = move->dead ? Stage::dead : Stage::scheduled;
    carried.attempt = move->attempt;
    carried.tallies = core::carried(move->tallies);
    if (move->dead) {
      carried.stamp_ms = shard_.now.realtime_ms;
      carried.until_ms =
          shard_.now.realtime_ms + shard_.state.queue(queue).settings.dead_keep.count();
      carried.reason = core::view(bytes, move->reason);
    }
    if (shard_.state.queue(queue).events != nullptr) {
      append_event(events,
                   {EventKind::imported, move->attempt, shard_.now.realtime_ms, record.due_ms, {}});
      carried.events = events;
      carried.event_count = 1;
    }
    record.carried = carried;
  }
  shard_.records.write(record);
  tell(shard_.state.slab[record.ref.handle], result);
  if (record.generated_key) {
    const auto key = spell(GeneratedKey{shard_.state.store_tag(),
                                        static_cast<std::uint16_t>(shard_.config.number),
                                        record.ref.handle, record.ref.id});
    std::copy(key.begin(), key.end(), reply_bytes.begin() + result.key.offset);
  }
}

void Pushes::push_onto(Handle found, IfExists rule, const Pushed& pushed, core::PushResult& result,
                       std::string& reply_bytes) {
  const Message& message = shard_.state.slab[found];
  const Stage stage = message.stage();
  if (rule == IfExists::replace && stage != Stage::leased) {
    return replace(found, pushed, result, reply_bytes);
  }
  tell(message, result);
  if (stage == Stage::leased) {
    result.outcome = Outcome::in_flight;
  } else if (stage == Stage::remembered) {
    result.outcome = Outcome::settled;
  } else if (stage == Stage::dead || rule == IfExists::reject) {
    result.outcome = Outcome::exists;
  } else {
    result.outcome = Outcome::kept;
    if (rule != IfExists::keep) move_due(found, rule, pushed, result);
  }
}

void Pushes::replace(Handle found, const Pushed& pushed, core::PushResult& result,
                     std::string& reply_bytes) {
  const Message& message = shard_.state.slab[found];
  const QueueId queue = message.queue;
  const Stage stage = message.stage();
  // Errors come before the old message is removed.
  const auto times = requested_due(pushed.item.due, shard_);
  if (!times) {
    result.error = times.error();
    return;
  }
  if (const auto expiry = expiry_of(queue, pushed, times->due_ms); !expiry) {
    result.error = expiry.error();
    return;
  }
  if (const auto group = group_of(queue, pushed); !group) {
    result.error = group.error();
    return;
  }
  // The old message is replaced, or only forgotten if it was settled already.
  shard_.records.write_gone(stage == Stage::remembered ? GoneWhy::forgotten : GoneWhy::replaced,
                            found);
  put_new(queue, {pushed.bytes, pushed.item, pushed.payload_crc, nullptr}, result, reply_bytes);
  if (stage == Stage::remembered) {
    result.outcome = Outcome::pushed;
  } else {
    result.outcome = stage == Stage::dead ? Outcome::revived : Outcome::replaced;
  }
}

void Pushes::move_due(Handle found, IfExists rule, const Pushed& pushed, core::PushResult& result) {
  const auto times = requested_due(pushed.item.due, shard_);
  if (!times) {
    result.error = times.error();
    return;
  }
  const Message& message = shard_.state.slab[found];
  const bool moves = rule == IfExists::earlier ? times->due_ms < message.due_ms()
                                               : times->due_ms > message.due_ms();
  if (!moves) return;
  if (auto error = core::check_reschedule(shard_.state.own.expiry(found), times->due_ms)) {
    result.error = std::move(error);
    return;
  }
  DueRecord record;
  record.ref = shard_.records.ref(found);
  record.queue = message.queue;
  record.due_ms = times->due_ms;
  record.boot_due_ms = times->boot_due_ms;
  record.priority = message.priority;
  shard_.records.write(record);
  result.outcome = Outcome::moved;
  result.due_ms = times->due_ms;
}

void Pushes::push_one(QueueId queue, const Pushed& pushed, core::PushResult& result,
                      std::string& reply_bytes) {
  const std::string_view key = core::view(pushed.bytes, pushed.item.key);
  const bool blind = key.empty() || TARRY_PLANTED_BUG(key_not_looked_up);
  const Handle found = blind ? kNoHandle : shard_.keys.find(queue, key);
  if (found != kNoHandle) {
    const IfExists unless_told =
        pushed.move != nullptr ? IfExists::reject : shard_.state.queue(queue).settings.if_exists;
    const IfExists rule = pushed.item.if_exists.value_or(unless_told);
    push_onto(found, rule, pushed, result, reply_bytes);
    return;
  }
  result.outcome = Outcome::pushed;
  put_new(queue, pushed, result, reply_bytes);
}

bool Pushes::is_misled(const std::string& queue, const Prepared& prepared) const {
  const QueueHomes& homes = shard_.state.gated.homes();
  if (homes.version() == prepared.homes_version) return false;
  const QueueHomes::Route now = homes.route(queue);
  const bool has_others = shard_.state.identity().shards > 1;
  return now.changing || (has_others && now.at_home != prepared.at_home);
}

template <typename F>
void Pushes::push_items(const std::string& name, const Part& part, core::PushReply& reply,
                        std::uint64_t bytes, std::uint64_t largest, F&& push) {
  if (is_misled(name, part.op->prepared)) {
    fail_items(part, reply.items, changes_order(name));
    return shard_.job.end(part);
  }
  const std::uint64_t count = reply.items.size();
  const std::optional<Error> error = shard_.take_room(queues_.bytes_to_make(name) + bytes, largest,
                                                      Purpose::accept, {count}, count);
  std::optional<Result<QueueId>> queue;
  if (error) queue = Result<QueueId>(*error);
  each_item(part, reply.items.size(), [&](std::size_t i) {
    core::PushResult& result = reply.items[i];
    if (result.error) return;
    if (!queue) queue = queues_.find_or_make(name);
    if (!*queue) {
      result.error = queue->error();
      return;
    }
    push(i, **queue);
  });
  shard_.job.end(part);
}

void Pushes::execute(const core::PushRequest& request, const Part& part) {
  auto& reply = std::get<core::PushReply>(part.op->reply);
  const auto& crcs = part.op->prepared.payload_crcs;
  const auto [bytes, largest] = put_bytes(request.items, std::identity());
  push_items(request.queue, part, reply, bytes, largest, [&](std::size_t i, QueueId queue) {
    const Pushed pushed{request.bytes, request.items[i], crcs[i], nullptr};
    push_one(queue, pushed, reply.items[i], reply.bytes);
  });
}

void Pushes::execute(const core::MoveRequest& request, const Part& part) {
  auto& reply = std::get<core::PushReply>(part.op->reply);
  const auto& crcs = part.op->prepared.payload_crcs;
  const auto [bytes, largest] = put_bytes(
      request.items, [](const core::MoveItem& item) -> const core::PushItem& { return item.push; });
  push_items(request.queue, part, reply, bytes, largest, [&](std::size_t i, QueueId queue) {
    const core::MoveItem& moved = request.items[i];
    const Pushed pushed{request.bytes, moved.push, crcs[i], &moved};
    push_one(queue, pushed, reply.items[i], reply.bytes);
  });
}

}  // namespace tarry::embedded
