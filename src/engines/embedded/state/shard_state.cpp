#include "engines/embedded/state/shard_state.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hash.h"
#include "base/planted.h"
#include "core/shard_rule.h"

namespace tarry::embedded {
namespace {

bool is_pending(Stage stage) noexcept {
  return stage == Stage::scheduled || stage == Stage::ready || stage == Stage::leased;
}

}  // namespace

std::int64_t ShardState::DueNodes::deadline(Handle handle) const noexcept {
  const Message& message = state->slab[handle];
  if (message.stage() == Stage::scheduled) return message.due_ms();
  return state->histories[message.history].until_ms;
}

std::int64_t ShardState::LeaseNodes::deadline(Handle handle) const noexcept {
  const Message& message = state->slab[handle];
  if (message.stage() == Stage::leased) return state->histories[message.history].until_ms;
  return state->eras.boot_due_ms(message.era, message.due_ms());
}

ShardState::ShardState(const Identity& identity, timing::Instant now)
    : due_wheel(DueNodes{{this}}, std::max<std::int64_t>(now.realtime_ms, 0)),
      lease_wheel(LeaseNodes{{this}}, std::max<std::int64_t>(now.boottime_ms, 0)),
      identity_(identity) {
  eras.observe(now);
}

std::uint64_t ShardState::key_hash(QueueId queue, std::string_view key) const noexcept {
  return base::keyed_hash(key, identity_.hash_seed + queue * 0x9e3779b97f4a7c15ull);
}

std::uint32_t ShardState::max_attempts(Handle handle) const {
  const std::uint16_t of_message = own.max_attempts(handle);
  return of_message != 0 ? of_message : queues[slab[handle].queue].settings.max_attempts;
}

std::uint64_t ShardState::ram_bytes() const noexcept {
  return slab.bytes() + histories.bytes() + index.bytes() + ready_blocks.bytes() + event_bytes_;
}

std::optional<std::int64_t> ShardState::boot_due_ms(const Message& message) const noexcept {
  if (message.era == 0) return std::nullopt;
  return eras.boot_due_ms(message.era, message.due_ms());
}

Carried ShardState::carried(Handle handle) const {
  const Message& message = slab[handle];
  Carried carried;
  carried.stage = message.stage() == Stage::ready ? Stage::scheduled : message.stage();
  carried.stopping = message.stopping != 0;
  if (message.history != kNoHistory) {
    const History& history = histories[message.history];
    carried.ending = history.ending;
    carried.attempt = history.attempt;
    carried.tallies = history.tallies;
    carried.until_ms = message.stage() == Stage::leased ? history.lease_end_ms() : history.until_ms;
    carried.stamp_ms = history.stamp_ms;
    if (message.stage() == Stage::dead) carried.reason = reasons.text(history.reason);
  }
  if (const EventList* const list = events(handle)) {
    carried.events = list->bytes();
    carried.event_count = list->count();
  }
  return carried;
}

// -- links

template <typename Use>
void ShardState::with_links(const Message& message, Use use) {
  switch (message.stage()) {
    case Stage::scheduled: return message.held != 0 ? use(lease_wheel) : use(due_wheel);
    case Stage::ready: return use(queues[message.queue].lanes);
    case Stage::leased: return use(lease_wheel);
    case Stage::dead:
    case Stage::remembered: return use(due_wheel);
    case Stage::free: break;
  }
  TARRY_ASSERT(false);
}

void ShardState::arm(Handle handle) {
  if (replaying_) return;
  const Message& message = slab[handle];
  with_links(message, [handle](auto& links) { links.insert(handle); });
  own.arm(handle);
}

void ShardState::disarm(Handle handle) {
  if (replaying_) return;
  Message& message = slab[handle];
  with_links(message, [handle](auto& links) { links.remove(handle); });
  own.disarm(handle);
  if (message.stage() == Stage::scheduled) message.held = 0;
}

void ShardState::set_stage(Handle handle, Stage stage) noexcept {
  Message& message = slab[handle];
  QueueState& queue = queues[message.queue];
  const Stage from = message.stage();
  if (from != Stage::free) {
    --queue.count[static_cast<std::size_t>(from)];
    if (is_pending(from)) --pending_;
    if (from == Stage::leased && queue.at_gate.is_limited()) {
      gated.note_freed(message.queue, queue.at_gate);
    }
  }
  message.set_stage(stage);
  if (queue.lanes.has_groups()) {
    queue.lanes.groups()->note_stage(handle, from, stage, queue.at_gate.counts_groups);
  }
  if (stage != Stage::free) {
    ++queue.count[static_cast<std::size_t>(stage)];
    if (is_pending(stage)) ++pending_;
  }
}

// Notes why the message is dead. Until its full record holds the reason, a copy is longer by the
// reason.
void ShardState::take_reason(Message& message, std::string_view text) {
  History& history = histories[message.history];
  history.reason = reasons.acquire(text);
  history.reason_unwritten = history.reason != 0;
  if (!history.reason_unwritten) return;
  live.add_unwritten(message.position.segment(newest_segment_), text.size());
}

void ShardState::count_reason_as_written(Message& message) {
  History& history = histories[message.history];
  if (!history.reason_unwritten) return;
  history.reason_unwritten = false;
  live.remove_unwritten(message.position.segment(newest_segment_),
                        reasons.text(history.reason).size());
}

void ShardState::drop_reason(Message& message) {
  History& history = histories[message.history];
  if (history.reason == 0) return;
  count_reason_as_written(message);
  reasons.release(history.reason);
  history.reason = 0;
}

void ShardState::set_due(Message& message, std::int64_t due_ms,
                         std::optional<std::int64_t> boot_due_ms) {
  message.set_due_ms(due_ms);
  eras.leave(message.era);
  message.era = 0;
  if (boot_due_ms && same_boot_) message.era = eras.join(due_ms, *boot_due_ms);
}

// Gives the message another due time than its full record has.
void ShardState::move_due(Message& message, std::int64_t due_ms,
                          std::optional<std::int64_t> boot_due_ms) {
  const bool is_written = message.era != 0 && message.boot_due_unwritten == 0;
  set_due(message, due_ms, boot_due_ms);
  unwritten_boot_dues_ -= message.boot_due_unwritten;
  message.boot_due_unwritten = message.era != 0 && !is_written ? 1 : 0;
  unwritten_boot_dues_ += message.boot_due_unwritten;
}

// The message must be disarmed.
void ShardState::remove(Handle handle) {
  Message& message = slab[handle];
  if (message.generated_key == 0) index.erase(handle);
  if (message.history != kNoHistory) {
    drop_reason(message);
    histories.free(message.history);
  }
  own.forget(handle);
  drop_events(handle);
  unwritten_boot_dues_ -= message.boot_due_unwritten;
  eras.leave(message.era);
  message.era = 0;
  live.remove(message.position.segment(newest_segment_), message.position);
  set_stage(handle, Stage::free);
  slab.free(handle);
}

// -- gates and homes

void ShardState::open_gates(std::shared_ptr<QueueGates> gates) {
  gated.open(std::move(gates));
  for (QueueId id = 0; id < queues.size(); ++id) {
    fit_gate(id);
    fit_home(queues[id].name, queues[id].settings.group_order);
  }
}

void ShardState::fit_home(const std::string& queue, GroupOrder order) {
  if (!gated.is_open() || queue.empty()) return;
  if (core::home_of(queue, identity_.shards, identity_.hash_seed) != identity_.shard) return;
  gated.homes().set(queue, order == GroupOrder::push);
}

void ShardState::fit_gate(QueueId id) {
  QueueState& queue = queues[id];
  gated.fit(id, queue.name, queue.settings, queue.in(Stage::leased), queue.lanes.groups(),
            queue.at_gate);
}

// -- the opening of a segment

void ShardState::append_opening(std::string& out, timing::Instant now) const {
  append_record(out, Record(ClockRecord{now.realtime_ms, now.boottime_ms, identity_.boot_id}));
  append_record(out, Record(MarksRecord{next_id_, low_water_}));
  for (QueueId id = 0; id < queues.size(); ++id) {
    const QueueState& queue = queues[id];
    QueueRecord record;
    record.queue = id;
    if (!queue.is_there()) {
      record.removed = true;
      append_record(out, Record(record));
      continue;
    }
    record.name = queue.name;
    record.removed = queue.removed;
    record.settings = queue.settings;
    record.paused = queue.paused;
    record.paused_until_ms = queue.paused_until_ms;
    if (!TARRY_PLANTED_BUG(opening_without_counters)) record.counters = queue.counters;
    append_record(out, Record(record));
  }
}

// -- time

void ShardState::make_ready(Handle handle) {
  Message& message = slab[handle];
  message.held = 0;
  set_stage(handle, Stage::ready);
  queues[message.queue].lanes.insert(handle);
}

void ShardState::hold(Handle handle) {
  slab[handle].held = 1;
  lease_wheel.insert(handle);
}

void ShardState::unhold(Handle handle) {
  slab[handle].held = 0;
  due_wheel.insert(handle);
}

void ShardState::postpone_lease(Handle handle, std::int64_t by_ms) {
  History& history = histories[slab[handle].history];
  if (by_ms <= std::numeric_limits<decltype(history.late_ms)>::max() - history.late_ms) {
    history.late_ms = static_cast<decltype(history.late_ms)>(history.late_ms + by_ms);
    return;
  }
  lease_wheel.remove(handle);
  history.until_ms += by_ms;
  lease_wheel.insert(handle);
}

void ShardState::begin_lease(Handle handle, std::int64_t boot_ms) {
  const History& history = histories[slab[handle].history];
  // The lease may have been extended since the claim.
  const std::int64_t by = boot_ms + history.stamp_ms - history.lease_end_ms();
  if (by > 0) postpone_lease(handle, by);
}

bool ShardState::put_back_if_postponed(Handle handle, std::int64_t now_boot_ms) {
  History& history = histories[slab[handle].history];
  history.until_ms = history.lease_end_ms();
  history.late_ms = 0;
  if (history.until_ms <= now_boot_ms || TARRY_PLANTED_BUG(late_lease_not_put_back)) return false;
  lease_wheel.insert(handle);
  return true;
}

void ShardState::step_back(std::int64_t now_ms, bool rebase) {
  if (rebase) due_wheel.rebase(std::max<std::int64_t>(now_ms, 0));
  for (QueueId id = 0; id < queues.size(); ++id) {
    queues[id].lanes.remove_later_than(now_ms, [&](Handle handle) {
      set_stage(handle, Stage::scheduled);
      due_wheel.insert(handle);
    });
  }
}

}  // namespace tarry::embedded
