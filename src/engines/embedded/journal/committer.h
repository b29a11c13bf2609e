// Committer: writes batches, syncs them as the policy says, then runs their tasks, which give the
// answers. It is a plain object: a CommitThread, a test or the simulator runs it.
//
// Invariants
//  1. Batches reach their files in order. A task or answer runs only when all batches of its job
//     and of earlier jobs are durable, as the policy says. Answers that another thread gives may
//     run before or after the answers of later jobs. Each answer stays true, whatever fails
//     meanwhile.
//  2. The first failed write or sync is final: that job and all later jobs fail, and nothing is
//     tried again, because Linux may have dropped the dirty pages and marked them clean.
//  3. A segment's header is written only after its predecessor was synced (under policy os even
//     without that sync; the header's seal then says `not proven`).
//  4. The directory is synced before the first task of a new segment.
//  5. The begun mark names a segment only after that segment was synced (begun_mark.h).
//  6. Files are removed, or released for reuse, only after all earlier batches are synced (under
//     every policy) and all earlier tasks have read their messages.
//  7. If a sync finds that the directory was moved, or that the open segment has lost its name, all
//     later answers are errors. Otherwise data would be written where nobody looks, or vanish with
//     the process.
//
// Thread safety: only one thread at a time may call `run`, `sync_pending` and `has_pending`: that
// thread "has the committer". Any thread may call the other functions.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/result.h>

#include "engines/embedded/journal/commit.h"
#include "engines/embedded/journal/commit_clock.h"
#include "engines/embedded/journal/journal_reads.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/journal/sync_policy.h"
#include "storage/storage.h"
#include "timing/clock.h"

namespace tarry::embedded {

class Committer {
 public:
  /// `reads`: null if nobody reads the journal while it is written. All arguments must outlive the
  /// committer.
  Committer(SyncPolicy policy, storage::Directory& directory, SegmentFiles& files,
            const timing::Clock& clock, JournalReads* reads = nullptr)
      : policy_(policy),
        directory_(&directory),
        files_(&files),
        clock_(&clock),
        reads_(reads != nullptr ? reads : &no_reads_) {}

  void run(CommitJob job);
  /// True if the job probably needs no wait for a disk.
  [[nodiscard]] bool is_quick(const CommitJob& job) const;
  /// True if the job is answered only after a sync of its own.
  [[nodiscard]] bool syncs_for(const CommitJob& job) const noexcept {
    return policy_ == SyncPolicy::always && !job.batches.empty();
  }
  /// Called when a job is durable. Returns true if it has taken the job's answers, to run them on
  /// another thread as successes. Returns false if it has left them to the committer. Call
  /// `set_aside` before the first `run`.
  using Aside = std::function<bool(std::vector<CommitTask>& answers)>;
  void set_aside(Aside aside) { aside_ = std::move(aside); }
  /// Called when a job is durable, before any caller is answered. Call `set_durable` before the
  /// first `run`.
  void set_durable(std::function<void()> durable) { when_durable_ = std::move(durable); }
  /// Call `stop` when the shard has failed: from now on nothing is written or acknowledged.
  void stop() noexcept { stopped_.store(true, std::memory_order_release); }
  /// True if recent reads had to wait for the disk. Jobs should then list the records that their
  /// tasks will fetch.
  [[nodiscard]] bool waits_for_disk() const noexcept {
    return waits_for_disk_.load(std::memory_order_relaxed);
  }
  /// Policy 100ms: syncs what has been written since the last sync.
  void sync_pending();
  [[nodiscard]] bool has_pending() const noexcept {
    return policy_ == SyncPolicy::every_100ms && !dirty_.empty() && !failure_;
  }

  /// The last batch that is known to be synced, and the last one that was written.
  [[nodiscard]] std::uint64_t durable() const noexcept {
    return durable_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t written() const noexcept {
    return written_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t syncs() const noexcept {
    return syncs_.load(std::memory_order_relaxed);
  }
  /// How long the steps of its jobs took.
  [[nodiscard]] const CommitClock& times() const noexcept { return *times_; }
  /// Bytes of the latest batches that are kept in RAM.
  [[nodiscard]] std::uint64_t recent_bytes() const noexcept { return reads_->recent_bytes(); }
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  /// The first failure; only once `failed()`.
  [[nodiscard]] const Error& failure() const noexcept { return *failure_; }
  void start_at(std::uint64_t durable, std::uint64_t begun) noexcept;

 private:
  using BatchPtr = std::shared_ptr<const SealedBatch>;

  Result<void> write(std::span<const BatchPtr> batches);
  Result<void> commit(const CommitJob& job);
  Result<void> free_segments(const CommitJob& job);
  Result<void> sync_all();
  Result<void> sync_directory();
  Result<void> look_at_place();
  /// Policy 100ms: whether the next job syncs.
  [[nodiscard]] bool sync_is_due() const;
  void fail(Error error);
  /// Notes how long the job's answers take, once they have run.
  void time_answers(std::vector<CommitTask>& answers, std::chrono::nanoseconds durable);

  SyncPolicy policy_;
  storage::Directory* directory_;
  SegmentFiles* files_;
  const timing::Clock* clock_;
  // Shared with answers, which may run after the committer has ended.
  std::shared_ptr<CommitClock> times_ = std::make_shared<CommitClock>();
  JournalReads no_reads_;
  JournalReads* reads_;
  Aside aside_;
  std::function<void()> when_durable_;
  std::vector<std::string_view> pieces_;  // of one write
  std::map<std::uint64_t, std::shared_ptr<storage::File>> dirty_;
  bool directory_dirty_ = false;
  std::uint64_t begun_ = 0;                      // the begun mark
  std::shared_ptr<storage::File> open_segment_;  // the segment written last
  std::chrono::nanoseconds looked_{};            // when look_at_place last ran
  std::atomic<std::int64_t> last_sync_boot_ms_{0};
  std::optional<Error> failure_;
  std::atomic<std::uint64_t> durable_{0};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> syncs_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> waits_for_disk_{false};
  std::atomic<bool> stopped_{false};
};

}  // namespace tarry::embedded
