// The histories of messages: which events a shard keeps, and how many bytes of them the full
// records do not hold.
#include <algorithm>

#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {
namespace {

// What a list takes in RAM besides the bytes of its events, about.
constexpr std::uint64_t kListBytes = 96;

EventKind kind_of(const DeadRecord& record) noexcept {
  return record.why == DeadWhy::buried ? EventKind::buried : EventKind::died;
}
EventKind kind_of(BackWhy why) noexcept {
  switch (why) {
    case BackWhy::retry: return EventKind::retried;
    case BackWhy::release: return EventKind::released;
    case BackWhy::run_out: break;
  }
  return EventKind::run_out;
}
EventKind kind_of(Ending ending) noexcept {
  switch (ending) {
    case Ending::acked: return EventKind::acked;
    case Ending::cancelled: return EventKind::cancelled;
    case Ending::expired: break;
  }
  return EventKind::expired;
}

}  // namespace

const EventList* ShardState::events(Handle handle) const {
  const QueueState& queue = queues[slab[handle].queue];
  if (queue.events == nullptr) return nullptr;
  const auto found = queue.events->find(handle);
  return found == queue.events->end() ? nullptr : &found->second;
}

EventList* ShardState::list_of(Handle handle) {
  return const_cast<EventList*>(std::as_const(*this).events(handle));
}

// Changes a list, and counts what it takes before and after.
template <typename Change>
void ShardState::change(Handle handle, EventList& list, Change&& change) {
  const std::uint64_t segment = slab[handle].position.segment(newest_segment_);
  const std::uint64_t before = list.unwritten();
  event_bytes_ -= list.bytes().size();
  change(list);
  event_bytes_ += list.bytes().size();
  const std::uint64_t after = list.unwritten();
  if (after > before) live.add_unwritten(segment, after - before);
  if (after < before) live.remove_unwritten(segment, before - after);
}

void ShardState::note(Handle handle, const EventEntry& event) {
  QueueState& queue = queues[slab[handle].queue];
  if (queue.events == nullptr) return;
  const auto [at, is_new] = queue.events->try_emplace(handle);
  if (is_new) event_bytes_ += kListBytes;
  change(handle, at->second, [&](EventList& list) {
    list.add(event);
    list.cut(queue.settings.history);
  });
}

void ShardState::note_back(const BackRecord& record, std::uint32_t attempt) {
  if (!record.noted) return;
  note(record.ref.handle,
       {kind_of(record.why), attempt, record.noted->at_ms, record.due_ms, record.noted->text});
}

void ShardState::note_dead(const DeadRecord& record, std::uint32_t attempt) {
  if (!record.noted) return;
  note(record.ref.handle,
       {kind_of(record), attempt, record.since_ms, 0, event_text(record.reason)});
}

void ShardState::note_end(Handle handle, Ending ending, std::int64_t at_ms, std::uint32_t attempt) {
  note(handle, {kind_of(ending), attempt, at_ms, 0, {}});
}

void ShardState::restore_events(Handle handle, const Carried& carried) {
  QueueState& queue = queues[slab[handle].queue];
  if (queue.events == nullptr || carried.event_count == 0) return;
  event_bytes_ += kListBytes;
  change(handle, (*queue.events)[handle], [&](EventList& list) {
    list.restore(carried.events, carried.event_count);
    list.cut(queue.settings.history);
  });
}

void ShardState::count_events_as_written(Handle handle) {
  EventList* const list = list_of(handle);
  if (list != nullptr) change(handle, *list, [](EventList& written) { written.note_written(); });
}

void ShardState::drop_events(Handle handle) {
  EventList* const list = list_of(handle);
  if (list == nullptr) return;
  change(handle, *list, [](EventList& gone) { gone.cut(0); });
  queues[slab[handle].queue].events->erase(handle);
  event_bytes_ -= kListBytes;
}

// A lower number holds at once, so that what a user reads does not depend on restarts. Unless the
// number has become lower, no list is too long.
void ShardState::fit_history(QueueId id, std::uint32_t before) {
  QueueState& queue = queues[id];
  const std::uint32_t most = queue.settings.history;
  if (most != 0 && queue.events == nullptr) {
    queue.events = std::make_unique<EventLists>();
    ++queues_with_history_;
  }
  if (queue.events == nullptr) return;
  if (most < before) {
    for (auto& [handle, list] : *queue.events) {
      if (list.count() > most) change(handle, list, [&](EventList& cut) { cut.cut(most); });
    }
  }
  if (most != 0) return;
  event_bytes_ -= queue.events->size() * kListBytes;
  queue.events.reset();
  --queues_with_history_;
}

}  // namespace tarry::embedded
