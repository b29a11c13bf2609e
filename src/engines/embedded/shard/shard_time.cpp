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
  // The wheel has the time of the opening. After a small step back, which it sits out, it is ahead
  // until the clock has caught up.
  const bool backwards = now.realtime_ms < std::max(now_.realtime_ms, state_->due_wheel.now());
  const bool stepped = state_->eras.observe(now);
  if (stepped) {
    ++figures_.clock_steps;
    router_->log(
        {LogLevel::warning, "clock_stepped",
         "the wall clock stepped by " + std::to_string(state_->eras.last_step_ms()) + " ms"});
  }
  if (backwards && !TARRY_PLANTED_BUG(step_back_ignored))
    state_->step_back(now.realtime_ms, stepped);
}

bool Shard::expiry_room() { return !room_.take(kExpiryRecord, kExpiryRecord, Purpose::end); }

void Shard::due_expired(Handle handle) {
  const Message& message = state_->slab[handle];
  if (message.stage() == Stage::scheduled) {
    // In another era than it was counted in, a relative delay needs BOOTTIME's word too.
    if (!TARRY_PLANTED_BUG(delay_not_held) && message.era != 0 &&
        message.era != state_->eras.current() &&
        state_->eras.boot_due_ms(message.era, message.due_ms()) > now_.boottime_ms) {
      state_->hold(handle);
      return;
    }
    state_->make_ready(handle);
    if (!TARRY_PLANTED_BUG(waiter_not_woken)) waiting_.wake(state_->queue(message.queue).name);
    return;
  }
  if (!expiry_room()) {
    state_->histories[message.history].until_ms = now_.realtime_ms + kExpiryAgainMs;
    state_->due_wheel.insert(handle);
    return;
  }
  state_->due_wheel.insert(handle);  // evolve takes it out where it expects it
  records_.write_gone(message.stage() == Stage::dead ? GoneWhy::expired : GoneWhy::forgotten,
                      handle);
}

void Shard::lease_expired(Handle handle) {
  const Message& message = state_->slab[handle];
  if (message.stage() == Stage::scheduled) {    // was held
    if (message.due_ms() > now_.realtime_ms) {  // the wall clock has gone back since
      state_->unhold(handle);
      return;
    }
    state_->make_ready(handle);
    waiting_.wake(state_->queue(message.queue).name);
    return;
  }
  if (state_->put_back_if_postponed(handle, now_.boottime_ms)) return;
  if (!expiry_room()) {
    state_->histories[message.history].until_ms = now_.boottime_ms + kExpiryAgainMs;
    state_->lease_wheel.insert(handle);
    return;
  }
  state_->lease_wheel.insert(handle);
  if (message.stopping != 0 && !TARRY_PLANTED_BUG(cancel_stops_nothing)) {
    records_.write_end(Ending::cancelled, handle);
    return;
  }
  const History& history = state_->histories[message.history];
  const std::uint32_t most = state_->max_attempts(handle);
  if (history.attempt >= most) {
    std::string reason = own_reason(kRanOut, history.attempt, most);
    const std::uint64_t size = dead_bytes(reason.size());
    if (room_.take(size, size, Purpose::work)) reason.clear();  // what goes on needs the room more
    records_.write_dead(DeadWhy::run_out, handle, message.priority, reason);
    return;
  }
  BackRecord record;
  record.why = BackWhy::run_out;
  record.ref = records_.ref(handle);
  record.queue = message.queue;
  record.due_ms = message.due_ms();
  record.attempt = history.attempt;
  record.priority = message.priority;
  records_.write(record);
}

// A lease that outlived its boot has started again. That is recorded. Otherwise each further
// restart would start it once more, and the message would never come back.
void Shard::record_renewed_leases() {
  std::vector<Handle> renewed = state_->take_renewed_leases();
  while (!renewed.empty()) {
    const Handle handle = renewed.back();
    if (!state_->slab.is_live(handle) || state_->slab[handle].stage() != Stage::leased) {
      renewed.pop_back();
      continue;
    }
    if (!expiry_room()) return state_->give_back_renewed_leases(std::move(renewed));
    renewed.pop_back();
    const History& history = state_->histories[state_->slab[handle].history];
    if (TARRY_PLANTED_BUG(renewed_lease_not_logged)) continue;
    records_.write(LeaseRecord{state_->slab[handle].queue, records_.ref(handle),
                               history.lease_end_ms(), history.stamp_ms});
  }
}

void Shard::run_wheels() {
  // Leases first: a message that one gives back is due already and becomes ready in the same call.
  state_->lease_wheel.advance_to(
      now_.boottime_ms, [this](Handle handle) { lease_expired(handle); }, config_.slices.wheel);
  state_->due_wheel.advance_to(
      now_.realtime_ms + (TARRY_PLANTED_BUG(early_by_a_tick) ? 1 : 0),
      [this](Handle handle) { due_expired(handle); }, config_.slices.wheel);
}

void Shard::advance(timing::Instant now) {
  observe_step(now);
  now_ = now;
  if (failure_) return;
  record_renewed_leases();
  uncommitted_.start();
  uncommitted_.hold(now_.boottime_ms);
  run_wheels();
  wake_held();
}

// Looks at queues where claims wait although messages are ready: a pause may have ended by time, or
// the clock may have caught up after a small step back. Each turn it also looks at a few others, in
// case a wake-up was lost.
void Shard::wake_held() {
  if (waiting_.empty()) return;
  using Held = WaitingClaims::Held;
  const auto state_of = [this](const std::string& name) {
    const QueueId id = state_->find_queue(name);
    if (id == kNoQueue || state_->queue(id).lanes.empty()) return Held::no_more;
    return is_paused(state_->queue(id)) ? Held::still : Held::woken;
  };
  waiting_.look_at_held(state_of);
  waiting_.sweep(kSweptQueues,
                 [&](const std::string& name) { return state_of(name) == Held::woken; });
}

std::optional<std::int64_t> Shard::next_realtime_ms() const {
  std::optional<std::int64_t> next = state_->due_wheel.next_due();
  const auto sooner = [&next](std::int64_t at) { next = next ? std::min(*next, at) : at; };
  waiting_.each_held([&](const std::string& name) {
    const QueueId id = state_->find_queue(name);
    if (id == kNoQueue) return;
    const QueueState& queue = state_->queue(id);
    if (queue.lanes.empty() || queue.frozen) return;
    if (is_paused(queue)) {
      if (queue.paused_until_ms) sooner(*queue.paused_until_ms);
    } else if (const std::int64_t due = queue.lanes.oldest_due_ms(); due > now_.realtime_ms) {
      sooner(due);
    }
  });
  return next;
}

std::optional<std::int64_t> Shard::next_boottime_ms() const {
  std::optional<std::int64_t> next = state_->lease_wheel.next_due();
  const auto sooner = [&next](std::int64_t at) { next = next ? std::min(*next, at) : at; };
  if (const auto end = waiting_.next_deadline()) sooner(*end);
  if (const auto until = cleaner_.held_off_until()) sooner(*until);
  return next;
}

}  // namespace tarry::embedded
