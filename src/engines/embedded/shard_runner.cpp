#include "engines/embedded/shard_runner.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace tarry::embedded {
namespace {

// What may wait for the committer in RAM before the shard waits for it.
constexpr std::uint64_t kSlotBytes = 32ull << 20;
constexpr std::chrono::milliseconds kSyncEvery(100);
// Records to be read ahead, about.
constexpr std::size_t kMostAhead = 4096;

template <typename T>
void append_all(std::vector<T>& to, std::vector<T>&& from) {
  if (to.empty()) {
    to = std::move(from);
    return;
  }
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// For so many more; reserve() alone would grow it by one each time.
void make_room(std::vector<Part>& inbox, std::size_t more) {
  const std::size_t wanted = inbox.size() + more;
  if (inbox.capacity() < wanted) inbox.reserve(std::max(wanted, 2 * inbox.capacity()));
}

}  // namespace

ShardRunner::ShardRunner(ShardParts parts, std::shared_ptr<const timing::Clock> clock,
                         core::AnswerThread& answers)
    : parts_(std::move(parts)),
      clock_(std::move(clock)),
      answers_(&answers),
      sleeper_(make_sleeper(clock_)) {
  parts_.committer->set_aside([this](std::vector<CommitTask>& done) { return set_aside(done); });
}

ShardRunner::~ShardRunner() { stop(); }

void ShardRunner::start() {
  commit_thread_ = std::thread([this] { run_committer(); });
  shard_thread_ = std::thread([this] { run_shard(); });
}

bool ShardRunner::post(Part& part) {
  bool wake = false;
  {
    const std::scoped_lock lock(inbox_mutex_);
    if (stopping_) return false;
    make_room(inbox_, kept_ + 1);
    wake = inbox_.empty();
    inbox_.push_back(std::move(part));
  }
  if (wake) sleeper_->wake();
  return true;
}

void ShardRunner::keep_place() {
  const std::scoped_lock lock(inbox_mutex_);
  make_room(inbox_, kept_ + 1);
  ++kept_;
}

void ShardRunner::give_place_back() noexcept {
  const std::scoped_lock lock(inbox_mutex_);
  --kept_;
}

bool ShardRunner::post_kept(Part& part) noexcept {
  bool wake = false;
  {
    const std::scoped_lock lock(inbox_mutex_);
    --kept_;
    if (stopping_) return false;
    wake = inbox_.empty();
    inbox_.push_back(std::move(part));
  }
  if (wake) sleeper_->wake();
  return true;
}

// Runs on the caller's thread, in destructors too: it needs no memory. What closing takes is done
// by the threads themselves.
void ShardRunner::stop() {
  if (shard_thread_.joinable()) {
    {
      const std::scoped_lock lock(inbox_mutex_);
      stopping_ = true;
    }
    sleeper_->wake();
    shard_thread_.join();
  }
  if (commit_thread_.joinable()) {
    {
      const std::scoped_lock lock(job_mutex_);
      no_more_jobs_ = true;
    }
    job_ready_.notify_one();
    commit_thread_.join();
  }
}

// -- the shard's thread

void ShardRunner::turn(std::vector<Part>& inbox) {
  Shard& shard = *parts_.shard;
  shard.advance(clock_->now());
  for (Part& part : inbox) shard.execute(std::move(part));
  shard.serve_waiters();
}

void ShardRunner::run_shard() {
  Shard& shard = *parts_.shard;
  std::vector<Part> inbox;
  bool more = false;
  while (true) {
    inbox.clear();
    bool last = false;
    {
      const std::scoped_lock lock(inbox_mutex_);
      inbox.swap(inbox_);
      make_room(inbox_, kept_);
      last = stopping_;
    }
    if (last) {
      Part close;
      close.kind = Part::Kind::close;
      inbox.push_back(std::move(close));
    }
    turn(inbox);
    more = shard.work_slice();
    if (parts_.committer->failed()) {
      shard.fail({ErrorCode::io_error, "the journal could not be written; the store has stopped"});
      shard.serve_waiters();
    }
    if (CommitJob job = shard.take_job(); !job.empty()) hand_over(std::move(job));
    if (last) {
      was_closed_ = true;
      return;
    }
    {
      const std::scoped_lock lock(inbox_mutex_);
      if (!inbox_.empty()) continue;
    }
    if (more) continue;
    if (auto places = shard.look_ahead(); !places.empty()) ask_ahead(std::move(places));
    if (shard.failure()) {
      sleeper_->sleep(std::nullopt, std::nullopt);
    } else {
      sleeper_->sleep(shard.next_realtime_ms(), shard.next_boottime_ms());
    }
  }
}

void ShardRunner::hand_over(CommitJob job) {
  std::uint64_t bytes = 0;
  for (const auto& batch : job.batches) bytes += batch->bytes.size();
  {
    std::unique_lock lock(job_mutex_);
    job_taken_.wait(lock, [this] { return slot_bytes_ < kSlotBytes; });
    append_all(slot_.batches, std::move(job.batches));
    append_all(slot_.tasks, std::move(job.tasks));
    append_all(slot_.expected, std::move(job.expected));
    append_all(slot_.answers, std::move(job.answers));
    append_all(slot_.remove_segments, std::move(job.remove_segments));
    append_all(slot_.reuse_segments, std::move(job.reuse_segments));
    append_all(slot_.when_freed, std::move(job.when_freed));
    slot_.sync = slot_.sync || job.sync;
    slot_bytes_ += bytes;
  }
  job_ready_.notify_one();
}

void ShardRunner::ask_ahead(std::vector<RecordPlace> places) {
  {
    const std::scoped_lock lock(job_mutex_);
    // Of several queues; but nobody waits for this, so it must not pile up.
    if (ahead_.size() > kMostAhead) ahead_.clear();
    append_all(ahead_, std::move(places));
  }
  job_ready_.notify_one();
}

// -- the committer's thread

bool ShardRunner::set_aside(std::vector<CommitTask>& answers) {
  if (answers.empty()) return false;
  {
    const std::scoped_lock lock(job_mutex_);
    if (slot_.batches.empty()) return false;
  }
  answers_->post([answers = std::move(answers)]() mutable {
    for (CommitTask& answer : answers) answer(CommitOutcome());
  });
  return true;
}

void ShardRunner::run_committer() {
  const core::EngineThreadScope scope;
  Committer& committer = *parts_.committer;
  while (true) {
    CommitJob job;
    std::vector<RecordPlace> ahead;
    bool timed_out = false;
    {
      std::unique_lock lock(job_mutex_);
      const auto ready = [this] { return !slot_.empty() || !ahead_.empty() || no_more_jobs_; };
      if (committer.has_pending()) {
        timed_out = !job_ready_.wait_for(lock, kSyncEvery, ready);
      } else {
        job_ready_.wait(lock, ready);
      }
      if (!timed_out) {
        if (slot_.empty() && no_more_jobs_) break;
        ahead.swap(ahead_);
        job = std::exchange(slot_, {});
        slot_bytes_ = 0;
      }
    }
    if (timed_out) {
      committer.sync_pending();
      if (committer.failed()) sleeper_->wake();
      continue;
    }
    if (job.empty()) {
      committer.read_ahead(ahead);
      continue;
    }
    job_taken_.notify_one();
    if (committer.waits_for_disk()) {
      committer.expect(ahead);
      ahead.clear();
    }
    committer.run(std::move(job));
    if (committer.failed()) sleeper_->wake();  // claims that wait must hear of it
    put_off(std::move(ahead));
  }
  if (was_closed_) end_journal();
}

// For when there is no job, unless something else is asked for by then.
void ShardRunner::put_off(std::vector<RecordPlace> ahead) {
  if (ahead.empty()) return;
  const std::scoped_lock lock(job_mutex_);
  if (ahead_.empty()) ahead_ = std::move(ahead);
}

// The shard's thread has ended by now.
void ShardRunner::end_journal() {
  parts_.shard->end_journal();
  if (CommitJob job = parts_.shard->take_job(); !job.empty()) parts_.committer->run(std::move(job));
  // Only now is nothing written any more.
  if (!parts_.committer->failed()) {
    // A journal that could not be trimmed is as whole as after a crash.
    [[maybe_unused]] const auto trimmed = parts_.journal->trim();
  }
}

}  // namespace tarry::embedded
