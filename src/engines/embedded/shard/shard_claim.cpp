// Claims: taking due messages, waiting for them, handing them over.
#include <algorithm>

#include "base/planted.h"
#include "core/claimed.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/shard/claim_delivery.h"
#include "engines/embedded/shard/part_items.h"
#include "engines/embedded/shard/shard.h"

namespace tarry::embedded {
namespace {

struct ClaimRoom {
  std::uint64_t bytes;
  std::uint64_t largest;
  std::uint64_t later;  // not written yet, but no claim is given without room for it
};

// What a claim of at most `max` messages writes; a claim of several queues makes two rounds.
ClaimRoom claim_room(const core::ClaimRequest& request, std::uint64_t max, std::uint64_t pending) {
  // By key the dead can be claimed too.
  const std::uint64_t items = std::min(max, request.keys.empty() ? pending : request.keys.size());
  const std::uint64_t bytes = items * kClaimedItemBytes;
  return {2 * request.queues.size() * kClaimedHead + bytes, kClaimedHead + bytes,
          items * (kRunOutBytes + kCarriedBytes)};
}

}  // namespace

// One record holds all that are claimed together. On a full disk there may be room for some.
std::optional<Error> Shard::room_to_claim(const core::ClaimRequest& request, std::uint32_t& max) {
  while (true) {
    const ClaimRoom wanted = claim_room(request, max, context_.state.pending());
    auto error = context_.room.take(wanted.bytes + wanted.later, wanted.largest, Purpose::work);
    if (!error || error->code != ErrorCode::no_space || max <= 1) return error;
    max =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(max, context_.state.pending() + 1) / 2);
    max = std::max(max, 1u);
  }
}

ClaimedRecord Shard::begin_claim(QueueId queue, const core::ClaimRequest& request) const {
  ClaimedRecord record;
  record.queue = queue;
  record.lease_ms = request.lease.value_or(context_.state.queue(queue).settings.lease).count();
  record.lease_until_boot_ms = context_.now.boottime_ms + record.lease_ms;
  return record;
}

// Leases one message and notes the facts for its delivery.
void Shard::take(Handle handle, ClaimedRecord& record, Grants& grants) {
  const Message& message = context_.state.slab[handle];
  ClaimedItem item{context_.records.ref(handle), 1, 1};
  if (message.history != kNoHistory) {
    const History& history = context_.state.histories[message.history];
    item.claims = history.tallies.claims + 1;
    // A dead message that is claimed by its key starts again, as if revived.
    const std::uint32_t next = std::min(history.attempt + 1, core::kMaxAttempts);
    item.attempt = message.stage() == Stage::dead ? 1 : next;
  }
  const auto late = core::lateness_ms(item.attempt, message.due_ms(), context_.now.realtime_ms);
  if (late) lateness_.record(*late);
  record.items.push_back(item);
  context_.state.evolve(record, item);

  Grant& grant = grants.items.emplace_back();
  grant.queue = static_cast<std::uint32_t>(grants.queues.size() - 1);
  grant.handle = handle;
  grant.id = message.id;
  grant.place = context_.journal.place(message.position);
  grant.generated_key = message.generated_key != 0;
  grant.due_ms = message.due_ms();
  grant.lease_ms = record.lease_ms;
  grant.attempt = item.attempt;
  grant.priority = message.priority;
  grant.tallies = context_.state.histories[message.history].tallies;
}

void Shard::end_claim_record(ClaimedRecord record) {
  if (record.items.empty()) return;
  const QueueId queue = record.queue;
  const std::size_t count = record.items.size();
  context_.journal.append(std::move(record));  // may open a segment with the counters as they are
  context_.state.count_claims(queue, count);
}

// Takes the message into the budget if it may be handed out with the others; the first one always
// may.
bool Shard::fits(ByteBudget& budget, const Message& message, const Grants& grants) {
  const std::uint64_t rough = message.position.size();
  if (!budget.exact && budget.used + rough <= budget.max) {
    budget.used += rough;
    return true;
  }
  if (!budget.exact) {
    budget.exact = true;
    budget.used = 0;
    for (const Grant& grant : grants.items) {
      budget.used += context_.journal.payload_bytes(grant.place.segment, grant.place.position);
    }
  }
  const RecordPlace place = context_.journal.place(message.position);
  const std::uint64_t size = context_.journal.payload_bytes(place.segment, place.position);
  const bool first = grants.items.empty() && budget.first_may_exceed;
  if (!first && budget.used + size > budget.max) return false;
  budget.used += size;
  return true;
}

