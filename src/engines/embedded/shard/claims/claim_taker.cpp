#include "engines/embedded/shard/claims/claim_taker.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/planted.h"
#include "core/claimed.h"
#include "core/limits.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/shard/claims/permits.h"

namespace tarry::embedded {
namespace {

struct ClaimRoom {
  std::uint64_t items;
  std::uint64_t bytes;
  std::uint64_t largest;
  std::uint64_t later;  // not written yet, but no claim is given without room for it
};

// Bytes that a claim of at most `max` messages writes. A claim of several queues makes two rounds.
ClaimRoom claim_room(const core::ClaimRequest& request, std::uint64_t max, std::uint64_t pending) {
  // Claims by key can also take dead messages.
  const std::uint64_t items = std::min(max, request.keys.empty() ? pending : request.keys.size());
  const std::uint64_t bytes = items * kClaimedItemBytes;
  return {items, 2 * request.queues.size() * kClaimedHead + bytes, kClaimedHead + bytes,
          items * (kRunOutBytes + kCarriedBytes)};
}

}  // namespace

// One record holds all messages that are claimed together. On a full disk there may be room for
// some of them.
std::optional<Error> ClaimTaker::take_room(const core::ClaimRequest& request, std::uint32_t& max) {
  while (true) {
    const ClaimRoom wanted = claim_room(request, max, shard_.state.pending());
    auto error = shard_.take_room(wanted.bytes + wanted.later, wanted.largest, Purpose::work,
                                  {wanted.items, wanted.items * event_text(request.by).size()});
    if (!error || error->code != ErrorCode::no_space || max <= 1) return error;
    max = static_cast<std::uint32_t>(std::min<std::uint64_t>(max, shard_.state.pending() + 1) / 2);
    max = std::max(max, 1u);
  }
}

// Time events come first in each turn, so it is there still only if more messages have expired than
// one slice ends, or if a full disk has no room for its end. It hides the messages behind it for
// that long.
bool ClaimTaker::has_expired(Handle handle) const {
  return shard_.state.own.has_expired(handle, shard_.now.realtime_ms) &&
         !TARRY_PLANTED_BUG(expired_delivered);
}

ClaimedRecord ClaimTaker::begin_record(QueueId queue, const core::ClaimRequest& request) const {
  ClaimedRecord record;
  record.queue = queue;
  record.lease_ms = request.lease.value_or(shard_.state.queue(queue).settings.lease).count();
  record.lease_until_boot_ms = shard_.now.boottime_ms + record.lease_ms;
  record.noted = shard_.records.noted(queue, request.by);
  return record;
}

void ClaimTaker::take_one(Handle handle, ClaimedRecord& record, Grants& grants) {
  const Message& message = shard_.state.slab[handle];
  ClaimedItem item{shard_.records.ref(handle), 1, 1};
  if (message.history != kNoHistory) {
    const History& history = shard_.state.histories[message.history];
    item.claims = history.tallies.claims + 1;
    // A dead message that is claimed by its key starts again, as if revived.
    const std::uint32_t next = std::min(history.attempt + 1, core::kMaxAttempts);
    item.attempt = message.stage() == Stage::dead ? 1 : next;
  }
  const auto late = core::lateness_ms(item.attempt, message.due_ms(), shard_.now.realtime_ms);
  if (late) shard_.lateness.record(*late);
  record.items.push_back(item);
  shard_.state.evolve(record, item);

  Grant& grant = grants.items.emplace_back();
  grant.queue = static_cast<std::uint32_t>(grants.queues.size() - 1);
  grant.handle = handle;
  grant.id = message.id;
  grant.place = shard_.journal.place(message.position);
  grant.generated_key = message.generated_key != 0;
  grant.due_ms = message.due_ms();
  grant.lease_ms = record.lease_ms;
  grant.attempt = item.attempt;
  grant.priority = message.priority;
  grant.tallies = shard_.state.histories[message.history].tallies;
}

void ClaimTaker::end_record(ClaimedRecord record) {
  if (record.items.empty()) return;
  const QueueId queue = record.queue;
  const std::size_t count = record.items.size();
  shard_.journal.append(std::move(record));  // may open a segment with the counters as they are
  shard_.state.count_claims(queue, count);
}

bool ClaimTaker::fits(ByteBudget& budget, const Message& message, const Grants& grants) const {
  const std::uint64_t rough = message.position.size();
  if (!budget.exact && budget.used + rough <= budget.max) {
    budget.used += rough;
    return true;
  }
  if (!budget.exact) {
    budget.exact = true;
    budget.used = 0;
    for (const Grant& grant : grants.items) {
      budget.used += shard_.journal.payload_bytes(grant.place);
    }
  }
  const RecordPlace place = shard_.journal.place(message.position);
  const std::uint64_t size = shard_.journal.payload_bytes(place);
  const bool first = grants.items.empty() && budget.first_may_exceed;
  if (!first && budget.used + size > budget.max) return false;
  budget.used += size;
  return true;
}

void ClaimTaker::take_from(QueueId id, const core::ClaimRequest& request, std::uint32_t max,
                           ByteBudget& budget, Grants& grants) {
  QueueState& queue = shard_.state.queue(id);
  if (queue.lanes.empty() || queue.is_paused(shard_.now.realtime_ms)) return;
  ClaimedRecord record = begin_record(id, request);
  Permits permits(shard_, id, std::min<std::uint64_t>(max, queue.lanes.size()));
  const std::uint64_t most = permits.left();
  record.items.reserve(most);
  if (grants.items.empty()) grants.items.reserve(most);
  while (permits.left() > 0) {
    const Handle first = queue.lanes.first();
    // Guarantee 2: the clock at the claim decides, whatever made the message ready.
    const std::int64_t now = shard_.now.realtime_ms + (TARRY_PLANTED_BUG(early_by_a_tick) ? 1 : 0);
    if (first == kNoHandle || shard_.state.slab[first].due_ms() > now) break;
    if (has_expired(first)) break;
    GroupLease lease(shard_, queue, first);
    if (!lease) continue;  // its group has left the turn
    if (!fits(budget, shard_.state.slab[first], grants)) break;
    if (record.items.empty()) grants.queues.push_back(queue.name);
    queue.lanes.pass();
    take_one(first, record, grants);
    lease.use();
    permits.use();
  }
  ahead_.note_claimed(id, record.items.size());
  end_record(std::move(record));
}

bool ClaimTaker::can_take(Handle handle, const core::ClaimRequest& request) const {
  const Message& message = shard_.state.slab[handle];
  if (!shard_.state.queue(message.queue).lanes.order_permits(handle)) return false;
  switch (message.stage()) {
    case Stage::ready:
      return (request.any_state || message.due_ms() <= shard_.now.realtime_ms) &&
             !has_expired(handle);
    case Stage::scheduled: return request.any_state && !has_expired(handle);
    case Stage::dead: return request.any_state;
    default: return false;
  }
}

void ClaimTaker::take_by_keys(const core::ClaimRequest& request, std::uint32_t max,
                              ByteBudget& budget, Grants& grants) {
  const QueueId id = shard_.state.queues.find(request.queues.front());
  if (id == kNoQueue || shard_.state.queue(id).is_paused(shard_.now.realtime_ms)) return;
  ClaimedRecord record = begin_record(id, request);
  Permits permits(shard_, id, std::min<std::uint64_t>(max, request.keys.size()));
  for (const std::string& key : request.keys) {
    if (permits.left() == 0) break;
    const Handle found = shard_.keys.find(id, key);
    if (found == kNoHandle) continue;
    if (!can_take(found, request)) continue;  // e.g. a key named twice: leased by now
    GroupLease lease(shard_, shard_.state.queue(id), found);
    if (!lease) continue;
    if (!fits(budget, shard_.state.slab[found], grants)) break;
    if (record.items.empty()) grants.queues.push_back(request.queues.front());
    take_one(found, record, grants);
    lease.use();
    permits.use();
  }
  end_record(std::move(record));
}

Grants ClaimTaker::take(const core::ClaimRequest& request, std::uint32_t max, ByteBudget budget,
                        std::optional<std::size_t> start_at) {
  Grants grants;
  grants.claimed_ms = shard_.now.realtime_ms;
  if (max == 0) return grants;
  if (!request.keys.empty()) {
    take_by_keys(request, max, budget, grants);
    return grants;
  }
  if (request.queues.size() == 1) {
    const QueueId id = shard_.state.queues.find(request.queues.front());
    if (id != kNoQueue) take_from(id, request, max, budget, grants);
  } else {
    take_from_several(request, max, budget, start_at ? *start_at : turn_++, grants);
  }
  return grants;
}

// The claim is fair: each queue first gives its share, then queues with more messages fill up the
// rest. The first queue changes with each claim, so claims of one message are fair in the long run
// too.
void ClaimTaker::take_from_several(const core::ClaimRequest& request, std::uint32_t max,
                                   ByteBudget& budget, std::size_t start_at, Grants& grants) {
  const std::size_t count = request.queues.size();
  const auto share = static_cast<std::uint32_t>((max + count - 1) / count);
  for (const std::uint32_t quota : {share, max}) {
    bool has_more = false;
    for (std::size_t i = 0; i < count && grants.items.size() < max; ++i) {
      const QueueId id = shard_.state.queues.find(request.queues[(start_at + i) % count]);
      if (id == kNoQueue) continue;
      const std::size_t before = grants.items.size();
      const auto left = static_cast<std::uint32_t>(max - before);
      take_from(id, request, std::min(quota, left), budget, grants);
      has_more = has_more || grants.items.size() - before == quota;
    }
    if (!has_more) break;
  }
}

bool ClaimTaker::has_any(QueueId id, const core::ClaimRequest& request) const {
  QueueState& queue = shard_.state.queue(id);
  if (queue.is_paused(shard_.now.realtime_ms)) return false;
  const auto there = [&](Handle handle) {
    return handle != kNoHandle && can_take(handle, request);
  };
  if (request.keys.empty()) {
    // Groups at their limit leave the turn first, so the message may be another one then.
    return there(queue.lanes.first()) && has_room(shard_, queue) && there(queue.lanes.first());
  }
  const bool any = std::ranges::any_of(request.keys, [&](const std::string& key) {
    const Handle found = shard_.keys.find(id, key);
    return there(found) && group_has_room(shard_, queue, found);
  });
  return any && has_queue_room(shard_, queue);
}

}  // namespace tarry::embedded
