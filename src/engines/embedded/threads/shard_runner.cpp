#include "engines/embedded/threads/shard_runner.h"

#include <algorithm>
#include <utility>

#include "base/threads/thread.h"

namespace tarry::embedded {
namespace {

// Turns that a lent thread runs for other callers after its own.
constexpr int kMostLent = 8;
// Room for `more` entries: reserve() alone would grow it by one each time.
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
      sleeper_(std::move(parts_.sleeper)),
      // Claims that wait must hear of a failure.
      commits_(
          *parts_.committer, *parts_.reads, *clock_, answers, [this] { sleeper_->wake(); },
          [this] { end_journal(); }) {}

ShardRunner::~ShardRunner() { stop(); }

void ShardRunner::start() {
  commits_.start({"tarry-sync", number_});
  shard_thread_ = base::start_thread({"tarry-shard", number_}, [this] { run_shard(); });
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
    op->lent->set(number_);
  } else if (was_empty) {
    sleeper_->wake();
  }
}

// Runs on the caller's thread, even in destructors, so it must need no memory. The runner's own
// threads do the work of closing.
void ShardRunner::stop() {
  if (shard_thread_.joinable()) {
    {
      const std::scoped_lock lock(inbox_mutex_);
      stopping_ = true;
    }
    sleeper_->wake();
    shard_thread_.join();
  }
  commits_.stop();
}

void ShardRunner::let_go() noexcept {
  {
    const ShardParts gone = std::move(parts_);
  }  // members are destroyed in reverse order, as in a destructor
  sleeper_.reset();
}

// -- turns

// The caller holds `turn_mutex_`. Returns false if the shard has nothing left to do at once by
// itself.
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
  shard.serve_waiting();
  const bool more = shard.work_slice();
  if (parts_.committer->failed()) {
    Error error = parts_.committer->failure();
    error.message = "the journal could not be written, and the store has stopped: " + error.message;
    shard.fail(std::move(error));
    shard.serve_waiting();
  }
  if (CommitJob job = shard.take_job(); !job.empty()) {
    commits_.commit(std::move(job));
  }
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

bool ShardRunner::may_wait_for_disk() {
  return parts_.committer->waits_for_disk() || !commits_.has_room();
}

void ShardRunner::lend(Patience patience) noexcept {
  const core::EngineThreadScope scope(core::EngineThreadScope::Thread::lent);
  for (int turns = 0; turns < kMostLent; ++turns) {
    bool is_time = false;
    {
      const std::unique_lock turn(turn_mutex_, std::try_to_lock);
      if (!turn) return;
      // The shard's thread may have been woken for its end while this one had the turn. It then
      // sleeps again, for as long as a manual clock stands still.
      if (ended_ || (patience == Patience::never_waits && may_wait_for_disk())) break;
      passed_over_.exchange(false);
      const bool more = run_turn();
      if (more || ended_) {
        sleeper_->wake();
      } else if (auto places = parts_.shard->look_ahead(); !places.empty()) {
        commits_.ask_ahead(std::move(places));
      }
      const Deadlines next = deadlines();
      const timing::Instant now = clock_->now();
      is_time = (next.realtime_ms && *next.realtime_ms <= now.realtime_ms) ||
                (next.boottime_ms && *next.boottime_ms <= now.boottime_ms);
      if (!is_time) wake_for(next);
    }
    if (!is_time && !passed_over_.load() && !has_posts()) return;
  }
  sleeper_->wake();  // the lent thread must go on with its own work
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

// If a lender has the turn, this thread does not queue for it: the lender would have to wake it at
// the end of each turn and then take the next turn before it. The lender does this thread's work.
// The thread comes again for work that is due after the lenders have gone.
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
    if (!ahead.empty()) commits_.ask_ahead(std::move(ahead));
    if (more || has_posts()) continue;
    sleeper_->sleep(until.realtime_ms, until.boottime_ms);
  }
  was_closed_ = true;
}

// The shard's thread has ended by now.
void ShardRunner::end_journal() {
  if (!was_closed_) return;
  parts_.shard->end_journal();
  if (CommitJob job = parts_.shard->take_job(); !job.empty()) parts_.committer->run(std::move(job));
  // From now on nothing is written, so the journal can be trimmed.
  if (!parts_.committer->failed()) {
    // If the trim fails, the journal is left as after a crash, which does no harm.
    [[maybe_unused]] const auto trimmed = parts_.journal->trim();
  }
}

}  // namespace tarry::embedded
