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
  records_.write(record);
}

void Shard::execute(const core::ConfigureRequest& request, const Part& part) {
  const OperationPtr& op = part.op;
  const QueueId known = state_->find_queue(request.queue);
  const QueueSettings before = known == kNoQueue ? QueueSettings() : state_->queue(known).settings;
  if (auto bad = core::check_patch(request.patch, before)) {  // and no queue is made
    op->fail(std::move(*bad));
  } else if (auto error = room_.take(queue_bytes(request.queue) + kQueueRecord, kQueueRecord,
                                     Purpose::accept)) {
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
    if (settings != before) return job_.end_changing(op);
  }
  job_.end(op);
}

void Shard::execute(const core::PauseRequest& request, const Part& part) {
  const bool makes = state_->find_queue(request.queue) == kNoQueue;
  const Purpose purpose = makes ? Purpose::accept : Purpose::work;
  if (auto error = room_.take(queue_bytes(request.queue) + kQueueRecord, kQueueRecord, purpose)) {
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
      waiting_.wake(state_->queue(*queue).name);  // until a time that has come
    }
    return job_.end_changing(part.op);
  }
  job_.end(part.op);
}

void Shard::execute(const core::ResumeRequest& request, const Part& part) {
  const QueueId queue = state_->find_queue(request.queue);
  if (queue == kNoQueue || !state_->queue(queue).paused) {
    job_.end(part.op);
    return;
  }
  if (auto error = room_.take(kQueueRecord, kQueueRecord, Purpose::work)) {
    part.op->fail(std::move(*error));
  } else {
    record_queue(queue, state_->queue(queue).settings, false, std::nullopt);
    waiting_.wake(state_->queue(queue).name);
    return job_.end_changing(part.op);
  }
  job_.end(part.op);
}

void Shard::execute(const core::PurgeRequest& request, const Part& part) {
  const QueueId queue = state_->find_queue(request.queue);
  if (queue == kNoQueue) {
    job_.end(part.op);
    return;
  }
  sweeps_.push_back({part.op, queue, SweepKind::purge, 0, state_->next_id(), 0});
}

void Shard::execute(const core::ReviveRequest& request, const Part& part) {
  const QueueId queue = state_->find_queue(request.queue);
  if (queue == kNoQueue) {
    job_.end(part.op);
    return;
  }
  if (request.all) {
    sweeps_.push_back({part.op, queue, SweepKind::revive, 0, state_->next_id(), 0});
    return;
  }
  const std::size_t keys = part.all_items ? request.keys.size() : part.items.size();
  if (auto error = room_.take(keys * kDueRecord, kDueRecord, Purpose::accept)) {
    part.op->fail(std::move(*error));
    job_.end(part.op);
    return;
  }
  std::uint64_t count = 0;
  each_item(part, request.keys.size(), [&](std::size_t i) {
    const Handle handle = resolve(queue, core::view(request.bytes, request.keys[i]));
    if (handle != kNoHandle) sweep_one(handle, SweepKind::revive, count);
  });
  if (count > 0) return job_.end_changing(part.op, count);
  job_.end(part.op);
}

void Shard::sweep_one(Handle handle, SweepKind kind, std::uint64_t& count) {
  const Message& message = state_->slab[handle];
  const Stage stage = message.stage();
  if (kind == SweepKind::remove) {
    if (stage != Stage::remembered) ++count;
    records_.write_gone(stage == Stage::remembered ? GoneWhy::forgotten : GoneWhy::purged, handle);
    return;
  }
  if (kind == SweepKind::purge) {
    const bool leased = stage == Stage::leased && TARRY_PLANTED_BUG(purge_takes_leased);
    if (stage != Stage::scheduled && stage != Stage::ready && stage != Stage::dead && !leased)
      return;
    records_.write_gone(GoneWhy::purged, handle);
    ++count;
    return;
  }
  if (stage != Stage::dead) return;
  DueRecord record;
  record.ref = records_.ref(handle);
  record.queue = message.queue;
  record.due_ms = now_.realtime_ms;
  record.priority = message.priority;
  record.revived = true;
  records_.write(record);
  ++count;
}

bool Shard::sweep_slice() {
  if (sweeps_.empty()) return false;
  Sweep& sweep = sweeps_.front();
  const Handle end = static_cast<Handle>(std::min<std::uint64_t>(
      state_->slab.end(), std::uint64_t{sweep.cursor} + config_.slices.sweep));
  std::optional<Error> error = failure_.error();
  for (; sweep.cursor < end && !error; ++sweep.cursor) {
    if (!state_->slab.is_live(sweep.cursor)) continue;
    const Message& message = state_->slab[sweep.cursor];
    if (message.queue != sweep.queue || message.id >= sweep.id_limit) continue;
    const bool revives = sweep.kind == SweepKind::revive;
    error = room_.take(revives ? kDueRecord : kGoneRecord, kDueRecord,
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
    job_.end_changing(sweep.op, sweep.count);
  } else {
    job_.end(sweep.op);
  }
}

// The shard has failed: what takes several turns ends now.
void Shard::end_long_work() {
  while (sweep_slice() || count_slice()) {
  }
  fail_parked(*failure_.error(), {});
}

bool Shard::work_slice() {
  if (!failure_ && closing_) return false;  // what comes now would not be synced
  const bool more = !failure_ && go_on();
  if (failure_) end_long_work();
  return more && !failure_;
}

bool Shard::go_on() {
  bool more = sweep_slice();
  more = count_slice() || more;
  more = has_waiters_to_serve() || more;
  room_.repay();
  if (!failure_ && cleaner_.head_wanted()) close_head();
  if (failure_) return false;
  return clean_slice() || more;
}

void Shard::close_head() {
  auto closed = journal_->close_head(room_.reserve(Purpose::end), room_.reserve(Purpose::back));
  if (!closed) return fail(std::move(closed).error());
  if (*closed) keep_back();
}

bool Shard::clean_slice() {
  if (!cleaning_is_due()) return false;
  // Keeps pace with appends: twice what this turn wrote, and at least enough to end soon. Pressed
  // hard it ends a round over all that is live before what is kept back for work is half used up.
  const bool hard = cleaner_.pressed() == Cleaner::Press::hard;
  const std::uint64_t pace = hard ? 2 * kWorkShare : 2;
  auto slice = cleaner_.run(std::max(config_.slices.cleaning, pace * journal_->untaken_bytes()));
  if (!slice) {
    if (!is_shortage(slice.error())) fail(std::move(slice).error());
    return false;
  }
  figures_.copied_messages += slice->copied;
  if (slice->finished) {
    release(*slice->finished);
    ++figures_.cleaned_segments;
  }
  return cleaning_is_due();
}

}  // namespace tarry::embedded
