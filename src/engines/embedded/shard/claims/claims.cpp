#include "engines/embedded/shard/claims/claims.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "engines/embedded/shard/claims/claim_delivery.h"
#include "engines/embedded/shard/claims/permits.h"

namespace tarry::embedded {
namespace {

// How many queues with waiting claims each turn looks at although nothing has woken them.
constexpr std::size_t kSweptQueues = 16;

}  // namespace

void Claims::execute(const core::ClaimRequest& request, const Part& part) {
  const auto& reply = std::get<core::ClaimReply>(part.op->reply);
  const auto have = static_cast<std::uint32_t>(reply.items.size());
  std::uint64_t payload = 0;
  for (const core::ClaimedItem& item : reply.items) payload += item.payload.size;
  const std::uint64_t bytes_left =
      request.max_bytes - std::min<std::uint64_t>(payload, request.max_bytes);
  serve(part.op, request.max - std::min(have, request.max), {bytes_left, reply.items.empty()});
}

void Claims::serve(const OperationPtr& op, std::uint32_t max, ByteBudget budget,
                   std::optional<std::size_t> start_at) {
  const auto& request = std::get<core::ClaimRequest>(op->request);
  if (auto error = taker_.take_room(request, max)) {
    op->fail(std::move(*error));
    return shard_.job.end(op);
  }
  Grants grants = taker_.take(request, max, budget, start_at);
  if (grants.items.empty()) return deliver_nothing(op);
  deliver(op, std::move(grants));
}

// True if the claim does not go on to another shard.
bool Claims::ends_claim(const Operation& op, std::size_t granted) const {
  const auto& request = std::get<core::ClaimRequest>(op.request);
  const auto& reply = std::get<core::ClaimReply>(op.reply);
  return shard_.state.identity().shards == 1 || op.phase.load() == ClaimPhase::taken ||
         reply.items.size() + granted >= request.max;
}

void Claims::deliver_nothing(const OperationPtr& op) {
  shard_.job.add_task(
      [router = &shard_.router, op, shard = shard_.config.number](const CommitOutcome& outcome) {
        if (outcome.failure == nullptr) return router->claim_visited(op, shard);
        op->fail(*outcome.failure);
        router->finish_part(op);
      });
}

void Claims::deliver(const OperationPtr& op, Grants grants) {
  const bool waiter_reads = op->is_waited_for() && ends_claim(*op, grants.items.size());
  auto durable = uncommitted_.add(grants, shard_.now.boottime_ms);
  if (shard_.committer.waits_for_disk()) {
    for (const Grant& grant : grants.items) shard_.job.expect(grant.place);
  }
  const ClaimDelivery::Wiring wiring{&shard_.router, reads_, &shard_.files,
                                     shard_.state.store_tag(), shard_.config.number};
  shard_.job.add_task(
      ClaimDelivery(wiring, op, std::move(grants), std::move(durable), waiter_reads));
}

void Claims::begin_leases() {
  uncommitted_.start();
  uncommitted_.hold(shard_.now.boottime_ms);
}

void Claims::set_damaged_aside(const Part& part) {
  if (shard_.failure || !shard_.state.slab.holds(part.handle, part.id)) return;
  const Message& message = shard_.state.slab[part.handle];
  if (message.stage() != Stage::leased ||
      shard_.state.histories[message.history].tallies.claims != part.claims) {
    return;
  }
  shard_.router.log({LogLevel::error, "message_damaged",
                     "message " + std::to_string(part.id) + " of queue " +
                         shard_.state.queue(message.queue).name +
                         " is damaged: set aside as dead"});
  // If there is no room, the message's lease will run out, and the next claim tries again.
  if (shard_.take_room(256, 256, Purpose::end, {1})) return;
  shard_.records.write_dead(DeadWhy::damaged, part.handle, message.priority, "damaged");
}

// -- waiting

void Claims::wait(const OperationPtr& op) {
  // The claim may have ended before this shard knew of it.
  if (op->phase.load() != ClaimPhase::waiting) return;
  if (shard_.failure) return end_waiting(op, *shard_.failure.error());
  if (stopped_) return end_waiting(op, *stopped_);
  shard_.waiting.add(op);
}

void Claims::end_waiting(const OperationPtr& op, const Error& error) {
  if (!op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) return;
  op->fail(error);
  shard_.job.end(op);
}

void Claims::stop_waiting(const Error& error) {
  stopped_ = error;
  shard_.waiting.clear([&](const OperationPtr& op) { end_waiting(op, error); });
}

// Removes the claim from its queues, and serves it if it still waits.
void Claims::serve_waiting_claim(WaitingClaims::Place at, std::size_t& budget) {
  const OperationPtr op = shard_.waiting.operation(at);
  const std::size_t index = WaitingClaims::index(at);
  budget -= std::min(budget, shard_.waiting.remove(at));
  if (!op->move_phase(ClaimPhase::waiting, ClaimPhase::taken)) return;
  const auto& request = std::get<core::ClaimRequest>(op->request);
  serve(op, request.max, {request.max_bytes}, index);
}

// First come, first served; but a claim by a missing key lets the others pass.
void Claims::serve_waiting_at(WaitingClaims::QueueNo queue, std::size_t& budget) {
  const QueueId id = shard_.state.queues.find(shard_.waiting.name(queue));
  if (id == kNoQueue) return;
  for (WaitingClaims::Place at = shard_.waiting.first(queue); at != WaitingClaims::kNone;) {
    if (budget == 0) return shard_.waiting.wake_again_first(queue);
    const WaitingClaims::Place place = std::exchange(at, shard_.waiting.next(at));
    const Operation& op = *shard_.waiting.operation(place);
    const bool waits = op.phase.load() == ClaimPhase::waiting;
    if (!waits || taker_.has_any(id, std::get<core::ClaimRequest>(op.request))) {
      serve_waiting_claim(place, budget);
    } else if (!shard_.waiting.any_by_key(queue)) {
      break;
    }
  }
  if (!shard_.state.queue(id).lanes.empty()) shard_.waiting.hold(queue);
}

void Claims::serve_waiting() {
  std::size_t budget = shard_.config.slices.waiting;
  while (budget > 0 && shard_.waiting.has_woken()) {
    const WaitingClaims::QueueNo queue = shard_.waiting.next_woken();
    if (queue != WaitingClaims::kNone) serve_waiting_at(queue, budget);
  }
  // Waits end only after all woken queues were served, so that messages which fall due at the last
  // moment are still delivered.
  if (!shard_.waiting.has_woken()) {
    shard_.waiting.expire(shard_.now.boottime_ms, budget, [this](const OperationPtr& op) {
      if (op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) shard_.job.end(op);
    });
  }
  shard_.waiting.drop_ended(budget);
}

bool Claims::has_waiting_to_serve() const {
  const auto deadline = shard_.waiting.next_deadline();
  return shard_.waiting.has_woken() || shard_.waiting.has_ended() ||
         (deadline && *deadline <= shard_.now.boottime_ms);
}

void Claims::wake_held() {
  if (shard_.waiting.empty()) return;
  using Held = WaitingClaims::Held;
  const auto state_of = [this](const std::string& name) {
    const QueueId id = shard_.state.queues.find(name);
    if (id == kNoQueue || shard_.state.queue(id).lanes.empty()) return Held::no_more;
    QueueState& queue = shard_.state.queue(id);
    const bool held = queue.is_paused(shard_.now.realtime_ms) || !has_room(shard_, queue);
    return held ? Held::still : Held::woken;
  };
  shard_.waiting.look_at_held(state_of);
  shard_.waiting.sweep(kSweptQueues,
                       [&](const std::string& name) { return state_of(name) == Held::woken; });
}

std::optional<std::int64_t> Claims::next_wake_boot_ms() const {
  std::optional<std::int64_t> next;
  shard_.waiting.each_held([&](const std::string& name) {
    const QueueId id = shard_.state.queues.find(name);
    if (id == kNoQueue || !shard_.state.queue(id).at_gate.is_limited()) return;
    const QueueState& queue = shard_.state.queue(id);
    if (queue.lanes.empty() || queue.is_paused(shard_.now.realtime_ms)) return;
    const auto at = queue.at_gate.gate->rate_next_ms(shard_.now.boottime_ms);
    if (at) next = next ? std::min(*next, *at) : *at;
  });
  return next;
}

std::optional<std::int64_t> Claims::next_wake_ms() const {
  std::optional<std::int64_t> next;
  const auto sooner = [&next](std::int64_t at) { next = next ? std::min(*next, at) : at; };
  shard_.waiting.each_held([&](const std::string& name) {
    const QueueId id = shard_.state.queues.find(name);
    if (id == kNoQueue) return;
    const QueueState& queue = shard_.state.queue(id);
    if (queue.lanes.empty() || queue.frozen) return;
    if (queue.is_paused(shard_.now.realtime_ms)) {
      if (queue.paused_until_ms) sooner(*queue.paused_until_ms);
    } else if (const std::int64_t due = queue.lanes.oldest_due_ms(); due > shard_.now.realtime_ms) {
      sooner(due);
    }
  });
  return next;
}

}  // namespace tarry::embedded
