#include "engines/embedded/journal/committer.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/planted.h"
#include "engines/embedded/journal/begun_mark.h"
#include "engines/embedded/journal/journal_format.h"

namespace tarry::embedded {
namespace {
constexpr std::int64_t kSyncEveryMs = 100;
// How often a sync may check that the store's directory is still in its place.
constexpr std::chrono::milliseconds kLookEvery(100);
}  // namespace

void Committer::start_at(std::uint64_t durable, std::uint64_t begun) noexcept {
  begun_ = begun;
  durable_.store(durable, std::memory_order_release);
  written_.store(durable, std::memory_order_release);
}

Result<void> Committer::sync_all() {
  for (const auto& [segment, file] : dirty_) {
    if (TARRY_PLANTED_BUG(skip_data_sync)) continue;
    auto synced = file->sync_data();
    if (TARRY_PLANTED_BUG(retry_failed_sync) && !synced) synced = file->sync_data();
    if (!synced) return synced;
  }
  if (!dirty_.empty() && dirty_.rbegin()->first > begun_) {
    auto raised = raise_begun(*directory_, begun_, dirty_.rbegin()->first);
    if (!raised) return std::move(raised).error();
    directory_dirty_ = directory_dirty_ || *raised != begun_;
    begun_ = *raised;
  }
  dirty_.clear();
  if (auto synced = sync_directory(); !synced) return synced;
  if (auto looked = look_at_place(); !looked) return looked;
  syncs_.fetch_add(1, std::memory_order_relaxed);
  last_sync_boot_ms_.store(clock_->now().boottime_ms, std::memory_order_relaxed);
  durable_.store(written_.load(std::memory_order_relaxed), std::memory_order_release);
  return {};
}

Result<void> Committer::sync_directory() {
  if (!directory_dirty_ || TARRY_PLANTED_BUG(skip_directory_sync)) return {};
  if (auto synced = directory_->sync(); !synced) return synced;
  directory_dirty_ = false;
  return {};
}

Result<void> Committer::look_at_place() {
  looked_ = clock_->monotonic();
  if (directory_->is_in_place() && (!open_segment_ || open_segment_->has_name())) return {};
  return Unexpected(ErrorCode::io_error,
                    directory_->path() + " was removed or moved while the store was open");
}

// Writes batches that are adjacent in a segment by one call.
Result<void> Committer::write(std::span<const BatchPtr> batches) {
  const SealedBatch& first = *batches.front();
  const bool opens = first.opens();
  if (opens && policy_ != SyncPolicy::os && !dirty_.empty()) {
    if (auto synced = sync_all(); !synced) return synced;
  }
  pieces_.clear();
  if (opens) pieces_.emplace_back(first.segment_header);
  std::uint64_t end = first.offset;
  for (const auto& batch : batches) {
    TARRY_ASSERT(batch->offset == end && (batch == batches.front() || !batch->opens()));
    pieces_.emplace_back(batch->bytes);
    end += batch->bytes.size();
  }
  const auto file = files_->get(first.segment);
  TARRY_ASSERT(file != nullptr);  // a file is removed only after its batches are written
  if (auto done = file->write_at(opens ? 0 : first.offset, pieces_); !done) return done;
  directory_dirty_ = directory_dirty_ || opens;
  dirty_[first.segment] = file;
  open_segment_ = file;
  written_.store(batches.back()->number, std::memory_order_release);
  for (const auto& batch : batches) reads_->written(batch);
  return {};
}

Result<void> Committer::commit(const CommitJob& job) {
  for (std::span<const BatchPtr> left = job.batches; !left.empty();) {
    const auto next = std::find_if(left.begin() + 1, left.end(), [&](const BatchPtr& batch) {
      return batch->segment != left.front()->segment;
    });
    const auto together = left.first(static_cast<std::size_t>(next - left.begin()));
    if (auto done = write(together); !done) return done;
    left = left.subspan(together.size());
  }
  const bool now = policy_ == SyncPolicy::always || sync_is_due();
  const bool frees = job.frees() && !TARRY_PLANTED_BUG(remove_before_sync);
  if (job.sync || frees || (now && !dirty_.empty())) {
    return sync_all();
  }
  if (auto synced = sync_directory(); !synced) return synced;
  if (clock_->monotonic() - looked_ < kLookEvery) return {};
  return look_at_place();
}

Result<void> Committer::free_segments(const CommitJob& job) {
  for (const std::uint64_t segment : job.reuse_segments) reads_->freed(segment);
  for (const std::uint64_t segment : job.remove_segments) {
    files_->remove(segment);
    reads_->freed(segment);
    if (auto removed = directory_->remove(segment_name(segment)); !removed) return removed;
  }
  return {};
}

void Committer::fail(Error error) {
  failure_ = std::move(error);
  failed_.store(true, std::memory_order_release);
}

bool Committer::sync_is_due() const {
  if (policy_ != SyncPolicy::every_100ms) return false;
  const std::int64_t last = last_sync_boot_ms_.load(std::memory_order_relaxed);
  return clock_->now().boottime_ms - last >= kSyncEveryMs;
}

bool Committer::is_quick(const CommitJob& job) const {
  if (job.sync || job.frees() || waits_for_disk() || syncs_for(job) || sync_is_due()) return false;
  return std::none_of(job.batches.begin(), job.batches.end(), [](const auto& batch) {
    return batch->opens();  // a new segment needs a sync of the directory
  });
}

void Committer::run(CommitJob job) {
  if (TARRY_PLANTED_BUG(forget_failure)) failure_.reset();
  if (TARRY_PLANTED_BUG(answer_before_write)) {
    for (std::vector<CommitTask>* tasks : {&job.tasks, &job.answers}) {
      for (CommitTask& task : std::exchange(*tasks, {})) {
        task({nullptr, clock_->now().boottime_ms});
      }
    }
  }
  if (!failure_ && stopped_.load(std::memory_order_acquire)) {
    fail({ErrorCode::io_error, "the journal's directory failed; the store has stopped"});
  }
  const bool timed = !failure_ && !job.batches.empty();
  std::chrono::nanoseconds durable{};
  if (!failure_) {
    reads_->expect(job.expected);  // the disk reads while we write
    const auto began = timed ? clock_->monotonic() : std::chrono::nanoseconds();
    if (job.waits_since.count() > 0) {
      times_->record(CommitClock::Step::gather, began - job.waits_since);
    }
    if (auto done = commit(job); !done) fail(std::move(done).error());
    if (timed && !failure_) {
      durable = clock_->monotonic();
      times_->record(CommitClock::Step::sync, durable - began);
    }
  }
  CommitOutcome outcome;
  outcome.failure = failure_ ? &*failure_ : nullptr;
  outcome.committed_boot_ms = clock_->now().boottime_ms;
  if (!failure_) outcome.answers = &job.answers;
  if (!failure_ && when_durable_) when_durable_();
  for (CommitTask& task : job.tasks) task(outcome);
  if (timed && !failure_) time_answers(job.answers, durable);
  outcome.answers = nullptr;
  waits_for_disk_.store(reads_->waits_for_disk(), std::memory_order_relaxed);
  if (failure_ || !aside_ || !aside_(job.answers)) {
    for (CommitTask& answer : job.answers) answer(outcome);
  }
  // Segments are freed after the tasks have run, because the tasks may deliver messages that
  // cleaning has moved since.
  if (failure_) return;
  if (auto freed = free_segments(job); !freed) return fail(std::move(freed).error());
  for (auto& tell : job.when_freed) tell();
}

void Committer::time_answers(std::vector<CommitTask>& answers, std::chrono::nanoseconds durable) {
  const auto note = [times = times_, clock = clock_, durable](const CommitOutcome&) {
    times->record(CommitClock::Step::answer, clock->monotonic() - durable);
  };
  if (answers.empty()) {
    note({});
  } else {
    answers.emplace_back(note);  // behind the last caller's
  }
}

void Committer::sync_pending() {
  if (failure_ || dirty_.empty()) return;
  if (auto synced = sync_all(); !synced) fail(std::move(synced).error());
}

}  // namespace tarry::embedded
