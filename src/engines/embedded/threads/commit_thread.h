// CommitThread: brings a shard's jobs to its disk. While one job syncs, the next gathers. This is
// group commit without a timer; the only wait is for callers that come back at once
// (GroupCommitDelay). When there is nothing to commit, it reads the records that the next claims
// will need.
//
// Invariants
//  1. Jobs are committed one after the other, in the order in which they came.
//  2. The thread reads ahead only while it has no job to commit; another thread may have one
//     meanwhile.
//
// Thread safety: `commit` by one thread at a time, the shard's for that time; `ask_ahead` by any;
// the rest by the ShardRunner.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/answer_thread.h"
#include "engines/embedded/threads/group_commit_delay.h"
#include "engines/embedded/journal/committer.h"
#include "engines/embedded/reading/record_reads.h"

namespace tarry::embedded {

class CommitThread {
 public:
  /// All arguments must outlive it. `on_failure` is called, once or more, by the thread that finds
  /// that the committer has failed. `at_end` is called by the commit thread after the last job.
  /// Answers go to `answers` while there is a next job: a job that waits for a disk should not also
  /// wait until callers are woken.
  CommitThread(Committer& committer, RecordReads& reads, const timing::Clock& clock,
               core::AnswerThread& answers, std::function<void()> on_failure,
               std::function<void()> at_end, GroupCommitDelay commit_delay = GroupCommitDelay());
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;

  void start(base::ThreadName name = "tarry-sync");
  /// Waits if the jobs in RAM are too large already. A job that waits for no disk is done when this
  /// returns: waking a thread for it would not pay.
  void commit(CommitJob job);
  /// The commit thread reads them when it has nothing to commit, unless another request has
  /// replaced them by then.
  void ask_ahead(std::vector<RecordPlace> places);
  /// Ends the thread: it does the remaining jobs, and then this joins it. Needs no memory.
  /// Idempotent.
  void stop();

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Duration = GroupCommitDelay::Duration;

  void run();
  [[nodiscard]] bool is_ready() const;
  [[nodiscard]] bool is_worth_a_sync(std::size_t callers) const;
  void gather(Lock& lock);
  [[nodiscard]] bool wait(Lock& lock);
  void do_next(Lock& lock);
  void read_ahead(Lock& lock);
  void run_job(CommitJob job);
  void note_durable();
  [[nodiscard]] bool set_aside(std::vector<CommitTask>& answers);
  [[nodiscard]] bool take_committer();
  void give_committer_back();
  void hand_over(CommitJob job);
  void tell_of_failure() const;

  Committer* committer_;
  RecordReads* reads_;
  const timing::Clock* clock_;
  core::AnswerThread* answers_;
  std::function<void()> on_failure_;
  std::function<void()> at_end_;

  // Used by the thread that has the committer.
  GroupCommitDelay commit_delay_;
  Duration began_{};         // the job that is run
  Duration synced_{};        // and was durable
  std::size_t callers_ = 0;  // that it answers
  Duration patience_{};      // for the callers of the last one

  std::mutex mutex_;
  std::condition_variable ready_;  // the thread waits
  std::condition_variable taken_;  // the shard waits while the slot holds too much
  CommitJob slot_;
  std::uint64_t slot_bytes_ = 0;
  std::size_t wakes_at_ = 0;        // callers in the slot: before, the thread is not woken
  std::vector<RecordPlace> ahead_;  // for when the slot is empty
  bool committing_ = false;         // a thread has the committer
  bool no_more_ = false;

  std::thread thread_;
};

}  // namespace tarry::embedded
