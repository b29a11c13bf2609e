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
namespace {

// Room to work in between two rounds of cleaning. A round costs as many bytes as are live; so the
// room grows with them, and with the messages, each of which can be claimed and settled.
constexpr std::uint64_t kWorkPerMessage = 48;
// What is kept back is taken to so many bytes, where there is not all.
constexpr std::uint64_t kLeastStep = 16 * 1024;

}  // namespace

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
      uncommitted_(state) {
  // What is kept back must hold for the longest of what the last run has left.
  for (Handle handle = 0; handle < state_->slab.end(); ++handle) {
    if (state_->slab.is_live(handle)) journal_->note_put(state_->slab[handle].position.size());
  }
}

void Shard::fail(Error error) {
  if (failure_) return;
  router_->log({LogLevel::error, "shard_stopped",
                "shard " + std::to_string(config_.number) + " stops: " + error.message});
  // All later requests are told it. They are not at fault, whatever the file system's reason was.
  error.code = ErrorCode::io_error;
  committer_->stop();
  failure_ = std::move(error);
  fail_parked(*failure_, {});
}

void Shard::keep_back() {
  if (failure_ || state_->live.messages() == 0) return;
  repay_cleaning();
  if (failure_) return;
  const std::uint64_t whole = reserve(Purpose::accept);
  const std::uint64_t largest = std::max(kEndRecord, journal_->largest_put());
  std::uint64_t have = 0;
  for (std::uint64_t step = whole; have < whole && step >= kLeastStep; step /= 2) {
    const auto done = journal_->ensure_room(0, 0, have + step, largest);
    if (done) {
      have += step;
    } else if (!is_shortage(done.error())) {
      return fail(done.error());
    }
  }
  tight_ = have < whole;
  if (tight_) cleaner_.press(Cleaner::Press::lightly);
}

void Shard::release(const SegmentInfo& cleaned) {
  const std::uint64_t largest = std::max(kEndRecord, journal_->largest_put());
  const bool keep = journal_->keep_file(cleaned, reserve(Purpose::accept), largest);
  (keep ? reuse_segments_ : remove_segments_).push_back(cleaned.number);
  if (config_.mark) config_.mark(keep ? "cleaning.keeps-file" : "cleaning.removes-file");
  ++freeing_;
}

