#include "engines/embedded/shard/shard.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/planted.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/records/tokens.h"
#include "engines/embedded/shard/part_failure.h"
#include "engines/embedded/shard/shard_items.h"

namespace tarry::embedded {

Shard::Shard(const Config& config, ShardState& state, Journal& journal, Committer& committer,
             RecordReads& reads, SegmentFiles& files, Router& router)
    : config_(config),
      state_(&state),
      journal_(&journal),
      committer_(&committer),
      reads_(&reads),
      files_(&files),
      router_(&router),
      cleaner_(state, journal, files, config.mark),
      room_(state, journal, cleaner_, {config.work_base, config.kept_claims}),
      uncommitted_(state) {
  // The reserve must suffice for the longest record that the last run left.
  for (Handle handle = 0; handle < state_->slab.end(); ++handle) {
    if (state_->slab.is_live(handle)) journal_->note_put(state_->slab[handle].position.size());
  }
}

void Shard::fail(Error error) {
  if (failure_) return;
  router_->log({LogLevel::error, "shard_stopped",
                "shard " + std::to_string(config_.number) + " stops: " + error.message});
  // All later requests get this error. Those requests are not at fault, whatever the file system's
  // reason was.
  error.code = ErrorCode::io_error;
  committer_->stop();
  failure_ = std::move(error);
  fail_parked(*failure_, {});
}

void Shard::keep_back() {
  if (failure_ || state_->live.messages() == 0) return;
  if (auto failure = room_.keep_back()) fail(*std::move(failure));
}

void Shard::repay_cleaning() {
  if (auto failure = room_.repay()) fail(*std::move(failure));
}

void Shard::release(const SegmentInfo& cleaned) {
  const bool keep = room_.keeps_file(cleaned);
  (keep ? reuse_segments_ : remove_segments_).push_back(cleaned.number);
  if (config_.mark) config_.mark(keep ? "cleaning.keeps-file" : "cleaning.removes-file");
}

void Shard::room_is_back(std::uint64_t removed, std::uint64_t reusable) {
  room_.note_freed(removed + reusable);
  if (failure_) return;
  if (auto failure = room_.reuse(reusable)) return fail(*std::move(failure));
  if (room_.is_short()) keep_back();
}

void Shard::execute(Part part) {
  switch (part.kind) {
    case Part::Kind::wait: wait(part.op); return;
    case Part::Kind::forget: waiting_.note_ended(part.op.get()); return;
    case Part::Kind::damaged: damaged(part); return;
    case Part::Kind::freed: room_is_back(part.removed, part.reusable); return;
    case Part::Kind::close: close(); return;
    case Part::Kind::request: break;
  }
  if (failure_) return refuse(part);
  if (!removals_.empty() && parks(part)) return;
  // Messages that earlier parts made due are ready for this part.
  const auto next = state_->due_wheel.next_due();
  if (next && *next <= now_.realtime_ms) {
    run_wheels();
    if (config_.mark) config_.mark("time.amid-turn");
  }
  std::visit([&](const auto& request) { execute(request, part); }, part.op->request);
}

// Nothing of it has been written, so no job has a say in its end.
void Shard::refuse(const Part& part) {
  fail_part(part, *failure_);
  answers_.emplace_back([router = router_, op = part.op](const CommitOutcome& /*outcome*/) {
    router->finish_part(op);
  });
}

void Shard::end_part(const OperationPtr& op) {
  answers_.emplace_back([router = router_, op](const CommitOutcome& outcome) {
    if (outcome.failure != nullptr) op->fail(*outcome.failure);
    router->finish_part(op);
  });
}

void Shard::end_part(const Part& part) {
  if (part.all_items) return end_part(part.op);
  answers_.emplace_back([router = router_, part](const CommitOutcome& outcome) {
    if (outcome.failure != nullptr) fail_part(part, *outcome.failure);
    router->finish_part(part.op);
  });
}

void Shard::end_changing_part(const OperationPtr& op, std::uint64_t messages) {
  answers_.emplace_back([router = router_, op, messages](const CommitOutcome& outcome) {
    if (outcome.failure != nullptr) {
      op->fail(*outcome.failure);
    } else {
      op->note_changed(messages);
    }
    router->finish_part(op);
  });
}

CommitJob Shard::take_job() {
  CommitJob job;
  job.batches = journal_->take(now_.realtime_ms);
  job.tasks = std::exchange(tasks_, {});
  job.expected = std::exchange(expected_, {});
  job.answers = std::exchange(answers_, {});
  job.remove_segments = std::exchange(remove_segments_, {});
  job.reuse_segments = std::exchange(reuse_segments_, {});
  if (job.frees()) {
    job.when_freed.emplace_back([router = router_, shard = config_.number,
                                 removed = job.remove_segments.size(),
                                 reusable = job.reuse_segments.size()] {
      Part part;
      part.kind = Part::Kind::freed;
      part.removed = removed;
      part.reusable = reusable;
      router->post(shard, std::move(part));
    });
  }
  // The first job holds the mark of the ids that are skipped after a crash. It is synced under
  // every policy: if another crash took it, the same ids would be given again.
  job.sync = closing_ || std::exchange(sync_next_, false) ||
             (first_job_ && !job.batches.empty() && !TARRY_PLANTED_BUG(skipped_ids_not_synced));
  if (!job.batches.empty()) first_job_ = false;
  return job;
}

void Shard::close() {
  if (closing_) return;
  closing_ = true;
  waiting_.clear([this](const OperationPtr& op) {
    if (!op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) return;
    op->fail({ErrorCode::closed, "the store was closed"});
    end_part(op);
  });
  for (const Sweep& sweep : sweeps_) {
    sweep.op->fail({ErrorCode::closed, "the store was closed"});
    end_sweep(sweep);
  }
  sweeps_.clear();
  for (const Count& count : counts_) {
    count.op->fail({ErrorCode::closed, "the store was closed"});
    end_part(count.op);
  }
  counts_.clear();
  fail_parked({ErrorCode::closed, "the store was closed"}, {});
}

void Shard::end_journal() {
  if (journal_->is_as_it_was()) return;
  const Record closed = ClosedRecord{};
  if (!failure_ && journal_->fits(encoded_size(closed))) journal_->append(closed);
}

// -- room

bool Shard::cleaning_is_due() {
  const bool holds_off = cleaner_.holds_off(now_.boottime_ms);  // it wants to be asked each time
  return cleaner_.wanted() && !holds_off && !room_.cleaning_waits();
}

std::optional<Error> Shard::room(std::uint64_t bytes, std::uint64_t largest, Purpose purpose,
                                 std::uint64_t accepted) {
  repay_cleaning();
  if (failure_) return failure_;
  auto refused = room_.take(bytes, largest, purpose, accepted);
  if (!refused) return std::nullopt;
  if (!refused->is_failure) return std::move(refused->error);
  fail(std::move(refused->error));
  return failure_;
}

// -- finding messages

Handle Shard::resolve(QueueId queue, std::string_view key) {
  if (const auto made = parse_generated_key(key); made && made->store_tag == state_->store_tag() &&
                                                  made->shard == config_.number &&
                                                  state_->slab.holds(made->handle, made->id)) {
    const Message& message = state_->slab[made->handle];
    if (message.generated_key != 0 && message.queue == queue) return made->handle;
  }
  return state_->index.find(state_->key_hash(queue, key), [&](Handle candidate) {
    const Message& message = state_->slab[candidate];
    if (message.queue != queue) return false;
    auto put =
        journal_->read(message.position.segment(journal_->newest_segment()), message.position);
    // If its bytes cannot be read, 64 bits of hash must do: "no such key" would be false.
    return !put || put->key == key;
  });
}

Handle Shard::resolve_or_none(const std::string& queue, std::string_view key) {
  const QueueId id = state_->find_queue(queue);
  return id == kNoQueue ? kNoHandle : resolve(id, key);
}

// Each segment that is taken already opens with the queue too, and has the less room for it.
std::uint64_t Shard::queue_bytes(const std::string& name) const {
  if (state_->find_queue(name) != kNoQueue) return 0;
  return kQueueRecord + journal_->openings_grow_by(kQueueRecord + kCountersBytes);
}

Result<QueueId> Shard::queue_for_push(const std::string& name) {
  const QueueId found = state_->find_queue(name);
  if (found != kNoQueue) return found;
  if (state_->live_queues() >= config_.limits.max_queues) {
    return Unexpected(ErrorCode::no_space, "the store has its limit of " +
                                               std::to_string(config_.limits.max_queues) +
                                               " queues; none was made");
  }
  QueueRecord record;
  record.queue = state_->next_queue();
  record.name = name;
  emit(record);
  return record.queue;
}

std::optional<Error> Shard::due_times(Due due, DueTimes& times) const {
  if (!due.is_relative()) {
    if (due.millis() - now_.realtime_ms > core::kMaxDelayMs) {
      return Error{ErrorCode::invalid_argument, "due time " + std::to_string(due.millis()) +
                                                    " ms is more than 100 years from now"};
    }
    times = {due.millis(), std::nullopt};
    return std::nullopt;
  }
  const std::int64_t rounding = due.millis() > 0 ? config_.rounding_ms : 0;
  times.due_ms = std::max<std::int64_t>(now_.realtime_ms, 0) + due.millis() + rounding;
  times.boot_due_ms.reset();
  if (due.millis() > 0 && state_->eras.current() != 0) {
    times.boot_due_ms = state_->eras.boot_due_ms(state_->eras.current(), times.due_ms);
  }
  return std::nullopt;
}

// -- records: down in the journal, then into the state

void Shard::emit(const QueueRecord& record) {
  const bool is_new =
      record.queue == state_->queue_count() || !state_->queue(record.queue).is_there();
  journal_->append(record, is_new && !record.frees());
  state_->evolve(record);
}
void Shard::emit(const PutRecord& record) {
  const RecordPlace place = journal_->append(record);
  state_->evolve(record, place.segment, place.position);
  wake_by_key(record.queue);
}
void Shard::emit(const DueRecord& record) {
  journal_->append(record);
  state_->evolve(record);
}
void Shard::emit(const BackRecord& record) {
  journal_->append(record);
  state_->evolve(record);
  wake_by_key(record.queue);
}
void Shard::emit(const DeadRecord& record) {
  journal_->append(record);
  state_->evolve(record);
  wake_by_key(record.queue);
}
void Shard::emit(const StoppingRecord& record) {
  journal_->append(record);
  state_->evolve(record);
}
void Shard::emit(const LeaseRecord& record) {
  journal_->append(record);
  state_->evolve(record);
}
void Shard::emit_gone(GoneWhy why, Handle handle) {
  const QueueId queue = state_->slab[handle].queue;
  const Ref gone = ref(handle);
  if (!TARRY_PLANTED_BUG(cancel_not_logged) || why != GoneWhy::cancelled) {
    journal_->append_gone(why, queue, gone);
  }
  state_->evolve(why, queue, gone);
}
void Shard::emit_remembered(Ending ending, Handle handle, std::int64_t until_ms) {
  const QueueId queue = state_->slab[handle].queue;
  journal_->append_remembered(ending, queue, now_.realtime_ms, until_ms, ref(handle));
  state_->evolve(ending, queue, now_.realtime_ms, until_ms, ref(handle));
}
void Shard::emit_dead(DeadWhy why, Handle handle, std::uint32_t priority, std::string_view reason) {
  const Message& message = state_->slab[handle];
  DeadRecord record;
  record.why = why;
  record.ref = ref(handle);
  record.queue = message.queue;
  record.since_ms = now_.realtime_ms;
  record.until_ms = now_.realtime_ms + state_->queue(message.queue).settings.dead_keep.count();
  record.priority = priority;
  record.reason = reason.substr(0, core::kMaxReason);
  emit(record);
}

// A message ended for good: its key stays known for the queue's `remember`.
void Shard::end_message(Ending ending, Handle handle) {
  const std::int64_t remember = state_->queue(state_->slab[handle].queue).settings.remember.count();
  const bool forgets = ending == Ending::cancelled && TARRY_PLANTED_BUG(cancel_not_remembered);
  if (remember > 0 && !forgets) {
    emit_remembered(ending, handle, now_.realtime_ms + remember);
  } else {
    emit_gone(ending == Ending::acked ? GoneWhy::acked : GoneWhy::cancelled, handle);
  }
}

}  // namespace tarry::embedded
