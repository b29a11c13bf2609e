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
      failure_(config.number, committer, router),
      job_(config.number, router),
      records_(state, journal, waiting_, now_),
      cleaner_(state, journal, files, config.mark),
      room_(state, journal, cleaner_, failure_, {config.work_base, config.kept_claims}),
      uncommitted_(state) {
  // The reserve must suffice for the longest record that the last run left.
  for (Handle handle = 0; handle < state_->slab.end(); ++handle) {
    if (state_->slab.is_live(handle)) journal_->note_put(state_->slab[handle].position.size());
  }
}

void Shard::fail(Error error) {
  failure_.set(std::move(error));
  end_long_work();
}

void Shard::keep_back() {
  if (!failure_ && state_->live.messages() != 0) room_.keep_back();
}

void Shard::release(const SegmentInfo& cleaned) {
  const bool keep = room_.keeps_file(cleaned);
  if (keep) {
    job_.reuse_segment(cleaned.number);
  } else {
    job_.remove_segment(cleaned.number);
  }
  if (config_.mark) config_.mark(keep ? "cleaning.keeps-file" : "cleaning.removes-file");
}

void Shard::room_is_back(std::uint64_t removed, std::uint64_t reusable) {
  room_.note_freed(removed + reusable);
  if (failure_) return;
  room_.reuse(reusable);
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
  if (failure_) return job_.refuse(part, *failure_.error());
  if (!removals_.empty() && parks(part)) return;
  // Messages that earlier parts made due are ready for this part.
  const auto next = state_->due_wheel.next_due();
  if (next && *next <= now_.realtime_ms) {
    run_wheels();
    if (config_.mark) config_.mark("time.amid-turn");
  }
  std::visit([&](const auto& request) { execute(request, part); }, part.op->request);
}

CommitJob Shard::take_job() {
  if (closing_) job_.sync();
  return job_.take(journal_->take(now_.realtime_ms));
}

void Shard::close() {
  if (closing_) return;
  closing_ = true;
  waiting_.clear([this](const OperationPtr& op) {
    if (!op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) return;
    op->fail({ErrorCode::closed, "the store was closed"});
    job_.end(op);
  });
  for (const Sweep& sweep : sweeps_) {
    sweep.op->fail({ErrorCode::closed, "the store was closed"});
    end_sweep(sweep);
  }
  sweeps_.clear();
  for (const Count& count : counts_) {
    count.op->fail({ErrorCode::closed, "the store was closed"});
    job_.end(count.op);
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
    const RecordPlace place = journal_->place(message.position);
    auto put = journal_->read(place.segment, place.position);
    // Where its bytes cannot be read, 64 bits of hash have to do: "no such key" would be a lie.
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
  records_.write(record);
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

}  // namespace tarry::embedded
