// ShardRunner: a shard with its two threads. One thread runs the state machine, turn by turn. The
// other commits its decisions (CommitThread), and the shard continues meanwhile.
//
// A thread that waits for its posted part may run the turns itself (`lend`): it has nothing else to
// do, and waking another thread costs more than most turns.
//
// Invariants
//  1. The thread that holds `turn_mutex_` is the shard's thread for that time: turns come one after
//     the other, and their jobs are committed in that order.
//  2. Every posted part is served: by the shard's thread, which is woken, or by the lender that
//     posted it. A thread that ends a turn looks into the inbox again after it has released
//     `turn_mutex_`, because a lender that could not get the mutex meanwhile is waiting now.
//  3. The shard's thread never sleeps past the next event of the last turn, whichever thread ran
//     that turn. It may sleep a millisecond longer if a lender had the turn.
//
// Thread safety: `post` and `lend` from any thread; the rest by the engine's front.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/answer_thread.h"
#include "engines/embedded/threads/commit_thread.h"
#include "engines/embedded/journal/committer.h"
#include "engines/embedded/journal/journal.h"
#include "engines/embedded/reading/record_reads.h"
#include "engines/embedded/shard/requests/operation.h"
#include "engines/embedded/shard/shard.h"
#include "engines/embedded/threads/sleeper.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {

/// The objects of one shard; made at opening by any thread, then run.
struct ShardParts {
  std::unique_ptr<storage::Directory> directory;
  std::unique_ptr<SegmentFiles> files = std::make_unique<SegmentFiles>();
  std::unique_ptr<ShardState> state;
  std::unique_ptr<RecordReads> reads;
  std::unique_ptr<Committer> committer;
  std::unique_ptr<Journal> journal;
  std::unique_ptr<Shard> shard;
  std::unique_ptr<Sleeper> sleeper;
};

class ShardRunner {
 public:
  /// `number`: the shard's number in its store. `answers` must outlive it. Answers go there while
  /// the committer has a next job: a job that waits for a disk should not also wait until callers
  /// are woken.
  ShardRunner(std::uint32_t number, ShardParts parts, std::shared_ptr<const timing::Clock> clock,
              core::AnswerThread& answers);
  ~ShardRunner();
  ShardRunner(const ShardRunner&) = delete;
  ShardRunner& operator=(const ShardRunner&) = delete;

  void start();
  /// False after `stop` began: the part was not taken. If memory runs out, it throws and has not
  /// taken the part; with a reserved place it never throws. A part of an operation to which this
  /// thread lends itself wakes no thread: it is only noted, and `lend` must follow.
  bool post(Part& part);
  /// A place in the inbox for a part to come, so that a request of several shards is posted to all
  /// of them or to none.
  void keep_place();
  void give_place_back() noexcept;
  /// As `post`, into a reserved place.
  bool post_kept(Part& part) noexcept;
  /// Runs turns on this thread until every posted part has been served or another thread serves
  /// them. Not on an engine's thread.
  void lend() noexcept;
  /// Completes posted parts, completes waiting claims with `closed`, closes the journal cleanly,
  /// and joins the threads. Idempotent; must not be called by the shard's threads.
  void stop();
  /// After `stop`, once no other thread is in any of these: files and descriptors go. Idempotent.
  void let_go() noexcept;

 private:
  /// When the shard's thread must go on by itself; by both clocks.
  struct Deadlines {
    std::optional<std::int64_t> realtime_ms;
    std::optional<std::int64_t> boottime_ms;
  };
  void wake_unless_lent(Operation* op, bool was_empty) noexcept;
  [[nodiscard]] bool has_posts();
  bool run_turn();
  [[nodiscard]] Deadlines deadlines() const;
  void wake_for(const Deadlines& next) noexcept;
  void run_shard();
  void end_journal();

  std::uint32_t number_;
  ShardParts parts_;
  std::shared_ptr<const timing::Clock> clock_;
  std::unique_ptr<Sleeper> sleeper_;

  std::mutex turn_mutex_;    // before the others
  std::vector<Part> taken_;  // of the turn that is run
  Deadlines sleeps_until_;   // the shard's thread, at most
  bool ended_ = false;       // no further turn
  // The shard's thread came while a lender had the turn. Reset only when a turn begins. A thread
  // that reset it at a turn's end might not get the next turn, and that turn may have begun before.
  std::atomic<bool> passed_over_{false};

  std::mutex inbox_mutex_;
  std::vector<Part> inbox_;
  std::size_t kept_ = 0;  // places: how many more inbox_ has reserved capacity for
  bool stopping_ = false;

  bool was_closed_ = false;  // set by the shard's thread, read when that has ended

  CommitThread commits_;
  std::thread shard_thread_;
};

}  // namespace tarry::embedded
