// A shard's job for its committer: batches to write, and tasks to run once they are durable.
//
// Plain values, moved from the shard's thread to the committer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "engines/embedded/records/position.h"

namespace tarry::embedded {

/// A sealed batch, which never changes. Until it is written, the shard holds it too, to read
/// records in it.
struct SealedBatch {
  std::uint64_t number = 0;
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;  // of the batch in its segment
  std::string bytes;         // header, records, padding
  // It is written before `bytes`. Empty unless this is the segment's first batch.
  std::string segment_header;

  [[nodiscard]] bool opens() const noexcept { return !segment_header.empty(); }
};

/// True if only room or descriptors ran out: the data is intact, and a later try may succeed. Any
/// other error of a Journal stops its shard. Otherwise the shard would give answers although data
/// is lost.
[[nodiscard]] inline bool is_shortage(const Error& error) noexcept {
  return error.code == ErrorCode::no_space || error.code == ErrorCode::unavailable;
}

struct CommitOutcome;

/// A task runs once, when its job is durable or has failed. Tasks run on the committer's thread.
/// Answers may run on another thread.
using CommitTask = base::UniqueFunction<void(const CommitOutcome&)>;

struct CommitOutcome {
  const Error* failure = nullptr;  // set: nothing of this job may be taken as done
  std::int64_t committed_boot_ms = 0;
  // A task may append work here that needs no journal. That work runs later, as an answer. Null for
  // answers, and after a failure.
  std::vector<CommitTask>* answers = nullptr;
};

struct CommitJob {
  std::vector<std::shared_ptr<const SealedBatch>> batches;
  std::vector<CommitTask> tasks;
  // Records that the tasks will fetch; empty unless the committer `waits_for_disk`.
  std::vector<RecordPlace> expected;
  std::vector<CommitTask> answers;  // tasks that read nothing, so any thread may run them
  // Segments that nobody needs once the batches are synced. The committer removes the files of
  // `remove_segments`. The shard writes those of `reuse_segments` again.
  std::vector<std::uint64_t> remove_segments;
  std::vector<std::uint64_t> reuse_segments;
  std::vector<base::UniqueFunction<void()>> when_freed;  // not run after a failure
  bool sync = false;                                     // sync under every policy
  // When its first batch began to wait for the committer, by the monotonic clock; 0: it did not.
  std::chrono::nanoseconds waits_since{};

  /// About how many callers wait for the job.
  [[nodiscard]] std::size_t callers() const noexcept { return tasks.size() + answers.size(); }
  [[nodiscard]] bool frees() const noexcept {
    return !remove_segments.empty() || !reuse_segments.empty();
  }

  [[nodiscard]] bool empty() const noexcept {
    return batches.empty() && tasks.empty() && answers.empty() && !frees() && !sync;
  }
};

}  // namespace tarry::embedded
