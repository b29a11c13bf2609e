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

QueueId ShardState::find_queue(std::string_view name) const {
  const auto found = queue_ids_.find(name);
  return found == queue_ids_.end() ? kNoQueue : found->second;
}

void ShardState::rename(QueueId id, const std::string& name) {
  QueueState& queue = *queues_[id];
  TARRY_ASSERT(queue.is_there() && find_queue(name) == kNoQueue);
  queue_ids_.erase(queue.name);
  queue.name = name;
  queue_ids_.emplace(name, id);
}

core::Expiry ShardState::expiry(Handle handle) const {
  if (slab[handle].options == 0) return {};
  return options_.at(handle).expiry;
}

// Empty if the message never expires, or does not wait for a claim now.
std::optional<std::pair<std::int64_t, Handle>> ShardState::expiry_entry(Handle handle) const {
  const Message& message = slab[handle];
  if (message.stage() != Stage::scheduled && message.stage() != Stage::ready) return std::nullopt;
  const core::Expiry expiry = this->expiry(handle);
  return expiry.any() ? std::optional(std::pair(expiry.at_ms, handle)) : std::nullopt;
}

bool ShardState::expires_by(Handle handle, std::int64_t now_ms) const {
  const core::Expiry expiry = this->expiry(handle);
  return expiry.any() && expiry.at_ms <= now_ms;
}

void ShardState::set_expiry(Handle handle, const core::Expiry& expiry) {
  Message& message = slab[handle];
  if (message.options == 0 && !expiry.any()) return;
  MessageOptions& options = options_[handle];
  options.expiry = expiry;
  message.options = options.max_attempts != 0 || expiry.any() ? 1 : 0;
  if (message.options == 0) options_.erase(handle);
}

std::uint16_t ShardState::max_attempts_override(Handle handle) const {
  if (slab[handle].options == 0) return 0;
  return options_.at(handle).max_attempts;
}

std::uint32_t ShardState::max_attempts(Handle handle) const {
  const std::uint16_t own = max_attempts_override(handle);
  return own != 0 ? own : queues_[slab[handle].queue]->settings.max_attempts;
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
    case Stage::ready: return use(queues_[message.queue]->lanes);
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
  if (message.options == 0) return;
  if (const auto entry = expiry_entry(handle)) expiries_.insert(*entry);
}

void ShardState::disarm(Handle handle) {
  if (replaying_) return;
  Message& message = slab[handle];
  with_links(message, [handle](auto& links) { links.remove(handle); });
  if (message.options != 0) {
    if (const auto entry = expiry_entry(handle)) expiries_.erase(*entry);
  }
  if (message.stage() == Stage::scheduled) message.held = 0;
}

void ShardState::set_stage(Handle handle, Stage stage) noexcept {
  Message& message = slab[handle];
  QueueState& queue = *queues_[message.queue];
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

History& ShardState::history_of(Message& message) {
  if (message.history == kNoHistory) message.history = histories.allocate();
  return histories[message.history];
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
  if (message.options != 0) options_.erase(handle);
  drop_events(handle);
  unwritten_boot_dues_ -= message.boot_due_unwritten;
  eras.leave(message.era);
  message.era = 0;
  live.remove(message.position.segment(newest_segment_), message.position);
  set_stage(handle, Stage::free);
  slab.free(handle);
}

// -- evolve

void ShardState::evolve(const QueueRecord& record) {
  if (record.queue >= queues_.size()) {
    TARRY_ASSERT(record.queue == queues_.size());
    queues_.push_back(std::make_unique<QueueState>(slab, ready_blocks));
    free_queues_.insert(record.queue);
  }
  if (record.frees()) {
    QueueState& gone = *queues_[record.queue];
    if (gone.is_there()) queue_ids_.erase(gone.name);
    fit_home(gone.name, GroupOrder::due);
    gated.drop(record.queue, gone.in(Stage::leased), gone.lanes.groups(), gone.at_gate);
    fit_history(record.queue, std::exchange(gone.settings.history, 0));
    queues_[record.queue] = std::make_unique<QueueState>(slab, ready_blocks);
    free_queues_.insert(record.queue);
    return;
  }
  QueueState& queue = *queues_[record.queue];
  if (!queue.is_there()) {
    queue.name = std::string(record.name);
    queue_ids_.emplace(queue.name, record.queue);
    free_queues_.erase(record.queue);
  }
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

void ShardState::open_gates(std::shared_ptr<QueueGates> gates) {
  gated.open(std::move(gates));
  for (QueueId id = 0; id < queues_.size(); ++id) {
    fit_gate(id);
    fit_home(queues_[id]->name, queues_[id]->settings.group_order);
  }
}

void ShardState::fit_home(const std::string& queue, GroupOrder order) {
  if (!gated.is_open() || queue.empty()) return;
  if (core::home_of(queue, identity_.shards, identity_.hash_seed) != identity_.shard) return;
  gated.homes().set(queue, order == GroupOrder::push);
}

void ShardState::fit_gate(QueueId id) {
  QueueState& queue = *queues_[id];
  gated.fit(id, queue.name, queue.settings, queue.in(Stage::leased), queue.lanes.groups(),
            queue.at_gate);
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
  if (record.max_attempts != 0) {
    message.options = 1;
    options_[handle].max_attempts = record.max_attempts;
  }
  set_expiry(handle, record.expiry);
  if (record.group.any()) {
    QueueState& queue = *queues_[record.queue];
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
  if (message.options != 0) set_expiry(handle, core::rescheduled(expiry(handle), record.due_ms));
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
  if (message.options != 0) set_expiry(ref.handle, {});
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

void ShardState::append_opening(std::string& out, timing::Instant now) const {
  append_record(out, Record(ClockRecord{now.realtime_ms, now.boottime_ms, identity_.boot_id}));
  append_record(out, Record(MarksRecord{next_id_, low_water_}));
  for (QueueId id = 0; id < queues_.size(); ++id) {
    const QueueState& queue = *queues_[id];
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
  queues_[message.queue]->lanes.insert(handle);
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
  for (auto& queue : queues_) {
    queue->lanes.remove_later_than(now_ms, [&](Handle handle) {
      set_stage(handle, Stage::scheduled);
      due_wheel.insert(handle);
    });
  }
}

}  // namespace tarry::embedded
