#include "engines/embedded/shard/verbs/receipt_verbs.h"

#include <algorithm>

#include "base/planted.h"
#include "core/rules/queue_pattern.h"
#include "core/settings/retry_policy.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/shard/context/requested_due.h"
#include "engines/embedded/shard/requests/part_items.h"

namespace tarry::embedded {
namespace {

// Messages are prefetched this many items early.
constexpr std::size_t kSoon = 6;

bool ends(core::SettleAction action) {
  return action == core::SettleAction::ack || action == core::SettleAction::move_away;
}

// `reason`: its length in bytes.
std::uint64_t settle_bytes(core::SettleAction action, std::uint64_t reason) {
  switch (action) {
    case core::SettleAction::release: return kBackRecord;
    case core::SettleAction::retry: return std::max(kRetryRecord, dead_bytes(reason));
    case core::SettleAction::bury: return dead_bytes(reason);
    default: return kCancelRecord;
  }
}

}  // namespace

Handle ReceiptVerbs::find_claim(const ClaimName& claim) const {
  if (!shard_.state.slab.holds(claim.handle, claim.id)) return kNoHandle;
  const Message& message = shard_.state.slab[claim.handle];
  if (message.stage() != Stage::leased ||
      (shard_.state.histories[message.history].tallies.claims != claim.claims &&
       !TARRY_PLANTED_BUG(stale_receipt_accepted))) {
    return kNoHandle;
  }
  return claim.handle;
}

// True if the message is remembered, and this claim ended it with an ack.
bool ReceiptVerbs::was_acked_by(const ClaimName& claim) const {
  if (!shard_.state.slab.holds(claim.handle, claim.id)) return false;
  const Message& message = shard_.state.slab[claim.handle];
  if (message.stage() != Stage::remembered) return false;
  const History& history = shard_.state.histories[message.history];
  return history.ending == Ending::acked &&
         (history.tallies.claims == claim.claims || TARRY_PLANTED_BUG(acked_again_by_any_receipt));
}

bool ReceiptVerbs::is_allowed(const core::OnlyQueues& only, Handle handle) const {
  return only == nullptr ||
         core::allows(only, shard_.state.queue(shard_.state.slab[handle].queue).name);
}

template <typename F, typename G>
void ReceiptVerbs::each_claim(const core::OnlyQueues& only, const Part& part, F&& f, G&& stale) {
  auto& results = std::get<core::ItemsReply>(part.op->reply).items;
  const std::vector<ClaimName>& claims = part.op->prepared.claims;
  const auto item = [&part](std::size_t n) {
    return part.all_items ? n : std::size_t{part.items[n]};
  };
  const std::size_t count = item_count(part, claims.size());
  for (std::size_t n = 0; n < count; ++n) {
    // Messages lie anywhere in memory: first the message is prefetched, then the objects that it
    // names.
    if (n + 2 * kSoon < count) shard_.state.prefetch(claims[item(n + 2 * kSoon)].handle);
    if (n + kSoon < count) shard_.state.prefetch_history(claims[item(n + kSoon)].handle);
    const std::size_t i = item(n);
    if (results[i].error) continue;
    const Handle handle = find_claim(claims[i]);
    if (handle != kNoHandle && is_allowed(only, handle)) {
      f(i, handle);
    } else {
      results[i].outcome = stale(i);
    }
  }
}

void ReceiptVerbs::settle(Handle handle, const core::SettleItem& item, std::string_view reason,
                          core::ItemResult& result) {
  const Message& message = shard_.state.slab[handle];
  result.outcome = Outcome::done;
  if (item.action == core::SettleAction::ack) {
    shard_.records.write_end(Ending::acked, handle);
    return;
  }
  if (item.action == core::SettleAction::move_away) {
    shard_.records.write_gone(GoneWhy::moved_away, handle);
    return;
  }
  if (message.stopping != 0) {
    shard_.records.write_end(Ending::cancelled, handle);
    return;
  }
  switch (item.action) {
    case core::SettleAction::release: return release(handle, item, result);
    case core::SettleAction::retry: return retry(handle, item, reason, result);
    default: break;
  }
  const std::uint32_t priority = item.priority.value_or(message.priority);
  shard_.records.write_dead(DeadWhy::buried, handle, priority, reason);
}

void ReceiptVerbs::release(Handle handle, const core::SettleItem& item, core::ItemResult& result) {
  const Message& message = shard_.state.slab[handle];
  const History& history = shard_.state.histories[message.history];
  BackRecord record;
  record.why = BackWhy::release;
  record.ref = shard_.records.ref(handle);
  record.queue = message.queue;
  record.due_ms = message.due_ms();
  record.attempt = history.attempt > 0 ? history.attempt - 1 : 0;
  record.priority = item.priority.value_or(message.priority);
  result.due_ms = record.due_ms;
  shard_.records.write(record);
}

void ReceiptVerbs::retry(Handle handle, const core::SettleItem& item, std::string_view reason,
                         core::ItemResult& result) {
  const Message& message = shard_.state.slab[handle];
  const std::uint32_t attempt = shard_.state.histories[message.history].attempt;
  const std::uint32_t priority = item.priority.value_or(message.priority);
  const std::uint32_t most = shard_.state.max_attempts(handle);
  if (attempt >= most) {
    const std::string own = own_reason(kRetried, attempt, most);
    shard_.records.write_dead(DeadWhy::attempts, handle, priority, reason.empty() ? own : reason);
    return;
  }
  const QueueSettings& settings = shard_.state.queue(message.queue).settings;
  const std::int64_t delay =
      item.delay ? item.delay->count() : core::backoff_ms(settings, attempt, message.id);
  const auto times = requested_due(Due::after(Millis(delay)), shard_);
  if (!times) {
    result.error = times.error();
    return;
  }
  BackRecord record;
  record.why = BackWhy::retry;
  record.ref = shard_.records.ref(handle);
  record.queue = message.queue;
  record.due_ms = times->due_ms;
  record.boot_due_ms = times->boot_due_ms;
  record.attempt = attempt;
  record.priority = priority;
  result.due_ms = record.due_ms;
  shard_.records.write(record, reason);
}

std::optional<Error> ReceiptVerbs::take_room(const core::SettleItem& item,
                                             std::string_view& reason) {
  if (!ends(item.action) && !reason.empty()) {
    const std::uint64_t size = settle_bytes(item.action, reason.size());
    if (!shard_.room.take(size, size, Purpose::work)) return std::nullopt;
    shard_.mark("settle.reason-left-out");
    reason = {};
  }
  const std::uint64_t size = settle_bytes(item.action, 0);
  return shard_.room.take(size, size, ends(item.action) ? Purpose::end : Purpose::back);
}

void ReceiptVerbs::execute(const core::SettleRequest& request, const Part& part) {
  auto& reply = std::get<core::ItemsReply>(part.op->reply);
  std::uint64_t bytes = 0;
  std::uint64_t largest = 0;
  Purpose purpose = Purpose::end;
  ShardContext::Events events;
  each_item(part, request.items.size(), [&](std::size_t i) {
    const core::SettleItem& item = request.items[i];
    const std::uint64_t size = settle_bytes(item.action, item.reason.size);
    bytes += size;
    largest = std::max(largest, size);
    const Purpose own = item.reason.size != 0 ? Purpose::work : Purpose::back;
    if (!ends(item.action)) purpose = std::min(purpose, own);
    ++events.count;
    events.text += std::min<std::uint64_t>(
        std::max<std::uint64_t>(item.reason.size, ends(item.action) ? 0 : kOwnReason),
        core::kMaxEventText);
  });
  // If there is no room for all items, each item asks by itself: an ack is not refused because of
  // other items, nor a bury because of its reason.
  const auto no_room = shard_.take_room(bytes, largest, purpose, events);
  if (shard_.failure) {
    fail_items(part, reply.items, *shard_.failure.error());
  } else {
    std::optional<Error> no_end;
    std::optional<Error> no_back;
    const auto ended = [&](std::size_t i) {
      const ClaimName& claim = part.op->prepared.claims[i];
      const bool again = request.items[i].action == core::SettleAction::ack &&
                         was_acked_by(claim) && is_allowed(request.only_queues, claim.handle);
      return again ? Outcome::done : Outcome::stale;
    };
    const auto live = [&](std::size_t i, Handle handle) {
      core::ItemResult& result = reply.items[i];
      const core::SettleItem& item = request.items[i];
      std::optional<Error>& refused = ends(item.action) ? no_end : no_back;
      std::string_view reason = core::view(request.bytes, item.reason);
      if (no_room && !refused) refused = take_room(item, reason);
      if (refused) {
        result.error = refused;
        return;
      }
      settle(handle, item, reason, result);
    };
    each_claim(request.only_queues, part, live, ended);
  }
  shard_.job.end(part);
}

void ReceiptVerbs::execute(const core::ExtendRequest& request, const Part& part) {
  auto& reply = std::get<core::ItemsReply>(part.op->reply);
  const std::size_t count = item_count(part, request.items.size());
  if (auto error = shard_.room.take(count * kExtendRecord, kExtendRecord, Purpose::work)) {
    fail_items(part, reply.items, *error);
  } else {
    const auto live = [&](std::size_t i, Handle handle) {
      const core::ExtendItem& item = request.items[i];
      const QueueId queue = shard_.state.slab[handle].queue;
      const std::int64_t lease =
          item.lease.value_or(shard_.state.queue(queue).settings.lease).count();
      shard_.records.write(
          LeaseRecord{queue, shard_.records.ref(handle), shard_.now.boottime_ms + lease, lease});
      reply.items[i].outcome = Outcome::done;
    };
    each_claim(request.only_queues, part, live, [](std::size_t) { return Outcome::stale; });
  }
  shard_.job.end(part);
}

}  // namespace tarry::embedded