void Shard::claim_from(QueueId id, const core::ClaimRequest& request, std::uint32_t max,
                       ByteBudget& budget, Grants& grants) {
  QueueState& queue = context_.state.queue(id);
  if (queue.lanes.empty() || queue.is_paused(context_.now.realtime_ms)) return;
  ClaimedRecord record = begin_claim(id, request);
  const std::uint64_t most = std::min<std::uint64_t>(max, queue.lanes.size());
  record.items.reserve(most);
  if (grants.items.empty()) grants.items.reserve(most);
  while (record.items.size() < max) {
    const Handle first = queue.lanes.first();
    // Guarantee 2: by the clock at the claim, whatever made it ready.
    const std::int64_t now =
        context_.now.realtime_ms + (TARRY_PLANTED_BUG(early_by_a_tick) ? 1 : 0);
    if (first == kNoHandle || context_.state.slab[first].due_ms() > now) break;
    if (!fits(budget, context_.state.slab[first], grants)) break;
    if (record.items.empty()) grants.queues.push_back(queue.name);
    take(first, record, grants);
  }
  note_claimed(id, record.items.size());
  end_claim_record(std::move(record));
}

bool Shard::can_claim(Handle handle, const core::ClaimRequest& request) const {
  const Message& message = context_.state.slab[handle];
  switch (message.stage()) {
    case Stage::ready: return request.any_state || message.due_ms() <= context_.now.realtime_ms;
    case Stage::scheduled:
    case Stage::dead: return request.any_state;
    default: return false;
  }
}

void Shard::claim_keys(const core::ClaimRequest& request, std::uint32_t max, ByteBudget& budget,
                       Grants& grants) {
  const QueueId id = context_.state.find_queue(request.queues.front());
  if (id == kNoQueue || context_.state.queue(id).is_paused(context_.now.realtime_ms)) return;
  ClaimedRecord record = begin_claim(id, request);
  for (const std::string& key : request.keys) {
    if (record.items.size() >= max) break;
    const Handle found = context_.keys.find(id, key);
    if (found == kNoHandle) continue;  // one named twice is leased the second time
    if (!can_claim(found, request)) continue;
    if (!fits(budget, context_.state.slab[found], grants)) break;
    if (record.items.empty()) grants.queues.push_back(request.queues.front());
    take(found, record, grants);
  }
  end_claim_record(std::move(record));
}

Grants Shard::claim(const core::ClaimRequest& request, std::uint32_t max, ByteBudget budget,
                    std::optional<std::size_t> start_at) {
  Grants grants;
  grants.claimed_ms = context_.now.realtime_ms;
  if (max == 0) return grants;
  if (!request.keys.empty()) {
    claim_keys(request, max, budget, grants);
    return grants;
  }
  const std::size_t count = request.queues.size();
  if (count == 1) {
    const QueueId id = context_.state.find_queue(request.queues.front());
    if (id != kNoQueue) claim_from(id, request, max, budget, grants);
    return grants;
  }
  // Fairly: each queue first gives its share, then queues with more messages fill up the rest. The
  // first queue changes with each claim, so claims of one message are fair in the long run too.
  const auto share = static_cast<std::uint32_t>((max + count - 1) / count);
  const std::size_t start = start_at ? *start_at : turn_++ % count;
  for (const std::uint32_t quota : {share, max}) {
    bool has_more = false;
    for (std::size_t i = 0; i < count && grants.items.size() < max; ++i) {
      const QueueId id = context_.state.find_queue(request.queues[(start + i) % count]);
      if (id == kNoQueue) continue;
      const std::size_t before = grants.items.size();
      const auto left = static_cast<std::uint32_t>(max - before);
      claim_from(id, request, std::min(quota, left), budget, grants);
      has_more = has_more || grants.items.size() - before == quota;
    }
    if (!has_more) break;
  }
  return grants;
}

// Whether no other shard is asked for more.
bool Shard::ends_claim(const Operation& op, std::size_t granted) const {
  const auto& request = std::get<core::ClaimRequest>(op.request);
  const auto& reply = std::get<core::ClaimReply>(op.reply);
  return context_.state.identity().shards == 1 || op.phase.load() == ClaimPhase::taken ||
         reply.items.size() + granted >= request.max;
}

void Shard::deliver(const OperationPtr& op, Grants grants) {
  if (grants.items.empty()) {
    context_.job.add_task([router = &context_.router, op,
                           shard = context_.config.number](const CommitOutcome& outcome) {
      if (outcome.failure == nullptr) return router->claim_visited(op, shard);
      op->fail(*outcome.failure);
      router->finish_part(op);
    });
    return;
  }
  const bool waiter_reads = op->is_waited_for() && ends_claim(*op, grants.items.size());
  auto durable = uncommitted_.add(grants, context_.now.boottime_ms);
  if (context_.committer.waits_for_disk()) {
    for (const Grant& grant : grants.items) context_.job.expect(grant.place);
  }
  const ClaimDelivery::Wiring wiring{&context_.router, reads_, &context_.files,
                                     context_.state.store_tag(), context_.config.number};
  context_.job.add_task(
      ClaimDelivery(wiring, op, std::move(grants), std::move(durable), waiter_reads));
}

