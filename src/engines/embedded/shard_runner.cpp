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
// Turns that a lent thread runs for others behind its own.
constexpr int kMostLent = 8;
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

ShardRunner::ShardRunner(std::uint32_t number, ShardParts parts,
                         std::shared_ptr<const timing::Clock> clock, core::AnswerThread& answers)
    : number_(number),
      parts_(std::move(parts)),
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
  const OperationPtr op = part.op;
  bool was_empty = false;
  {
    const std::scoped_lock lock(inbox_mutex_);
    if (stopping_) return false;
    make_room(inbox_, kept_ + 1);
    was_empty = inbox_.empty();
    inbox_.push_back(std::move(part));
  }
  wake_unless_lent(op.get(), was_empty);
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
  const OperationPtr op = part.op;
  bool was_empty = false;
  {
    const std::scoped_lock lock(inbox_mutex_);
    --kept_;
    if (stopping_) return false;
    was_empty = inbox_.empty();
    inbox_.push_back(std::move(part));
  }
  wake_unless_lent(op.get(), was_empty);
  return true;
}

void ShardRunner::wake_unless_lent(Operation* op, bool was_empty) noexcept {
  if (op != nullptr && op->is_lent_here()) {
    op->lent_to.set(number_);
  } else if (was_empty) {
    sleeper_->wake();
  }
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

// -- turns

// With turn_mutex_ held. False where the shard has nothing to go on with by itself at once.
bool ShardRunner::run_turn() {
  Shard& shard = *parts_.shard;
  taken_.clear();
  bool last = false;
  {
    const std::scoped_lock lock(inbox_mutex_);
    taken_.swap(inbox_);
    make_room(inbox_, kept_);
    last = stopping_;
  }
  if (last) {
    Part close;
    close.kind = Part::Kind::close;
    taken_.push_back(std::move(close));
  }
  shard.advance(clock_->now());
  for (Part& part : taken_) shard.execute(std::move(part));
  shard.serve_waiters();
  const bool more = shard.work_slice();
  if (parts_.committer->failed()) {
    shard.fail({ErrorCode::io_error, "the journal could not be written; the store has stopped"});
    shard.serve_waiters();
  }
  if (CommitJob job = shard.take_job(); !job.empty()) commit(std::move(job));
  ended_ = last;
  return more && !last;
}

bool ShardRunner::has_posts() {
  const std::scoped_lock lock(inbox_mutex_);
  return !inbox_.empty();
}

ShardRunner::Deadlines ShardRunner::deadlines() const {
  const Shard& shard = *parts_.shard;
  if (shard.failure()) return {};
  return {shard.next_realtime_ms(), shard.next_boottime_ms()};
}

// -- a lent thread

void ShardRunner::lend() noexcept {
  const core::EngineThreadScope scope(core::EngineThreadScope::Thread::lent);
  for (int turns = 0; turns < kMostLent; ++turns) {
    bool is_time = false;
    {
      const std::unique_lock turn(turn_mutex_, std::try_to_lock);
      if (!turn) return;
      // The shard's thread may have been woken for its end while this one had the turn, and sleep
      // again, for as long as a clock that is moved by hand stands still.
      if (ended_) break;
      passed_over_.exchange(false);
      const bool more = run_turn();
      if (more || ended_) {
        sleeper_->wake();
      } else if (auto places = parts_.shard->look_ahead(); !places.empty()) {
        ask_ahead(std::move(places));
      }
      const Deadlines next = deadlines();
      const timing::Instant now = clock_->now();
      is_time = (next.realtime_ms && *next.realtime_ms <= now.realtime_ms) ||
                (next.boottime_ms && *next.boottime_ms <= now.boottime_ms);
      if (!is_time) wake_for(next);
    }
    if (!is_time && !passed_over_.load() && !has_posts()) return;
  }
  sleeper_->wake();  // this thread has its own things to do
}

void ShardRunner::wake_for(const Deadlines& next) noexcept {
  const auto is_earlier = [](const auto& at, const auto& than) {
    return at && (!than || *at < *than);
  };
  if (!is_earlier(next.realtime_ms, sleeps_until_.realtime_ms) &&
      !is_earlier(next.boottime_ms, sleeps_until_.boottime_ms)) {
    return;
  }
  sleeps_until_ = next;
  sleeper_->wake();
}

// -- the shard's thread

// Where a lender has the turn, this thread does not queue for it: the lender would have to wake it
// at the end of each of its turns, only to take the next one before it. What it came for the lender
// does; for what is due once the lenders have gone it comes again.
void ShardRunner::run_shard() {
  const core::EngineThreadScope scope;
  while (true) {
    bool more = false;
    Deadlines until;
    std::vector<RecordPlace> ahead;
    {
      std::unique_lock turn(turn_mutex_, std::try_to_lock);
      if (!turn) {
        passed_over_.store(true);
        if (!turn.try_lock()) {
          sleeper_->sleep(clock_->now().realtime_ms + 1, std::nullopt);
          continue;
        }
      }
      passed_over_.exchange(false);
      if (!ended_) more = run_turn();
      if (ended_) break;
      if (!more) ahead = parts_.shard->look_ahead();
      until = sleeps_until_ = deadlines();
    }
    if (!ahead.empty()) ask_ahead(std::move(ahead));
    if (more || has_posts()) continue;
    sleeper_->sleep(until.realtime_ms, until.boottime_ms);
  }
  was_closed_ = true;
}

// -- jobs

// Where it takes no waiting, it is not worth waking the committer's thread.
void ShardRunner::commit(CommitJob job) {
  Committer& committer = *parts_.committer;
  if (!committer.is_quick(job)) return hand_over(std::move(job));
  bool is_free = false;
  {
    const std::scoped_lock lock(job_mutex_);
    is_free = !committing_ && slot_.empty();  // else what is before it comes first
    committing_ = committing_ || is_free;
  }
  if (!is_free) return hand_over(std::move(job));
  committer.run(std::move(job));
  if (committer.failed()) sleeper_->wake();  // claims that wait must hear of it
  bool goes_on = false;
  {
    const std::scoped_lock lock(job_mutex_);
    committing_ = false;
    goes_on = !ahead_.empty();  // asked for meanwhile
  }
  if (goes_on) job_ready_.notify_one();
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
  bool is_ours = false;
  while (true) {
    CommitJob job;
    std::vector<RecordPlace> ahead;
    bool timed_out = false;
    {
      std::unique_lock lock(job_mutex_);
      if (is_ours) committing_ = false;
      is_ours = false;
      const auto ready = [this] {
        return !committing_ && (!slot_.empty() || !ahead_.empty() || no_more_jobs_);
      };
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
        committing_ = is_ours = true;
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
