// CommitThread: writes a shard's jobs to its disk. While one job syncs, the next one gathers
// requests: group commit without a timer. The thread waits only for callers that send their next
// request at once (GroupCommitDelay). When there is nothing to commit, it reads the records that
// the next claims will need.
//
// Invariants
//  1. Jobs are committed one after the other, in the order in which they came.
//  2. The thread reads ahead only while it has no job to commit. Another thread may commit a job
//     meanwhile.
//
// Thread safety: one thread at a time calls `commit`: the one that is the shard's thread then. Any
// thread may call `ask_ahead`. The ShardRunner calls the rest.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/engine_parts/answer_thread.h"
#include "engines/embedded/journal/committer.h"
#include "engines/embedded/reading/record_reads.h"
#include "engines/embedded/threads/group_commit_delay.h"

namespace tarry::embedded {

class CommitThread {
 public:
  /// All arguments must outlive it. A thread that finds that the committer has failed calls
  /// `on_failure`, perhaps more than once. The commit thread calls `at_end` after the last job.
  /// While there is a next job, answers go to `answers`: a job that waits for a disk should not
  /// also wait until callers are woken.
  CommitThread(Committer& committer, RecordReads& reads, const timing::Clock& clock,
               core::AnswerThread& answers, std::function<void()> on_failure,
               std::function<void()> at_end, GroupCommitDelay commit_delay = GroupCommitDelay());
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;

  void start(base::ThreadName name = "tarry-sync");
  /// Waits if the jobs in RAM are too large already. A job that needs no disk is done before this
  /// returns: waking a thread for it would cost more.
  void commit(CommitJob job);
  /// Whether `commit` would take a job without waiting.
  [[nodiscard]] bool has_room();
  /// Asks the commit thread to read these records when it has nothing to commit. A later call
  /// replaces them.
  void ask_ahead(std::vector<RecordPlace> places);
  /// Lets the thread do the remaining jobs, and joins it. Needs no memory. Idempotent.
  void stop();

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Duration = GroupCommitDelay::Duration;

  void run();
  [[nodiscard]] bool is_ready() const;
  [[nodiscard]] bool is_worth_a_sync(std::size_t callers) const;
  void gather(Lock& lock);
  [[nodiscard]] bool wait(Lock& lock);
  void sync_pending(Lock& lock);
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

  // Used by the thread that has the committer; `commit_delay_` by the commit thread only.
  GroupCommitDelay commit_delay_;
  Duration began_{};            // when the present job began
  Duration synced_{};           // when it was durable
  std::size_t callers_ = 0;     // how many it answers
  bool may_set_aside_ = false;  // the commit thread runs the job
  Duration patience_{};         // how long to wait for the last job's callers

  std::mutex mutex_;
  std::condition_variable ready_;  // here the thread waits
  std::condition_variable taken_;  // here the shard waits while the slot holds too much
  CommitJob slot_;
  std::uint64_t slot_bytes_ = 0;
  std::size_t wakes_at_ = 0;        // with fewer callers in the slot the thread is not woken
  std::vector<RecordPlace> ahead_;  // to read when the slot is empty
  bool committing_ = false;         // a thread has the committer
  // Policy 100ms: batches were written and not synced, as of when the committer was given back.
  bool pending_ = false;
  bool no_more_ = false;

  std::thread thread_;
};

}  // namespace tarry::embedded
