// Cancel, reschedule, settle, extend: the rest of the verb table.
#include <algorithm>

#include "base/planted.h"
#include "core/retry_policy.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/records/tokens.h"
#include "engines/embedded/shard/part_items.h"
#include "engines/embedded/shard/shard.h"

namespace tarry::embedded {
namespace {

// The processor is asked for messages so many early.
constexpr std::size_t kSoon = 6;

Settlement settlement_of(const History& history) {
  return {history.ending, Time(Millis(history.stamp_ms))};
}

bool ends(core::SettleAction action) {
  return action == core::SettleAction::ack || action == core::SettleAction::move_away;
}

// `reason`: bytes of it.
std::uint64_t settle_bytes(core::SettleAction action, std::uint64_t reason) {
  switch (action) {
    case core::SettleAction::release: return kBackRecord;
    case core::SettleAction::retry: return std::max(kRetryRecord, dead_bytes(reason));
    case core::SettleAction::bury: return dead_bytes(reason);
    default: return kCancelRecord;
  }
}

template <typename Items>
void fail_items(Items& items, const Part& part, const Error& error) {
  if (part.all_items) {
    for (auto& item : items) {
      if (!item.error) item.error = error;
    }
  } else {
    for (const std::uint32_t i : part.items) {
      if (!items[i].error) items[i].error = error;
    }
  }
}

}  // namespace

// -- cancel

bool Shard::is_as_seen(const Message& message, const core::Seen& seen) const {
  const std::uint32_t claims =
      message.history == kNoHistory ? 0 : context_.state.histories[message.history].tallies.claims;
  return message.id == seen.id && message.due_ms() == seen.due_ms &&
         message.priority == seen.priority && claims == seen.claims &&
         (message.stage() == Stage::dead) == seen.dead;
}

void Shard::cancel_one(QueueId queue, std::string_view key, const core::Seen* seen,
                       core::ItemResult& result) {
  const Handle found = context_.keys.find(queue, key);
  if (found == kNoHandle) {
    result.outcome = Outcome::unknown;
    return;
  }
  const Message& message = context_.state.slab[found];
  switch (message.stage()) {
    case Stage::remembered:
      result.outcome = Outcome::settled;
      result.settlement = settlement_of(context_.state.histories[message.history]);
      return;
    case Stage::leased:
      result.outcome = seen == nullptr ? Outcome::stopping : Outcome::in_flight;
      if (message.stopping == 0 && seen == nullptr)
        context_.records.write(StoppingRecord{queue, context_.records.ref(found)});
      return;
    default:
      if (seen == nullptr) {
        result.outcome = Outcome::cancelled;
        context_.records.write_end(Ending::cancelled, found);
      } else if (is_as_seen(message, *seen)) {
        result.outcome = Outcome::done;
        context_.records.write_gone(GoneWhy::moved_away, found);
      } else {
        result.outcome = Outcome::kept;
      }
      return;
  }
}

void Shard::execute(const core::CancelRequest& request, const Part& part) {
  auto& reply = std::get<core::ItemsReply>(part.op->reply);
  const std::size_t count = item_count(part, request.keys.size());
  const auto no_room = context_.room.take(count * kCancelRecord, kCancelRecord, Purpose::end);
  if (context_.failure) {
    fail_items(reply.items, part, *context_.failure.error());
  } else {
    const QueueId queue = context_.state.find_queue(request.queue);
    std::optional<Error> refused;
    each_item(part, request.keys.size(), [&](std::size_t i) {
      if (reply.items[i].error) return;
      if (no_room && !refused)
        refused = context_.room.take(kCancelRecord, kCancelRecord, Purpose::end);
      if (refused) {
        reply.items[i].error = refused;
        return;
      }
      cancel_one(queue, core::view(request.bytes, request.keys[i]),
                 request.seen.empty() ? nullptr : &request.seen[i], reply.items[i]);
    });
  }
  context_.job.end(part);
}

// -- reschedule

void Shard::reschedule_one(QueueId queue, std::string_view key, const core::RescheduleItem& item,
                           core::ItemResult& result) {
  const Handle found = context_.keys.find(queue, key);
  if (found == kNoHandle) {
    result.outcome = Outcome::unknown;
    return;
  }
  const Message& message = context_.state.slab[found];
  if (message.stage() == Stage::remembered) {
    result.outcome = Outcome::settled;
    result.settlement = settlement_of(context_.state.histories[message.history]);
    return;
  }
  if (message.stage() == Stage::leased) {
    result.outcome = Outcome::in_flight;
    result.due_ms = message.due_ms();
    return;
  }
  DueTimes times;
  if (auto error = due_times(item.due, times)) {
    result.error = std::move(error);
    return;
  }
  DueRecord record;
  record.ref = context_.records.ref(found);
  record.queue = queue;
  record.due_ms = times.due_ms;
  record.boot_due_ms = times.boot_due_ms;
  record.priority = item.priority.value_or(message.priority);
  record.revived = message.stage() == Stage::dead;
  result.outcome = record.revived ? Outcome::revived : Outcome::rescheduled;
  result.due_ms = times.due_ms;
  context_.records.write(record);
}

void Shard::execute(const core::RescheduleRequest& request, const Part& part) {
  auto& reply = std::get<core::ItemsReply>(part.op->reply);
  const std::size_t count = item_count(part, request.items.size());
  if (auto error =
          context_.room.take(count * kRescheduleRecord, kRescheduleRecord, Purpose::accept)) {
    fail_items(reply.items, part, *error);
  } else {
    const QueueId queue = context_.state.find_queue(request.queue);
    each_item(part, request.items.size(), [&](std::size_t i) {
      if (reply.items[i].error) return;
      const core::RescheduleItem& item = request.items[i];
      reschedule_one(queue, core::view(request.bytes, item.key), item, reply.items[i]);
    });
  }
  context_.job.end(part);
}

// -- settle

Handle Shard::find_claim(const ClaimName& claim) const {
  if (!context_.state.slab.holds(claim.handle, claim.id)) return kNoHandle;
  const Message& message = context_.state.slab[claim.handle];
  if (message.stage() != Stage::leased ||
      (context_.state.histories[message.history].tallies.claims != claim.claims &&
       !TARRY_PLANTED_BUG(stale_receipt_accepted))) {
    return kNoHandle;
  }
  return claim.handle;
}

// Whether that claim ended its message with an ack, and that is remembered.
bool Shard::was_acked_by(const ClaimName& claim) const {
  if (!context_.state.slab.holds(claim.handle, claim.id)) return false;
  const Message& message = context_.state.slab[claim.handle];
  if (message.stage() != Stage::remembered) return false;
  const History& history = context_.state.histories[message.history];
  return history.ending == Ending::acked &&
         (history.tallies.claims == claim.claims || TARRY_PLANTED_BUG(acked_again_by_any_receipt));
}

template <typename F, typename G>
void Shard::each_claim(const Part& part, F&& f, G&& stale) {
  auto& results = std::get<core::ItemsReply>(part.op->reply).items;
  const std::vector<ClaimName>& claims = part.op->prepared.claims;
  const auto item = [&part](std::size_t n) {
    return part.all_items ? n : std::size_t{part.items[n]};
  };
  const std::size_t count = item_count(part, claims.size());
  for (std::size_t n = 0; n < count; ++n) {
    // They lie anywhere: first the message, then what it names.
    if (n + 2 * kSoon < count) context_.state.prefetch(claims[item(n + 2 * kSoon)].handle);
    if (n + kSoon < count) context_.state.prefetch_history(claims[item(n + kSoon)].handle);
    const std::size_t i = item(n);
    if (results[i].error) continue;
    if (const Handle handle = find_claim(claims[i]); handle != kNoHandle) {
      f(i, handle);
    } else {
      results[i].outcome = stale(i);
    }
  }
}

void Shard::settle_one(Handle handle, const core::SettleItem& item, std::string_view reason,
                       core::ItemResult& result) {
  const Message& message = context_.state.slab[handle];
  result.outcome = Outcome::done;
  if (item.action == core::SettleAction::ack) {
    context_.records.write_end(Ending::acked, handle);
    return;
  }
  if (item.action == core::SettleAction::move_away) {
    context_.records.write_gone(GoneWhy::moved_away, handle);
    return;
  }
  if (message.stopping != 0) {
    context_.records.write_end(Ending::cancelled, handle);
    return;
  }
  const History& history = context_.state.histories[message.history];
  const std::uint32_t priority = item.priority.value_or(message.priority);
  if (item.action == core::SettleAction::bury) {
    context_.records.write_dead(DeadWhy::buried, handle, priority, reason);
    return;
  }
  BackRecord record;
  record.ref = context_.records.ref(handle);
  record.queue = message.queue;
  record.priority = priority;
  if (item.action == core::SettleAction::release) {
    record.why = BackWhy::release;
    record.due_ms = message.due_ms();
    record.attempt = history.attempt > 0 ? history.attempt - 1 : 0;
  } else {
    const std::uint32_t most = context_.state.max_attempts(handle);
    if (history.attempt >= most) {
      const std::string own = own_reason(kRetried, history.attempt, most);
      context_.records.write_dead(DeadWhy::attempts, handle, priority,
                                  reason.empty() ? own : reason);
      return;
    }
    const QueueSettings& settings = context_.state.queue(message.queue).settings;
    const std::int64_t delay =
        item.delay ? item.delay->count() : core::backoff_ms(settings, history.attempt, message.id);
    DueTimes times;
    if (auto error = due_times(Due::after(Millis(delay)), times)) {
      result.error = std::move(error);
      return;
    }
    record.why = BackWhy::retry;
    record.due_ms = times.due_ms;
    record.boot_due_ms = times.boot_due_ms;
    record.attempt = history.attempt;
  }
  result.due_ms = record.due_ms;
  context_.records.write(record);
}

std::optional<Error> Shard::room_to_settle(const core::SettleItem& item, std::string_view& reason) {
  if (!ends(item.action) && !reason.empty()) {
    const std::uint64_t size = settle_bytes(item.action, reason.size());
    if (!context_.room.take(size, size, Purpose::work)) return std::nullopt;
    context_.mark("settle.reason-left-out");
    reason = {};
  }
  const std::uint64_t size = settle_bytes(item.action, 0);
  return context_.room.take(size, size, ends(item.action) ? Purpose::end : Purpose::back);
}

void Shard::execute(const core::SettleRequest& request, const Part& part) {
  auto& reply = std::get<core::ItemsReply>(part.op->reply);
  std::uint64_t bytes = 0;
  std::uint64_t largest = 0;
  Purpose purpose = Purpose::end;
  each_item(part, request.items.size(), [&](std::size_t i) {
    const core::SettleItem& item = request.items[i];
    const std::uint64_t size = settle_bytes(item.action, item.reason.size);
    bytes += size;
    largest = std::max(largest, size);
    const Purpose own = item.reason.size != 0 ? Purpose::work : Purpose::back;
    if (!ends(item.action)) purpose = std::min(purpose, own);
  });
  // Where there is no room for all, it is asked for item by item: an ack is not refused for the
  // company that it comes in, nor a bury for its reason.
  const auto no_room = context_.room.take(bytes, largest, purpose);
  if (context_.failure) {
    fail_items(reply.items, part, *context_.failure.error());
  } else {
    std::optional<Error> no_end;
    std::optional<Error> no_back;
    const auto ended = [&](std::size_t i) {
      const bool again = request.items[i].action == core::SettleAction::ack &&
                         was_acked_by(part.op->prepared.claims[i]);
      return again ? Outcome::done : Outcome::stale;
    };
    const auto live = [&](std::size_t i, Handle handle) {
      core::ItemResult& result = reply.items[i];
      const core::SettleItem& item = request.items[i];
      std::optional<Error>& refused = ends(item.action) ? no_end : no_back;
      std::string_view reason = core::view(request.bytes, item.reason);
      if (no_room && !refused) refused = room_to_settle(item, reason);
      if (refused) {
        result.error = refused;
        return;
      }
      settle_one(handle, item, reason, result);
    };
    each_claim(part, live, ended);
  }
  context_.job.end(part);
}

// -- extend

void Shard::execute(const core::ExtendRequest& request, const Part& part) {
  auto& reply = std::get<core::ItemsReply>(part.op->reply);
  const std::size_t count = item_count(part, request.items.size());
  if (auto error = context_.room.take(count * kExtendRecord, kExtendRecord, Purpose::work)) {
    fail_items(reply.items, part, *error);
  } else {
    const auto live = [&](std::size_t i, Handle handle) {
      const core::ExtendItem& item = request.items[i];
      const QueueId queue = context_.state.slab[handle].queue;
      const std::int64_t lease =
          item.lease.value_or(context_.state.queue(queue).settings.lease).count();
      context_.records.write(LeaseRecord{queue, context_.records.ref(handle),
                                         context_.now.boottime_ms + lease, lease});
      reply.items[i].outcome = Outcome::done;
    };
    each_claim(part, live, [](std::size_t) { return Outcome::stale; });
  }
  context_.job.end(part);
}

}  // namespace tarry::embedded
