// ShardRunner: a shard with its two threads. One thread runs the state machine, turn by turn. The
// other commits its decisions (CommitThread), and the shard continues meanwhile.
//
// Another thread may run the turns itself (`lend`): one that waits for its posted part, and so has
// nothing else to do, or a server's thread, for all parts that it has just posted. To wake another
// thread costs more than most turns.
//
// Invariants
//  1. The thread that holds `turn_mutex_` is the shard's thread for that time: turns come one after
//     the other, and their jobs are committed in that order.
//  2. Every posted part is served: by the shard's thread, which is woken, or by the lender that
//     posted it. A thread that ends a turn looks into the inbox again after it has released
//     `turn_mutex_`, because a lender that could not get the mutex meanwhile is waiting now.
//  3. The shard's thread never sleeps past the next event of the last turn, whichever thread ran
//     that turn. Only if a lender had the turn may it sleep a millisecond longer.
//
// Thread safety: any thread may call `post` and `lend`. Only the engine's front calls the rest.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/engine_parts/answer_thread.h"
#include "engines/embedded/journal/committer.h"
#include "engines/embedded/journal/journal.h"
#include "engines/embedded/reading/record_reads.h"
#include "engines/embedded/shard/requests/operation.h"
#include "engines/embedded/shard/shard.h"
#include "engines/embedded/state/shard_state.h"
#include "engines/embedded/threads/commit_thread.h"
#include "engines/embedded/threads/sleeper.h"

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
  /// `number`: the shard's number in its store. `answers` must outlive it. While the committer has
  /// a next job, answers go there: a job that waits for a disk should not also wait until callers
  /// are woken.
  ShardRunner(std::uint32_t number, ShardParts parts, std::shared_ptr<const timing::Clock> clock,
              core::AnswerThread& answers);
  ~ShardRunner();
  ShardRunner(const ShardRunner&) = delete;
  ShardRunner& operator=(const ShardRunner&) = delete;

  void start();
  /// False if `stop` has begun; then the part was not taken. Throws if memory runs out; then the
  /// part was not taken either. If this thread lends itself to the part's operation, `post` wakes
  /// no thread, and a call of `lend` must follow.
  bool post(Part& part);
  /// Reserves a place in the inbox for a later part. So a request for several shards is posted to
  /// all of them or to none.
  void keep_place();
  void give_place_back() noexcept;
  /// As `post`, but into a reserved place.
  bool post_kept(Part& part) noexcept;
  /// Whether a lent thread may wait for a disk. A thread that waits for its own answer may; a
  /// thread that serves many callers may not, and leaves such turns to the shard's thread.
  enum class Patience : std::uint8_t { waits, never_waits };
  /// Runs turns on this thread until all posted parts have been served, or until another thread
  /// serves them. Never call it on a thread of the engine.
  void lend(Patience patience) noexcept;
  /// Completes posted parts, completes waiting claims with `closed`, closes the journal cleanly,
  /// and joins the threads. Idempotent; must not be called by the shard's threads.
  void stop();
  /// Call `let_go` after `stop`, when no other thread is in any of these functions. Closes files
  /// and descriptors. Idempotent.
  void let_go() noexcept;

 private:
  /// When the shard's thread must run a turn without being woken, by each clock.
  struct Deadlines {
    std::optional<std::int64_t> realtime_ms;
    std::optional<std::int64_t> boottime_ms;
  };
  void wake_unless_lent(Operation* op, bool was_empty) noexcept;
  [[nodiscard]] bool has_posts();
  [[nodiscard]] bool may_wait_for_disk();
  bool run_turn();
  [[nodiscard]] Deadlines deadlines() const;
  void wake_for(const Deadlines& next) noexcept;
  void run_shard();
  void end_journal();

  std::uint32_t number_;
  ShardParts parts_;
  std::shared_ptr<const timing::Clock> clock_;
  std::unique_ptr<Sleeper> sleeper_;

  std::mutex turn_mutex_;    // locked before the others
  std::vector<Part> taken_;  // the parts of the present turn
  Deadlines sleeps_until_;   // when the shard's thread wakes at the latest
  bool ended_ = false;       // no further turn
  // True if the shard's thread wanted a turn while a lender had it. Only the beginning of a turn
  // resets it. If the end of a turn did so, the thread might not get the next turn, and that turn
  // may have begun before the thread wanted one.
  std::atomic<bool> passed_over_{false};

  std::mutex inbox_mutex_;
  std::vector<Part> inbox_;
  std::size_t kept_ = 0;  // reserved places: inbox_ has capacity for them
  bool stopping_ = false;

  bool was_closed_ = false;  // set by the shard's thread, read after its end

  CommitThread commits_;
  std::thread shard_thread_;
};

}  // namespace tarry::embedded
