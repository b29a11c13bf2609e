#include "engines/embedded/shard/verbs/time_events.h"

#include <algorithm>
#include <string>

#include "base/planted.h"
#include "engines/embedded/records/record_bounds.h"

namespace tarry::embedded {
namespace {

// If a full disk has no room for an expiry, it is tried again after this time.
constexpr std::int64_t kExpiryAgainMs = 1000;

}  // namespace

void TimeEvents::observe(timing::Instant now) {
  // At the start the wheel has the time at which the shard was opened. A small step back does not
  // turn the wheel back: it stays ahead until the clock has caught up.
  const bool backwards =
      now.realtime_ms < std::max(shard_.now.realtime_ms, shard_.state.due_wheel.now());
  const bool stepped = shard_.state.eras.observe(now);
  if (stepped) {
    ++clock_steps_;
    shard_.router.log(
        {LogLevel::warning, "clock_stepped",
         "the wall clock stepped by " + std::to_string(shard_.state.eras.last_step_ms()) + " ms"});
  }
  if (backwards && !TARRY_PLANTED_BUG(step_back_ignored))
    shard_.state.step_back(now.realtime_ms, stepped);
}

bool TimeEvents::take_room(Purpose purpose) {
  return !shard_.take_room(kExpiryRecord, kExpiryRecord, purpose, {1, kOwnReason});
}

void TimeEvents::due_expired(Handle handle) {
  const Message& message = shard_.state.slab[handle];
  if (message.stage() == Stage::scheduled) {
    // If a relative delay was counted in another era, its BOOTTIME must have come too.
    if (!TARRY_PLANTED_BUG(delay_not_held) && message.era != 0 &&
        message.era != shard_.state.eras.current() &&
        shard_.state.eras.boot_due_ms(message.era, message.due_ms()) > shard_.now.boottime_ms) {
      shard_.state.hold(handle);
      return;
    }
    shard_.state.make_ready(handle);
    if (!TARRY_PLANTED_BUG(waiter_not_woken)) shard_.wake(message.queue);
    return;
  }
  if (!take_room()) {
    shard_.state.histories[message.history].until_ms = shard_.now.realtime_ms + kExpiryAgainMs;
    shard_.state.due_wheel.insert(handle);
    return;
  }
  shard_.state.due_wheel.insert(handle);  // evolve takes it out of the wheel
  shard_.records.write_gone(message.stage() == Stage::dead ? GoneWhy::expired : GoneWhy::forgotten,
                            handle);
}

void TimeEvents::lease_expired(Handle handle) {
  const Message& message = shard_.state.slab[handle];
  if (message.stage() == Stage::scheduled) {          // was held
    if (message.due_ms() > shard_.now.realtime_ms) {  // the wall clock has gone back since
      shard_.state.unhold(handle);
      return;
    }
    shard_.state.make_ready(handle);
    shard_.wake(message.queue);
    return;
  }
  if (shard_.state.put_back_if_postponed(handle, shard_.now.boottime_ms)) return;
  if (!take_room()) {
    shard_.state.histories[message.history].until_ms = shard_.now.boottime_ms + kExpiryAgainMs;
    shard_.state.lease_wheel.insert(handle);
    return;
  }
  shard_.state.lease_wheel.insert(handle);
  if (message.stopping != 0 && !TARRY_PLANTED_BUG(cancel_stops_nothing)) {
    shard_.records.write_end(Ending::cancelled, handle);
    return;
  }
  give_back(handle);
}

void TimeEvents::give_back(Handle handle) {
  const Message& message = shard_.state.slab[handle];
  const History& history = shard_.state.histories[message.history];
  const std::uint32_t most = shard_.state.max_attempts(handle);
  if (history.attempt >= most) {
    std::string reason = own_reason(kRanOut, history.attempt, most);
    const std::uint64_t size = dead_bytes(reason.size());
    if (shard_.room.take(size, size, Purpose::work))
      reason.clear();  // live messages need the room more than a reason
    shard_.records.write_dead(DeadWhy::run_out, handle, message.priority, reason);
    return;
  }
  BackRecord record;
  record.why = BackWhy::run_out;
  record.ref = shard_.records.ref(handle);
  record.queue = message.queue;
  record.due_ms = message.due_ms();
  record.attempt = history.attempt;
  record.priority = message.priority;
  shard_.records.write(record);
}

// Without the record, each restart would start the lease once more, and the message might never be
// delivered again.
void TimeEvents::record_renewed_leases() {
  std::vector<Handle> renewed = shard_.state.take_renewed_leases();
  while (!renewed.empty()) {
    const Handle handle = renewed.back();
    if (!shard_.state.slab.is_live(handle) || shard_.state.slab[handle].stage() != Stage::leased) {
      renewed.pop_back();
      continue;
    }
    if (!take_room()) return shard_.state.give_back_renewed_leases(std::move(renewed));
    renewed.pop_back();
    const History& history = shard_.state.histories[shard_.state.slab[handle].history];
    if (TARRY_PLANTED_BUG(renewed_lease_not_logged)) continue;
    shard_.records.write(LeaseRecord{shard_.state.slab[handle].queue, shard_.records.ref(handle),
                                     history.lease_end_ms(), history.stamp_ms});
  }
}

std::optional<std::int64_t> TimeEvents::next_expiry_ms() const noexcept {
  return again_at_ ? std::nullopt : shard_.state.own.next_expiry_ms();
}

void TimeEvents::end_expired() {
  if (again_at_ && *again_at_ > shard_.now.boottime_ms) return;
  again_at_.reset();
  if (TARRY_PLANTED_BUG(expired_delivered)) return;
  for (std::size_t left = shard_.config.slices.expiries; left > 0; --left) {
    const auto next = shard_.state.own.next_expiry_ms();
    if (!next || *next > shard_.now.realtime_ms) return;
    const Handle handle = shard_.state.own.next_to_expire();
    // A dead message needs room for its next copy, like a claimed one.
    const QueueState& queue = shard_.state.queue(shard_.state.slab[handle].queue);
    const bool dies = queue.settings.on_expiry == OnExpiry::dead;
    if (!take_room(dies ? Purpose::work : Purpose::end)) {
      again_at_ = shard_.now.boottime_ms + kExpiryAgainMs;
      return;
    }
    shard_.records.write_expiry(handle);
  }
}

void TimeEvents::run() {
  // Leases come first: a message whose lease has run out is due already, and becomes ready in the
  // same call.
  shard_.state.lease_wheel.advance_to(
      shard_.now.boottime_ms, [this](Handle handle) { lease_expired(handle); },
      shard_.config.slices.wheel);
  shard_.state.due_wheel.advance_to(
      shard_.now.realtime_ms + (TARRY_PLANTED_BUG(early_by_a_tick) ? 1 : 0),
      [this](Handle handle) { due_expired(handle); }, shard_.config.slices.wheel);
  end_expired();
}

}  // namespace tarry::embedded
