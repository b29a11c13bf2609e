// The work that time causes: messages fall due, leases run out, dead and remembered messages
// expire, the wall clock steps.
#include <algorithm>
#include <string>

#include "base/planted.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/shard/shard.h"

namespace tarry::embedded {
namespace {

// On a full disk, messages that should expire stay this much longer, and then it tries again.
constexpr std::int64_t kExpiryAgainMs = 1000;
// Queues at which claims wait, looked at in a turn though nobody has woken them.
constexpr std::size_t kSweptQueues = 16;

}  // namespace

void Shard::observe_step(timing::Instant now) {
  // The wheel knows what time it was at opening; and after a small step back, which it sits out, it
  // is ahead until the clock has caught up.
  const bool backwards =
      now.realtime_ms < std::max(context_.now.realtime_ms, context_.state.due_wheel.now());
  const bool stepped = context_.state.eras.observe(now);
  if (stepped) {
    ++figures_.clock_steps;
    context_.router.log({LogLevel::warning, "clock_stepped",
                         "the wall clock stepped by " +
                             std::to_string(context_.state.eras.last_step_ms()) + " ms"});
  }
  if (backwards && !TARRY_PLANTED_BUG(step_back_ignored))
    context_.state.step_back(now.realtime_ms, stepped);
}

bool Shard::expiry_room() {
  return !context_.room.take(kExpiryRecord, kExpiryRecord, Purpose::end);
}

void Shard::due_expired(Handle handle) {
  const Message& message = context_.state.slab[handle];
  if (message.stage() == Stage::scheduled) {
    // In another era than it was counted in, a relative delay needs BOOTTIME's word too.
    if (!TARRY_PLANTED_BUG(delay_not_held) && message.era != 0 &&
        message.era != context_.state.eras.current() &&
        context_.state.eras.boot_due_ms(message.era, message.due_ms()) > context_.now.boottime_ms) {
      context_.state.hold(handle);
      return;
    }
    context_.state.make_ready(handle);
    if (!TARRY_PLANTED_BUG(waiter_not_woken)) context_.wake(message.queue);
    return;
  }
  if (!expiry_room()) {
    context_.state.histories[message.history].until_ms = context_.now.realtime_ms + kExpiryAgainMs;
    context_.state.due_wheel.insert(handle);
    return;
  }
  context_.state.due_wheel.insert(handle);  // evolve takes it out where it expects it
  context_.records.write_gone(
      message.stage() == Stage::dead ? GoneWhy::expired : GoneWhy::forgotten, handle);
}

void Shard::lease_expired(Handle handle) {
  const Message& message = context_.state.slab[handle];
  if (message.stage() == Stage::scheduled) {            // was held
    if (message.due_ms() > context_.now.realtime_ms) {  // the wall clock has gone back meanwhile
      context_.state.unhold(handle);
      return;
    }
    context_.state.make_ready(handle);
    context_.wake(message.queue);
    return;
  }
  if (context_.state.put_back_if_postponed(handle, context_.now.boottime_ms)) return;
  if (!expiry_room()) {
    context_.state.histories[message.history].until_ms = context_.now.boottime_ms + kExpiryAgainMs;
    context_.state.lease_wheel.insert(handle);
    return;
  }
  context_.state.lease_wheel.insert(handle);
  if (message.stopping != 0 && !TARRY_PLANTED_BUG(cancel_stops_nothing)) {
    context_.records.write_end(Ending::cancelled, handle);
    return;
  }
  const History& history = context_.state.histories[message.history];
  const std::uint32_t most = context_.state.max_attempts(handle);
  if (history.attempt >= most) {
    std::string reason = own_reason(kRanOut, history.attempt, most);
    const std::uint64_t size = dead_bytes(reason.size());
    if (context_.room.take(size, size, Purpose::work))
      reason.clear();  // what goes on needs the room more
    context_.records.write_dead(DeadWhy::run_out, handle, message.priority, reason);
    return;
  }
  BackRecord record;
  record.why = BackWhy::run_out;
  record.ref = context_.records.ref(handle);
  record.queue = message.queue;
  record.due_ms = message.due_ms();
  record.attempt = history.attempt;
  record.priority = message.priority;
  context_.records.write(record);
}

// A lease that outlived its boot has started again. That is recorded. Otherwise each further
// restart would start it once more, and the message would never come back.
void Shard::record_renewed_leases() {
  std::vector<Handle> renewed = context_.state.take_renewed_leases();
  while (!renewed.empty()) {
    const Handle handle = renewed.back();
    if (!context_.state.slab.is_live(handle) ||
        context_.state.slab[handle].stage() != Stage::leased) {
      renewed.pop_back();
      continue;
    }
    if (!expiry_room()) return context_.state.give_back_renewed_leases(std::move(renewed));
    renewed.pop_back();
    const History& history = context_.state.histories[context_.state.slab[handle].history];
    if (TARRY_PLANTED_BUG(renewed_lease_not_logged)) continue;
    context_.records.write(LeaseRecord{context_.state.slab[handle].queue,
                                       context_.records.ref(handle), history.lease_end_ms(),
                                       history.stamp_ms});
  }
}

void Shard::run_wheels() {
  // Leases first: what they give back is due already and becomes ready in the same call.
  context_.state.lease_wheel.advance_to(
      context_.now.boottime_ms, [this](Handle handle) { lease_expired(handle); },
      context_.config.slices.wheel);
  context_.state.due_wheel.advance_to(
      context_.now.realtime_ms + (TARRY_PLANTED_BUG(early_by_a_tick) ? 1 : 0),
      [this](Handle handle) { due_expired(handle); }, context_.config.slices.wheel);
}

void Shard::advance(timing::Instant now) {
  observe_step(now);
  context_.now = now;
  if (context_.failure) return;
  record_renewed_leases();
  uncommitted_.start();
  uncommitted_.hold(context_.now.boottime_ms);
  run_wheels();
  wake_held();
}

// Looks at queues where claims wait although messages are ready: a pause may have ended by time, or
// the clock may have caught up after a small step back. Each turn it also looks at a few others, in
// case a wake-up was lost.
void Shard::wake_held() {
  if (context_.waiting.empty()) return;
  using Held = WaitingClaims::Held;
  const auto state_of = [this](const std::string& name) {
    const QueueId id = context_.state.find_queue(name);
    if (id == kNoQueue || context_.state.queue(id).lanes.empty()) return Held::no_more;
    return context_.state.queue(id).is_paused(context_.now.realtime_ms) ? Held::still : Held::woken;
  };
  context_.waiting.look_at_held(state_of);
  context_.waiting.sweep(kSweptQueues,
                         [&](const std::string& name) { return state_of(name) == Held::woken; });
}

std::optional<std::int64_t> Shard::next_realtime_ms() const {
  std::optional<std::int64_t> next = context_.state.due_wheel.next_due();
  const auto sooner = [&next](std::int64_t at) { next = next ? std::min(*next, at) : at; };
  context_.waiting.each_held([&](const std::string& name) {
    const QueueId id = context_.state.find_queue(name);
    if (id == kNoQueue) return;
    const QueueState& queue = context_.state.queue(id);
    if (queue.lanes.empty() || queue.frozen) return;
    if (queue.is_paused(context_.now.realtime_ms)) {
      if (queue.paused_until_ms) sooner(*queue.paused_until_ms);
    } else if (const std::int64_t due = queue.lanes.oldest_due_ms();
               due > context_.now.realtime_ms) {
      sooner(due);
    }
  });
  return next;
}

std::optional<std::int64_t> Shard::next_boottime_ms() const {
  std::optional<std::int64_t> next = context_.state.lease_wheel.next_due();
  const auto sooner = [&next](std::int64_t at) { next = next ? std::min(*next, at) : at; };
  if (const auto end = context_.waiting.next_deadline()) sooner(*end);
  if (const auto until = context_.cleaner.held_off_until()) sooner(*until);
  return next;
}

}  // namespace tarry::embedded
