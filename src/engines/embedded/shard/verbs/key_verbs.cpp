#include "engines/embedded/shard/verbs/key_verbs.h"

#include <optional>

#include "core/rules/expiry.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/shard/context/requested_due.h"
#include "engines/embedded/shard/requests/part_items.h"

namespace tarry::embedded {
namespace {

Settlement settlement_of(const History& history) {
  return {history.ending, Time(Millis(history.stamp_ms))};
}

}  // namespace

bool KeyVerbs::is_as_seen(const Message& message, const core::Seen& seen) const {
  const std::uint32_t claims =
      message.history == kNoHistory ? 0 : shard_.state.histories[message.history].tallies.claims;
  return message.id == seen.id && message.due_ms() == seen.due_ms &&
         message.priority == seen.priority && claims == seen.claims &&
         (message.stage() == Stage::dead) == seen.dead;
}

Handle KeyVerbs::find_unended(QueueId queue, std::string_view key, core::ItemResult& result) const {
  const Handle found = shard_.keys.find(queue, key);
  if (found == kNoHandle) {
    result.outcome = Outcome::unknown;
    return kNoHandle;
  }
  const Message& message = shard_.state.slab[found];
  if (message.stage() != Stage::remembered) return found;
  result.outcome = Outcome::settled;
  result.settlement = settlement_of(shard_.state.histories[message.history]);
  return kNoHandle;
}

void KeyVerbs::cancel(QueueId queue, std::string_view key, const core::Seen* seen,
                      core::ItemResult& result) {
  const Handle found = find_unended(queue, key, result);
  if (found == kNoHandle) return;
  const Message& message = shard_.state.slab[found];
  if (message.stage() == Stage::leased) {
    result.outcome = seen == nullptr ? Outcome::stopping : Outcome::in_flight;
    if (message.stopping == 0 && seen == nullptr)
      shard_.records.write(StoppingRecord{queue, shard_.records.ref(found)});
  } else if (seen == nullptr) {
    result.outcome = Outcome::cancelled;
    shard_.records.write_end(Ending::cancelled, found);
  } else if (is_as_seen(message, *seen)) {
    result.outcome = Outcome::done;
    shard_.records.write_gone(GoneWhy::moved_away, found);
  } else {
    result.outcome = Outcome::kept;
  }
}

void KeyVerbs::execute(const core::CancelRequest& request, const Part& part) {
  auto& reply = std::get<core::ItemsReply>(part.op->reply);
  const std::size_t count = item_count(part, request.keys.size());
  const auto no_room =
      shard_.take_room(count * kCancelRecord, kCancelRecord, Purpose::end, {count});
  if (shard_.failure) {
    fail_items(part, reply.items, *shard_.failure.error());
  } else {
    const QueueId queue = shard_.state.queues.find(request.queue);
    std::optional<Error> refused;
    each_item(part, request.keys.size(), [&](std::size_t i) {
      if (reply.items[i].error) return;
      if (no_room && !refused)
        refused = shard_.room.take(kCancelRecord, kCancelRecord, Purpose::end);
      if (refused) {
        reply.items[i].error = refused;
        return;
      }
      cancel(queue, core::view(request.bytes, request.keys[i]),
             request.seen.empty() ? nullptr : &request.seen[i], reply.items[i]);
    });
  }
  shard_.job.end(part);
}

void KeyVerbs::reschedule(QueueId queue, std::string_view key, const core::RescheduleItem& item,
                          core::ItemResult& result) {
  const Handle found = find_unended(queue, key, result);
  if (found == kNoHandle) return;
  const Message& message = shard_.state.slab[found];
  if (message.stage() == Stage::leased) {
    result.outcome = Outcome::in_flight;
    result.due_ms = message.due_ms();
    return;
  }
  const auto times = requested_due(item.due, shard_);
  if (!times) {
    result.error = times.error();
    return;
  }
  // A revive drops an expiry that has passed: somebody wants the message all the same.
  if (message.stage() != Stage::dead) {
    if (auto error = core::check_reschedule(shard_.state.own.expiry(found), times->due_ms)) {
      result.error = std::move(error);
      return;
    }
  }
  DueRecord record;
  record.ref = shard_.records.ref(found);
  record.queue = queue;
  record.due_ms = times->due_ms;
  record.boot_due_ms = times->boot_due_ms;
  record.priority = item.priority.value_or(message.priority);
  record.revived = message.stage() == Stage::dead;
  result.outcome = record.revived ? Outcome::revived : Outcome::rescheduled;
  result.due_ms = times->due_ms;
  shard_.records.write(record);
}

void KeyVerbs::execute(const core::RescheduleRequest& request, const Part& part) {
  auto& reply = std::get<core::ItemsReply>(part.op->reply);
  const std::size_t count = item_count(part, request.items.size());
  if (auto error = shard_.take_room(count * kRescheduleRecord, kRescheduleRecord, Purpose::accept,
                                    {count})) {
    fail_items(part, reply.items, *error);
  } else {
    const QueueId queue = shard_.state.queues.find(request.queue);
    each_item(part, request.items.size(), [&](std::size_t i) {
      if (reply.items[i].error) return;
      const core::RescheduleItem& item = request.items[i];
      reschedule(queue, core::view(request.bytes, item.key), item, reply.items[i]);
    });
  }
  shard_.job.end(part);
}

}  // namespace tarry::embedded