void Shard::room_is_back(std::uint64_t removed, std::uint64_t reusable) {
  TARRY_ASSERT(removed + reusable <= freeing_);
  freeing_ -= removed + reusable;
  if (failure_) return;
  const std::uint64_t largest = std::max(kEndRecord, journal_->largest_put());
  for (; reusable > 0; --reusable) {
    auto done = journal_->reuse_file(reserve(Purpose::accept), largest);
    if (!done) return fail(std::move(done).error());
  }
  if (tight_ || cleaner_.spent() != 0) keep_back();
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
  // What the parts before made due is ready for this one.
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
  // The first one has the mark of the ids left out after a crash, whatever the policy: were it lost
  // in another crash, the same ids would be given once more.
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

// On a full disk, in this order: nothing more is accepted; claims wait for cleaning; what gives
// them back does; what ends messages goes on. What cleaning needs for one segment is given to
// nothing else, and cleaning takes nothing else. Why that is enough: docs/decisions/0001.
Shard::Reserve Shard::reserves(std::uint64_t more_bytes, std::uint64_t more) const noexcept {
  const std::uint64_t live = state_->live.total_bytes() + more_bytes;
  const std::uint64_t messages = state_->live.messages() + more;
  const std::uint64_t segment = journal_->largest_segment();
  const std::uint64_t leased = state_->lease_wheel.size();
  const auto kept = [this, messages](std::uint64_t besides) {
    return std::min(messages - std::min(messages, besides), config_.kept_claims);
  };
  Reserve parts;
  const std::uint64_t more_than_carried =
      state_->live.total_reasons() + state_->unwritten_boot_dues() * kBootDueBytes;
  parts.growth = state_->histories.unwritten() * kCarriedBytes + more_than_carried;
  parts.leases = leased * kRunOutBytes;
  parts.claims = kept(state_->histories.size()) * kCarriedBytes + kept(leased) * kRunOutBytes;
  // Neither a claim nor a copy changes the sum of all: what is given away because there is more
  // than enough is not missed later.
  const std::uint64_t grown = state_->histories.size() - state_->histories.unwritten();
  const std::uint64_t grow = messages - std::min(messages, grown);
  const std::uint64_t most = segment + std::max(segment / 2, state_->live.most_growth());
  parts.cleaning =
      std::min(live + grow * kCarriedBytes + more_than_carried, most) + journal_->opening_bytes();
  parts.work = config_.work_base + kept(0) * kWorkPerMessage + live / kWorkShare;
  return parts;
}

std::uint64_t Shard::reserve(Purpose purpose, std::uint64_t more_bytes,
                             std::uint64_t more) const noexcept {
  if (TARRY_PLANTED_BUG(nothing_kept_back)) return 0;
  const Reserve parts = reserves(more_bytes, more);
  // What cleaning has copied already it needs no more, and the cleaned segment brings it back.
  // Only a push asks for it all the same: pushes start one cleaning after another.
  const std::uint64_t rest = parts.cleaning - std::min(parts.cleaning, cleaner_.spent());
  const bool comes_back = cleaner_.running() || freeing_ != 0;
  const std::uint64_t for_claims = comes_back ? rest : parts.cleaning;
  switch (purpose) {
    case Purpose::accept:
      return parts.cleaning + parts.growth + parts.work + parts.leases + parts.claims;
    case Purpose::work: return for_claims + parts.growth + parts.work / 2 + parts.leases;
    case Purpose::back: return for_claims + parts.growth + parts.work / 4;
    case Purpose::end: break;
  }
  return rest;
}

void Shard::repay_cleaning() {
  if (cleaner_.spent() == 0 || cleaner_.running()) return;
  const Reserve parts = reserves();
  // The room of cleaned segments comes back with the next sync. A reserve that was repaid before
  // that would take the room on which claims go on meanwhile.
  const std::uint64_t for_work = freeing_ == 0 ? 0 : parts.growth + parts.work + parts.leases;
  const auto done = journal_->ensure_room(0, 0, parts.cleaning + for_work, journal_->largest_put());
  if (done) {
    cleaner_.repaid();
  } else if (!is_shortage(done.error())) {
    fail(done.error());
  }
}

// What frees room comes after a sync. A cleaner that went on before would take what the ends need,
// for room that is on its way.
bool Shard::cleaning_waits() const {
  return freeing_ != 0 && !cleaner_.running() && cleaner_.spent() != 0 &&
         cleaner_.spent() + cleaner_.cost() > reserves().cleaning;
}

bool Shard::cleaning_is_due() {
  const bool holds_off = cleaner_.holds_off(now_.boottime_ms);  // it wants to be asked each time
  return cleaner_.wanted() && !holds_off && !cleaning_waits();
}

std::optional<Error> Shard::room(std::uint64_t bytes, std::uint64_t largest, Purpose purpose,
                                 std::uint64_t accepted) {
  repay_cleaning();
  if (failure_) return failure_;
  const std::uint64_t kept = reserve(purpose, accepted == 0 ? 0 : bytes, accepted);
  const std::uint64_t largest_kept =
      std::max({kEndRecord, journal_->largest_put(), purpose == Purpose::accept ? largest : 0});
  auto done = journal_->ensure_room(bytes, largest, kept, largest_kept);
  if (done) {
    if (purpose == Purpose::accept) {
      tight_ = false;
    } else if (tight_) {
      cleaner_.press(Cleaner::Press::hard);  // before what ends messages runs short too
    }
    return std::nullopt;
  }
  if (is_shortage(done.error())) {
    tight_ = true;
    cleaner_.press(purpose == Purpose::accept ? Cleaner::Press::lightly : Cleaner::Press::hard);
  } else if (done.error().code != ErrorCode::too_large) {
    fail(done.error());
    return failure_;
  }
  Error error = std::move(done).error();
  error.message = "no space for " + std::to_string(bytes) + " bytes with " + std::to_string(kept) +
                  " kept back for what must still work: " + error.message;
  return error;
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
