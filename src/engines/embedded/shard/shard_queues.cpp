// Verbs on whole queues: settings, pause, purge, revive. Work that touches every message goes in
// slices, so that a purge of ten million delays no other request.
#include "base/planted.h"
#include "core/settings_table.h"
#include "core/validation.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/shard/shard.h"
#include "engines/embedded/shard/shard_items.h"

namespace tarry::embedded {

void Shard::record_queue(QueueId queue, const QueueSettings& settings, bool paused,
                         std::optional<std::int64_t> until_ms) {
  QueueRecord record;
  record.queue = queue;
  record.name = state_->queue(queue).name;
  record.settings = settings;
  record.paused = paused;
  record.paused_until_ms = until_ms;
  emit(record);
}

void Shard::execute(const core::ConfigureRequest& request, const Part& part) {
  const OperationPtr& op = part.op;
  const QueueId known = state_->find_queue(request.queue);
  const QueueSettings before = known == kNoQueue ? QueueSettings() : state_->queue(known).settings;
  if (auto bad = core::check_patch(request.patch, before)) {  // and no queue is made
    op->fail(std::move(*bad));
  } else if (auto error =
                 room(queue_bytes(request.queue) + kQueueRecord, kQueueRecord, Purpose::accept)) {
    op->fail(std::move(*error));
  } else if (auto queue = queue_for_push(request.queue); !queue) {
    op->fail(std::move(queue).error());
  } else {
    const QueueState& state = state_->queue(*queue);
    const QueueSettings settings = core::apply(request.patch, before);
    if (settings != before) {
      record_queue(*queue, settings, state.paused, state.paused_until_ms);
    }
    {
      const std::scoped_lock lock(op->merge);
      std::get<core::ConfigureReply>(op->reply).settings = settings;
    }
    if (settings != before) return end_changing_part(op);
  }
  end_part(op);
}

void Shard::execute(const core::PauseRequest& request, const Part& part) {
  const bool makes = state_->find_queue(request.queue) == kNoQueue;
  const Purpose purpose = makes ? Purpose::accept : Purpose::work;
  if (auto error = room(queue_bytes(request.queue) + kQueueRecord, kQueueRecord, purpose)) {
    part.op->fail(std::move(*error));
  } else if (auto queue = queue_for_push(request.queue); !queue) {
    part.op->fail(std::move(queue).error());
  } else {
    std::optional<std::int64_t> until;
    if (request.until) until = request.until->time_since_epoch().count();
    record_queue(*queue, state_->queue(*queue).settings, true, until);
    if (is_paused(state_->queue(*queue))) {
      const std::scoped_lock lock(part.op->merge);
      ++std::get<core::CountReply>(part.op->reply).count;
    } else {
      wake_queue(*queue);  // until a time that has come
    }
    return end_changing_part(part.op);
  }
  end_part(part.op);
}

void Shard::execute(const core::ResumeRequest& request, const Part& part) {
  const QueueId queue = state_->find_queue(request.queue);
  if (queue == kNoQueue || !state_->queue(queue).paused) {
    end_part(part.op);
    return;
  }
  if (auto error = room(kQueueRecord, kQueueRecord, Purpose::work)) {
    part.op->fail(std::move(*error));
  } else {
    record_queue(queue, state_->queue(queue).settings, false, std::nullopt);
    wake_queue(queue);
    return end_changing_part(part.op);
  }
  end_part(part.op);
}

void Shard::execute(const core::PurgeRequest& request, const Part& part) {
  const QueueId queue = state_->find_queue(request.queue);
  if (queue == kNoQueue) {
    end_part(part.op);
    return;
  }
  sweeps_.push_back({part.op, queue, SweepKind::purge, 0, state_->next_id(), 0});
}

void Shard::execute(const core::ReviveRequest& request, const Part& part) {
  const QueueId queue = state_->find_queue(request.queue);
  if (queue == kNoQueue) {
    end_part(part.op);
    return;
  }
  if (request.all) {
    sweeps_.push_back({part.op, queue, SweepKind::revive, 0, state_->next_id(), 0});
    return;
  }
  const std::size_t keys = part.all_items ? request.keys.size() : part.items.size();
  if (auto error = room(keys * kDueRecord, kDueRecord, Purpose::accept)) {
    part.op->fail(std::move(*error));
    end_part(part.op);
    return;
  }
  std::uint64_t count = 0;
  each_item(part, request.keys.size(), [&](std::size_t i) {
    const Handle handle = resolve(queue, core::view(request.bytes, request.keys[i]));
    if (handle != kNoHandle) sweep_one(handle, SweepKind::revive, count);
  });
  if (count > 0) return end_changing_part(part.op, count);
  end_part(part.op);
}

void Shard::sweep_one(Handle handle, SweepKind kind, std::uint64_t& count) {
  const Message& message = state_->slab[handle];
  const Stage stage = message.stage();
  if (kind == SweepKind::remove) {
    if (stage != Stage::remembered) ++count;
    emit_gone(stage == Stage::remembered ? GoneWhy::forgotten : GoneWhy::purged, handle);
    return;
  }
  if (kind == SweepKind::purge) {
    const bool leased = stage == Stage::leased && TARRY_PLANTED_BUG(purge_takes_leased);
    if (stage != Stage::scheduled && stage != Stage::ready && stage != Stage::dead && !leased)
      return;
    emit_gone(GoneWhy::purged, handle);
    ++count;
    return;
  }
  if (stage != Stage::dead) return;
  DueRecord record;
  record.ref = ref(handle);
  record.queue = message.queue;
  record.due_ms = now_.realtime_ms;
  record.priority = message.priority;
  record.revived = true;
  emit(record);
  ++count;
}

bool Shard::sweep_slice() {
  if (sweeps_.empty()) return false;
  Sweep& sweep = sweeps_.front();
  const Handle end = static_cast<Handle>(std::min<std::uint64_t>(
      state_->slab.end(), std::uint64_t{sweep.cursor} + config_.slices.sweep));
  std::optional<Error> error = failure_;
  for (; sweep.cursor < end && !error; ++sweep.cursor) {
    if (!state_->slab.is_live(sweep.cursor)) continue;
    const Message& message = state_->slab[sweep.cursor];
    if (message.queue != sweep.queue || message.id >= sweep.id_limit) continue;
    const bool revives = sweep.kind == SweepKind::revive;
    error = room(revives ? kDueRecord : kGoneRecord, kDueRecord,
                 revives ? Purpose::accept : Purpose::end);
    if (!error) sweep_one(sweep.cursor, sweep.kind, sweep.count);
  }
  if (!error && sweep.cursor < state_->slab.end()) return true;
  if (!error && sweep.kind == SweepKind::remove) free_queue(sweep.queue, sweep.op);
  if (error) sweep.op->fail(*std::move(error));
  end_sweep(sweep);
  sweeps_.pop_front();
  return !sweeps_.empty();
}

void Shard::end_sweep(const Sweep& sweep) {
  if (sweep.count > 0) {
    end_changing_part(sweep.op, sweep.count);
  } else {
    end_part(sweep.op);
  }
}

bool Shard::work_slice() {
  if (failure_) {
    while (sweep_slice() || count_slice()) {
    }
    return false;
  }
  if (closing_) return false;  // records from now on would not be synced
  bool more = sweep_slice();
  more = count_slice() || more;
  more = has_waiters_to_serve() || more;
  repay_cleaning();
  if (failure_) return more;
  if (cleaner_.head_wanted()) {
    auto closed = journal_->close_head(room_.reserve(Purpose::end), room_.reserve(Purpose::back));
    if (!closed) {
      fail(std::move(closed).error());
      return more;
    }
    if (*closed) keep_back();
    if (failure_) return more;
  }
  if (!cleaning_is_due()) return more;
  // Keeps pace with appends: twice what this turn wrote, and at least enough to end soon. When
  // pressed hard, it ends a round over all live bytes before half of the reserve for work is used.
  const bool hard = cleaner_.pressed() == Cleaner::Press::hard;
  const std::uint64_t pace = hard ? 2 * kWorkShare : 2;
  auto slice = cleaner_.run(std::max(config_.slices.cleaning, pace * journal_->untaken_bytes()));
  if (!slice) {
    if (!is_shortage(slice.error())) fail(std::move(slice).error());
    return more;
  }
  figures_.copied_messages += slice->copied;
  if (slice->finished) {
    release(*slice->finished);
    ++figures_.cleaned_segments;
  }
  return more || cleaning_is_due();
}

}  // namespace tarry::embedded
