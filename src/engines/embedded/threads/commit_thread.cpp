#include "engines/embedded/threads/commit_thread.h"

#include <iterator>
#include <span>
#include <utility>

#include "base/threads/thread.h"
#include "core/engine.h"

namespace tarry::embedded {
namespace {

// A shard waits when jobs in RAM hold more than this.
constexpr std::uint64_t kSlotBytes = 32ull << 20;
constexpr std::chrono::milliseconds kSyncEvery(100);
// About how many records may wait to be read ahead.
constexpr std::size_t kMostAhead = 4096;

template <typename T>
void append_all(std::vector<T>& to, std::vector<T>&& from) {
  if (to.empty()) {
    to = std::move(from);
    return;
  }
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

CommitThread::CommitThread(Committer& committer, RecordReads& reads, const timing::Clock& clock,
                           core::AnswerThread& answers, std::function<void()> on_failure,
                           std::function<void()> at_end, GroupCommitDelay commit_delay)
    : committer_(&committer),
      reads_(&reads),
      clock_(&clock),
      answers_(&answers),
      on_failure_(std::move(on_failure)),
      at_end_(std::move(at_end)),
      commit_delay_(commit_delay) {
  committer_->set_durable([this] { note_durable(); });
  committer_->set_aside([this](std::vector<CommitTask>& done) { return set_aside(done); });
}

void CommitThread::start(base::ThreadName name) {
  thread_ = base::start_thread(name, [this] { run(); });
}

void CommitThread::stop() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    no_more_ = true;
    ahead_.clear();
  }
  ready_.notify_one();
  thread_.join();
}

void CommitThread::tell_of_failure() const {
  if (committer_->failed()) on_failure_();
}

// -- the shard's side

void CommitThread::commit(CommitJob job) {
  if (!committer_->is_quick(job) || !take_committer()) return hand_over(std::move(job));
  committer_->run(std::move(job));
  tell_of_failure();
  give_committer_back();
}

bool CommitThread::take_committer() {
  const std::scoped_lock lock(mutex_);
  // Earlier jobs commit first. A thread that gathers callers counts this job's callers too.
  if (committing_ || !slot_.empty() || wakes_at_ > 0) return false;
  committing_ = true;
  return true;
}

void CommitThread::give_committer_back() {
  const bool pending = committer_->has_pending();
  bool goes_on = false;
  {
    const std::scoped_lock lock(mutex_);
    committing_ = false;
    goes_on = is_ready() ||            // a read-ahead was requested meanwhile
              (pending && !pending_);  // the thread must sync in time
    pending_ = pending;
  }
  if (goes_on) ready_.notify_one();
}

bool CommitThread::has_room() {
  const std::scoped_lock lock(mutex_);
  return slot_bytes_ < kSlotBytes;
}

void CommitThread::hand_over(CommitJob job) {
  std::uint64_t bytes = 0;
  for (const auto& batch : job.batches) bytes += batch->bytes.size();
  bool wakes = false;
  {
    Lock lock(mutex_);
    taken_.wait(lock, [this] { return slot_bytes_ < kSlotBytes; });
    if (slot_.batches.empty() && !job.batches.empty()) slot_.waits_since = clock_->monotonic();
    append_all(slot_.batches, std::move(job.batches));
    append_all(slot_.tasks, std::move(job.tasks));
    append_all(slot_.expected, std::move(job.expected));
    append_all(slot_.answers, std::move(job.answers));
    append_all(slot_.remove_segments, std::move(job.remove_segments));
    append_all(slot_.reuse_segments, std::move(job.reuse_segments));
    append_all(slot_.when_freed, std::move(job.when_freed));
    slot_.sync = slot_.sync || job.sync;
    slot_bytes_ += bytes;
    wakes = is_worth_a_sync(wakes_at_);
  }
  if (wakes) ready_.notify_one();
}

void CommitThread::ask_ahead(std::vector<RecordPlace> places) {
  {
    const std::scoped_lock lock(mutex_);
    if (no_more_) return;
    // The places may belong to several queues, so new ones are added to the old ones. Nobody waits
    // for these reads, so they must not pile up.
    if (ahead_.size() > kMostAhead) ahead_.clear();
    append_all(ahead_, std::move(places));
  }
  ready_.notify_one();
}

// -- the thread

bool CommitThread::is_ready() const {
  return (!committing_ && (!slot_.empty() || no_more_)) || !ahead_.empty();
}

void CommitThread::run() {
  const core::EngineThreadScope scope;
  Lock lock(mutex_);
  while (true) {
    gather(lock);
    if (!wait(lock)) {
      sync_pending(lock);
      continue;
    }
    if (!ahead_.empty() && (committing_ || slot_.empty())) {
      read_ahead(lock);
    } else if (slot_.empty()) {
      break;
    } else {
      do_next(lock);
    }
  }
  lock.unlock();
  at_end_();
}

// True if at least `callers` callers wait for the job. Also true if the shard itself waits, because
// then no other caller can join.
bool CommitThread::is_worth_a_sync(std::size_t callers) const {
  return slot_.callers() >= callers || slot_bytes_ >= kSlotBytes;
}

// Waits for the callers that the last job answered, if that pays.
void CommitThread::gather(Lock& lock) {
  const std::size_t wanted = commit_delay_.wanted();
  if (wanted == 0) return;
  const auto came = [&] { return is_worth_a_sync(wanted) || no_more_; };
  wakes_at_ = wanted;
  commit_delay_.waited(ready_.wait_for(lock, patience_, came));
  wakes_at_ = 0;
}

// False: it is time to sync the pending batches.
bool CommitThread::wait(Lock& lock) {
  ready_.wait(lock, [this] { return is_ready() || pending_; });
  return ready_.wait_for(lock, kSyncEvery, [this] { return is_ready(); });
}

void CommitThread::sync_pending(Lock& lock) {
  if (committing_) return;  // a lent thread writes a job just now
  committing_ = true;
  lock.unlock();
  committer_->sync_pending();
  tell_of_failure();
  lock.lock();
  committing_ = false;
  pending_ = committer_->has_pending();
}

// Reads ahead until there is a job.
void CommitThread::read_ahead(Lock& lock) {
  const std::vector<RecordPlace> ahead = std::exchange(ahead_, {});
  std::span<const RecordPlace> left = ahead;
  while (!left.empty() && !no_more_ && (committing_ || slot_.empty())) {
    lock.unlock();
    left = left.subspan(reads_->read_ahead(left));
    lock.lock();
  }
  // The rest is kept for later, unless another read-ahead was requested meanwhile.
  if (ahead_.empty() && !no_more_) ahead_.assign(left.begin(), left.end());
}

void CommitThread::do_next(Lock& lock) {
  CommitJob job = std::exchange(slot_, {});
  slot_bytes_ = 0;
  std::vector<RecordPlace> ahead;
  if (committer_->waits_for_disk()) ahead = std::exchange(ahead_, {});
  committing_ = true;
  lock.unlock();
  taken_.notify_one();
  reads_->expect(ahead);
  run_job(std::move(job));
  lock.lock();
  committing_ = false;
  pending_ = committer_->has_pending();
}

void CommitThread::run_job(CommitJob job) {
  // A job that frees files takes time after its answers, so its callers do not count.
  callers_ = committer_->syncs_for(job) && !job.frees() ? job.callers() : 0;
  may_set_aside_ = true;
  commit_delay_.synced(0, 0, {});
  if (callers_ > 0) began_ = clock_->monotonic();
  committer_->run(std::move(job));
  if (commit_delay_.wanted() > 0) patience_ = commit_delay_.answered(clock_->monotonic() - synced_);
  callers_ = 0;
  may_set_aside_ = false;
  tell_of_failure();
}

// Runs before any caller is answered. Otherwise a caller that quickly sends its next request could
// be counted twice.
void CommitThread::note_durable() {
  if (callers_ == 0) return;
  std::size_t waiting = 0;
  {
    const std::scoped_lock lock(mutex_);
    waiting = slot_.callers();
  }
  synced_ = clock_->monotonic();
  commit_delay_.synced(callers_, waiting, synced_ - began_);
}

// If this thread is going to wait for the callers, it answers them itself. Otherwise their answers
// would first have to wait for another thread.
bool CommitThread::set_aside(std::vector<CommitTask>& answers) {
  if (!may_set_aside_ || answers.empty() || commit_delay_.wanted() > 0) return false;
  {
    const std::scoped_lock lock(mutex_);
    if (slot_.batches.empty()) return false;
  }
  answers_->post([answers = std::move(answers)]() mutable {
    for (CommitTask& answer : answers) answer(CommitOutcome());
  });
  return true;
}

}  // namespace tarry::embedded