void Shard::execute(const core::ClaimRequest& request, Part& part) {
  const OperationPtr& op = part.op;
  const auto& reply = std::get<core::ClaimReply>(op->reply);
  const auto have = static_cast<std::uint32_t>(reply.items.size());
  std::uint32_t max = request.max - std::min(have, request.max);
  std::uint64_t payload = 0;
  for (const core::ClaimedItem& item : reply.items) payload += item.payload.size;
  const std::uint64_t bytes_left =
      request.max_bytes - std::min<std::uint64_t>(payload, request.max_bytes);
  if (auto error = room_to_claim(request, max)) {
    op->fail(std::move(*error));
    context_.job.end(op);
    return;
  }
  deliver(op, claim(request, max, {bytes_left, reply.items.empty()}));
}

// -- waiting

void Shard::wait(const OperationPtr& op) {
  // The claim may have ended before this shard knew of it.
  if (op->phase.load() != ClaimPhase::waiting) return;
  if (closing_ || context_.failure) {
    if (op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) {
      op->fail(context_.failure ? *context_.failure.error()
                                : Error{ErrorCode::closed, "the store was closed"});
      context_.job.end(op);
    }
    return;
  }
  context_.waiting.add(op);
}

bool Shard::has_any(QueueId id, const core::ClaimRequest& request) {
  const QueueState& queue = context_.state.queue(id);
  if (queue.is_paused(context_.now.realtime_ms)) return false;
  if (request.keys.empty()) {
    const Handle first = queue.lanes.first();
    return first != kNoHandle && context_.state.slab[first].due_ms() <= context_.now.realtime_ms;
  }
  return std::any_of(request.keys.begin(), request.keys.end(), [&](const std::string& key) {
    const Handle found = context_.keys.find(id, key);
    return found != kNoHandle && can_claim(found, request);
  });
}

// Removes the claim from its queues, and serves it if it still waits.
void Shard::serve_waiter(WaitingClaims::Place at, std::size_t& budget) {
  const OperationPtr op = context_.waiting.operation(at);
  const std::size_t index = WaitingClaims::index(at);
  budget -= std::min(budget, context_.waiting.remove(at));
  if (!op->move_phase(ClaimPhase::waiting, ClaimPhase::taken)) return;
  const auto& request = std::get<core::ClaimRequest>(op->request);
  std::uint32_t max = request.max;
  if (auto error = room_to_claim(request, max)) {
    op->fail(std::move(*error));
    context_.job.end(op);
    return;
  }
  deliver(op, claim(request, max, {request.max_bytes}, index));
}

// First come, first served; but a claim by a missing key lets the others pass.
void Shard::serve_waiters_of(WaitingClaims::QueueNo queue, std::size_t& budget) {
  const QueueId id = context_.state.find_queue(context_.waiting.name(queue));
  if (id == kNoQueue) return;
  for (WaitingClaims::Place at = context_.waiting.first(queue); at != WaitingClaims::kNone;) {
    if (budget == 0) return context_.waiting.wake_again_first(queue);
    const WaitingClaims::Place place = std::exchange(at, context_.waiting.next(at));
    const Operation& op = *context_.waiting.operation(place);
    const bool waits = op.phase.load() == ClaimPhase::waiting;
    if (!waits || has_any(id, std::get<core::ClaimRequest>(op.request))) {
      serve_waiter(place, budget);
    } else if (!context_.waiting.any_by_key(queue)) {
      break;
    }
  }
  if (!context_.state.queue(id).lanes.empty()) context_.waiting.hold(queue);
}

// In slices: the next turn continues.
void Shard::serve_waiters() {
  if (context_.failure) {
    context_.waiting.clear([this](const OperationPtr& op) {
      if (!op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) return;
      op->fail(*context_.failure.error());
      context_.job.end(op);
    });
    return;
  }
  std::size_t budget = context_.config.slices.waiting;
  while (budget > 0 && context_.waiting.has_woken()) {
    const WaitingClaims::QueueNo queue = context_.waiting.next_woken();
    if (queue != WaitingClaims::kNone) serve_waiters_of(queue, budget);
  }
  // Only now: what falls due at the last moment is still delivered.
  if (!context_.waiting.has_woken()) {
    context_.waiting.expire(context_.now.boottime_ms, budget, [this](const OperationPtr& op) {
      if (op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) context_.job.end(op);
    });
  }
  context_.waiting.drop_ended(budget);
}

bool Shard::has_waiters_to_serve() const {
  const auto deadline = context_.waiting.next_deadline();
  return context_.waiting.has_woken() || context_.waiting.has_ended() ||
         (deadline && *deadline <= context_.now.boottime_ms);
}

void Shard::damaged(const Part& part) {
  if (context_.failure || !context_.state.slab.holds(part.handle, part.id)) return;
  const Message& message = context_.state.slab[part.handle];
  if (message.stage() != Stage::leased ||
      context_.state.histories[message.history].tallies.claims != part.claims) {
    return;
  }
  context_.router.log({LogLevel::error, "message_damaged",
                       "message " + std::to_string(part.id) + " of queue " +
                           context_.state.queue(message.queue).name +
                           " is damaged: set aside as dead"});
  // Else its lease will run out, and the next claim tries again.
  if (context_.room.take(256, 256, Purpose::end)) return;
  context_.records.write_dead(DeadWhy::damaged, part.handle, message.priority, "damaged");
}

}  // namespace tarry::embedded
