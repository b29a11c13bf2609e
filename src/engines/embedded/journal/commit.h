// A shard's job for its committer: batches to write, and tasks to run once they are durable.
//
// Plain values, moved from the shard's thread to the committer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "engines/embedded/records/position.h"

namespace tarry::embedded {

/// A sealed batch: immutable, shared with the shard while it is not written yet, so that keys in it
/// can be read.
struct SealedBatch {
  std::uint64_t number = 0;
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;    // of the batch in its segment
  std::string bytes;           // header, records, padding
  std::string segment_header;  // not empty: the segment's first batch; written before it

  [[nodiscard]] bool opens() const noexcept { return !segment_header.empty(); }
};

/// No room or no descriptor: a later try may succeed, and the data is intact. Any other error of a
/// Journal stops its shard; otherwise the shard would give answers although data is lost.
[[nodiscard]] inline bool is_shortage(const Error& error) noexcept {
  return error.code == ErrorCode::no_space || error.code == ErrorCode::unavailable;
}

struct CommitOutcome;

/// Runs once, when its job is durable or has failed. It runs on the committer's thread, except for
/// answers, which another thread may give.
using CommitTask = base::UniqueFunction<void(const CommitOutcome&)>;

struct CommitOutcome {
  const Error* failure = nullptr;  // set: nothing of this job may be taken as done
  std::int64_t committed_boot_ms = 0;
  // A task appends here any work that needs no journal: it runs later, as an answer. Null in
  // answers, and after a failure.
  std::vector<CommitTask>* answers = nullptr;
};

struct CommitJob {
  std::vector<std::shared_ptr<const SealedBatch>> batches;
  std::vector<CommitTask> tasks;
  std::vector<RecordPlace>
      expected;  // records that the tasks will fetch, if the committer wants to know
  std::vector<CommitTask> answers;  // as tasks, but they read nothing: any thread may run them
  // Segments that nothing needs any more once the batches are synced: their files are removed, or
  // left to the shard, which writes them again.
  std::vector<std::uint64_t> remove_segments;
  std::vector<std::uint64_t> reuse_segments;
  std::vector<base::UniqueFunction<void()>> when_freed;  // not after a failure
  bool sync = false;                                     // under every policy

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
