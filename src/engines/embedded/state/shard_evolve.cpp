// `evolve` of each kind of record but those of events (shard_events.cpp).
#include "engines/embedded/state/shard_state.h"

#include <algorithm>

#include "base/planted.h"

namespace tarry::embedded {

void ShardState::evolve(const QueueRecord& record) {
  queues.reach(record.queue);
  if (record.frees()) {
    QueueState& gone = queues[record.queue];
    fit_home(gone.name, GroupOrder::due);
    gated.drop(record.queue, gone.in(Stage::leased), gone.lanes.groups(), gone.at_gate);
    fit_history(record.queue, std::exchange(gone.settings.history, 0));
    queues.free(record.queue);
    return;
  }
  QueueState& queue = queues[record.queue];
  if (!queue.is_there()) queues.name(record.queue, record.name);
  const std::uint32_t history_before = queue.settings.history;
  queue.settings = record.settings;
  queue.lanes.set_order(record.settings.group_order);
  queue.paused = record.paused;
  queue.removed = record.removed;
  queue.paused_until_ms = record.paused_until_ms;
  if (record.counters) queue.counters = *record.counters;
  fit_gate(record.queue);
  fit_history(record.queue, history_before);
  fit_home(queue.name, queue.settings.group_order);
}

void ShardState::restore(Handle handle, const PutRecord& record) {
  Message& message = slab[handle];
  const Carried& carried = *record.carried;
  const bool has_past =
      carried.stage != Stage::scheduled || carried.attempt != 0 || carried.tallies != Tallies{};
  if (has_past) {
    History& history = history_of(message);
    history.tallies = carried.tallies;
    history.attempt = carried.attempt;
    history.until_ms = carried.until_ms;
    history.stamp_ms = carried.stamp_ms;
    history.ending = carried.ending;
    if (carried.stage == Stage::dead) history.reason = reasons.acquire(carried.reason);
    if (carried.stage == Stage::leased && !same_boot_) history.until_ms = kOtherBoot;
    histories.written(message.history);
  }
  restore_events(handle, carried);
  message.stopping = carried.stopping ? 1 : 0;
  set_stage(handle, carried.stage);
}

void ShardState::evolve(const PutRecord& record, std::uint64_t segment, Position position) {
  newest_segment_ = std::max(newest_segment_, segment);
  const auto [handle, id] = record.ref;
  if (slab.holds(handle, id)) {
    // The record is a copy that cleaning made. It changes only the record's place: the state is the
    // same, and in replay the links are made later.
    Message& message = slab[handle];
    if (message.history != kNoHistory) count_reason_as_written(message);
    count_events_as_written(handle);
    live.remove(message.position.segment(newest_segment_), message.position);
    message.position = position;
    live.add(segment, position);
    unwritten_boot_dues_ -= message.boot_due_unwritten;
    message.boot_due_unwritten = 0;
    if (record.carried && message.history != kNoHistory) histories.written(message.history);
    // A lease begins when its claim is durable. No record says when, except a copy made later.
    if (replaying_ && record.carried && record.carried->stage == Stage::leased && same_boot_) {
      history_of(message).until_ms = record.carried->until_ms;
    }
    return;
  }
  Message& message = slab.place(handle);
  message.id = id;
  message.queue = record.queue & 0x7FFF'FFFF;
  message.priority = record.priority;
  message.position = position;
  live.add(segment, position);
  set_due(message, record.due_ms, record.boot_due_ms);
  if (TARRY_PLANTED_BUG(due_moved_by_replay) && replaying_ && record.boot_due_ms) {
    message.set_due_ms(record.due_ms + 1);
  }
  message.generated_key = record.generated_key ? 1 : 0;
  if (!record.generated_key) {
    const std::uint64_t hash = key_hash(record.queue, record.key);
    message.key_hash = static_cast<std::uint32_t>(hash);
    index.insert(handle, hash);
  }
  own.set_max_attempts(handle, record.max_attempts);
  own.set_expiry(handle, record.expiry);
  if (record.group.any()) {
    QueueState& queue = queues[record.queue];
    queue.lanes.join(handle, group_in(record.group, record.key, record.headers),
                     queue.settings.group_order);
  }
  if (record.carried) {
    restore(handle, record);
  } else {
    set_stage(handle, Stage::scheduled);
    if (!record.copy && record.pushed_ms) {
      note(handle, {EventKind::pushed, 0, *record.pushed_ms, record.due_ms, {}});
    }
  }
  if (!record.copy) ++counters(record.queue).accepted;
  next_id_ = std::max(next_id_, id / identity_.shards + 1);
  arm(handle);
}

void ShardState::evolve(const DueRecord& record) {
  QueueCounters& counted = counters(record.queue);
  ++(record.revived ? counted.revives : counted.reschedules);
  const Handle handle = record.ref.handle;
  if (!slab.holds(handle, record.ref.id)) return;
  disarm(handle);
  Message& message = slab[handle];
  message.held = 0;
  if (record.revived) {
    History& history = history_of(message);
    drop_reason(message);
    history.attempt = 0;
    ++history.tallies.revives;
  }
  move_due(message, record.due_ms, record.boot_due_ms);
  if (message.options != 0) {
    own.set_expiry(handle, core::rescheduled(own.expiry(handle), record.due_ms));
  }
  message.priority = record.priority;
  set_stage(handle, Stage::scheduled);
  arm(handle);
  if (record.noted) {
    const EventKind kind = record.revived ? EventKind::revived : EventKind::rescheduled;
    note(handle, {kind, 0, record.noted->at_ms, record.due_ms, record.noted->text});
  }
}

void ShardState::count_claims(QueueId queue, std::size_t count) { counters(queue).claims += count; }

void ShardState::evolve(const ClaimedRecord& record, const ClaimedItem& item) {
  const Handle handle = item.ref.handle;
  if (!slab.holds(handle, item.ref.id)) return;
  disarm(handle);
  Message& message = slab[handle];
  message.held = 0;
  History& history = history_of(message);
  drop_reason(message);
  history.tallies.claims = item.claims;
  history.attempt = item.attempt;
  history.until_ms = same_boot_ ? record.lease_until_boot_ms : kOtherBoot;
  if (!TARRY_PLANTED_BUG(late_left_from_before)) history.late_ms = 0;
  history.stamp_ms = record.lease_ms;
  set_stage(handle, Stage::leased);
  arm(handle);
  if (record.noted) {
    note(handle, {EventKind::claimed, item.attempt, record.noted->at_ms, 0, record.noted->text});
  }
}

void ShardState::evolve(const BackRecord& record) {
  QueueCounters& counted = counters(record.queue);
  switch (record.why) {
    case BackWhy::retry: ++counted.retries; break;
    case BackWhy::release: ++counted.releases; break;
    case BackWhy::run_out: ++counted.run_outs; break;
  }
  const Handle handle = record.ref.handle;
  if (!slab.holds(handle, record.ref.id)) return;
  disarm(handle);
  Message& message = slab[handle];
  History& history = history_of(message);
  note_back(record, history.attempt);
  history.attempt = record.attempt;
  if (TARRY_PLANTED_BUG(attempts_reset_by_replay) && replaying_) history.attempt = 0;
  if (record.why == BackWhy::release) ++history.tallies.releases;
  if (record.why == BackWhy::run_out) ++history.tallies.run_outs;
  if (record.why == BackWhy::retry) move_due(message, record.due_ms, record.boot_due_ms);
  message.priority = record.priority;
  set_stage(handle, Stage::scheduled);
  arm(handle);
}

void ShardState::evolve(GoneWhy why, QueueId queue, Ref ref) {
  QueueCounters& counted = counters(queue);
  switch (why) {
    case GoneWhy::acked: ++counted.acked; break;
    case GoneWhy::cancelled: ++counted.cancelled; break;
    case GoneWhy::replaced: ++counted.replaced; break;
    case GoneWhy::expired: ++counted.expired; break;
    case GoneWhy::purged: ++counted.purged; break;
    case GoneWhy::moved_away: ++counted.moved_away; break;
    case GoneWhy::forgotten: break;
  }
  if (!slab.holds(ref.handle, ref.id)) return;
  disarm(ref.handle);
  remove(ref.handle);
}

void ShardState::evolve(const RememberedRecord& record, Ref ref) {
  QueueCounters& counted = counters(record.queue);
  switch (record.ending) {
    case Ending::acked: ++counted.acked; break;
    case Ending::cancelled: ++counted.cancelled; break;
    case Ending::expired: ++counted.expired; break;
  }
  if (!slab.holds(ref.handle, ref.id)) return;
  disarm(ref.handle);
  Message& message = slab[ref.handle];
  History& history = history_of(message);
  drop_reason(message);                     // the message may have been dead
  move_due(message, message.due_ms(), {});  // the message no longer waits for a BOOTTIME
  history.ending = record.ending;
  history.stamp_ms = record.settled_ms;
  history.until_ms = record.until_ms;
  message.stopping = 0;
  own.set_expiry(ref.handle, {});
  set_stage(ref.handle, Stage::remembered);
  arm(ref.handle);
  if (record.noted) note_end(ref.handle, record.ending, record.settled_ms, history.attempt);
}

void ShardState::evolve(const DeadRecord& record) {
  QueueCounters& counted = counters(record.queue);
  if (record.why == DeadWhy::buried) ++counted.buries;
  if (record.why == DeadWhy::damaged) ++counted.damaged;
  if (record.why == DeadWhy::run_out) ++counted.run_outs;
  const Handle handle = record.ref.handle;
  if (!slab.holds(handle, record.ref.id)) return;
  disarm(handle);
  Message& message = slab[handle];
  History& history = history_of(message);
  drop_reason(message);
  if (record.why == DeadWhy::buried) ++history.tallies.buries;
  if (record.why == DeadWhy::run_out) ++history.tallies.run_outs;
  take_reason(message, record.reason);
  history.stamp_ms = record.since_ms;
  history.until_ms = record.until_ms;
  message.priority = record.priority;
  message.stopping = 0;
  set_stage(handle, Stage::dead);
  arm(handle);
  note_dead(record, history.attempt);
}

void ShardState::evolve(const StoppingRecord& record) {
  const Handle handle = record.ref.handle;
  if (!slab.holds(handle, record.ref.id)) return;
  slab[handle].stopping = 1;
  if (!record.noted) return;
  const std::uint32_t attempt = carried(handle).attempt;
  note(handle, {EventKind::stopping, attempt, record.noted->at_ms, 0, record.noted->text});
}

void ShardState::evolve(const LeaseRecord& record) {
  const Handle handle = record.ref.handle;
  if (!slab.holds(handle, record.ref.id)) return;
  disarm(handle);
  History& history = history_of(slab[handle]);
  history.until_ms = same_boot_ ? record.lease_until_boot_ms : kOtherBoot;
  history.late_ms = 0;
  history.stamp_ms = record.lease_ms;
  arm(handle);
}

void ShardState::evolve(const ClockRecord& record) {
  same_boot_ = record.boot_id == identity_.boot_id;
}

void ShardState::evolve(const MarksRecord& record) {
  next_id_ = std::max(next_id_, record.next_id);
  low_water_ = std::max(low_water_, record.low_water);
}

}  // namespace tarry::embedded
