// ShardRunner: a shard with its two threads. One runs the state machine, turn by turn; the other
// commits what it decided (CommitThread), and the shard goes on meanwhile.
//
// A thread that waits for what it has posted may run the turns itself (`lend`): it has nothing else
// to do, and waking another costs more than most turns do.
//
// Invariants
//  1. Who holds `turn_mutex_` is the shard's thread for that time: turns come one after the other,
//     and their jobs are committed in that order.
//  2. What is posted is served: by the shard's thread, which is woken, or by the lender that posted
//     it; and who ends a turn looks into the inbox again after it has let go of `turn_mutex_`, for
//     a lender that could not have it meanwhile has gone to wait.
//  3. The shard's thread never sleeps past what the last turn, whoever ran it, has to be told of;
//     but for a millisecond where a lender had the turn when it came.
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
#include "engines/embedded/commit_thread.h"
#include "engines/embedded/journal/committer.h"
#include "engines/embedded/journal/journal.h"
#include "engines/embedded/reading/record_reads.h"
#include "engines/embedded/shard/operation.h"
#include "engines/embedded/shard/shard.h"
#include "engines/embedded/sleeper.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {

/// All that belongs to one shard; made at opening, on any thread, then run.
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
  /// `number`: the shard's, in its store. `answers` must outlive it. Answers go there while the
  /// committer has the next job to do: what waits for a disk need not wait for callers to be woken.
  ShardRunner(std::uint32_t number, ShardParts parts, std::shared_ptr<const timing::Clock> clock,
              core::AnswerThread& answers);
  ~ShardRunner();
  ShardRunner(const ShardRunner&) = delete;
  ShardRunner& operator=(const ShardRunner&) = delete;

  void start();
  /// False after `stop` began: the part was not taken. Where memory ends it throws, and has not
  /// taken it either; but never with a place kept. A part of an operation that this thread lends
  /// itself to wakes nobody: it is noted there, and `lend` must follow.
  bool post(Part& part);
  /// A place in the inbox for a part to come, so that a request of several shards is posted to all
  /// of them or to none.
  void keep_place();
  void give_place_back() noexcept;
  /// As `post`, into a place that was kept.
  bool post_kept(Part& part) noexcept;
  /// Runs turns on this thread, until all that was posted has been served or another thread sees to
  /// it. Not on an engine's thread.
  void lend() noexcept;
  /// Lets what was posted end, completes waiting claims with `closed`, closes the journal clean,
  /// joins the threads. Idempotent; not from the shard's threads.
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
  bool ended_ = false;       // no turn comes any more
  // The shard's thread came while a lender had the turn. Taken back only where a turn begins:
  // whoever took it back at its end might not get the next one, and who has that may have begun it
  // before.
  std::atomic<bool> passed_over_{false};

  std::mutex inbox_mutex_;
  std::vector<Part> inbox_;
  std::size_t kept_ = 0;  // places: inbox_ has the capacity for so many more
  bool stopping_ = false;

  bool was_closed_ = false;  // set by the shard's thread, read when that has ended

  CommitThread commits_;
  std::thread shard_thread_;
};

}  // namespace tarry::embedded
