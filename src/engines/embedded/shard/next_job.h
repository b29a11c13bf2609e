// NextJob: the commit job that a shard's turn puts together, and the answers that leave with it. An
// answer is given once the job's batches are durable, so that none shows what a crash takes back.
//
// Thread safety: none, the shard's thread; but the tasks and answers run on the committer's thread,
// or as answers do (commit.h), and touch only what they own and the Router.
//
// Invariants
//  1. Each part is ended once: by one of the `end` functions, or by a task that was added for it.
//  2. The first job that has batches is synced, whatever the policy.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engines/embedded/journal/commit.h"
#include "engines/embedded/shard/operation.h"

namespace tarry::embedded {

class NextJob {
 public:
  NextJob(std::uint32_t shard, Router& router) : shard_(shard), router_(&router) {}

  // -- the end of a part
  /// If the job fails, the operation fails.
  void end(const OperationPtr& op);
  /// If the job fails, the part's items fail.
  void end(const Part& part);
  /// The part has changed a queue as a whole, and so many of its messages: the operation is told
  /// once that is durable.
  void end_changing(const OperationPtr& op, std::uint64_t messages = 0);
  /// Nothing of the part has been done. It fails with `error`, whatever becomes of the job.
  void refuse(const Part& part, const Error& error);
  /// Ends its part by itself.
  void add_task(CommitTask task) { job_.tasks.push_back(std::move(task)); }

  // -- what else the job does
  void expect(const RecordPlace& place) { job_.expected.push_back(place); }
  void remove_segment(std::uint64_t number) { job_.remove_segments.push_back(number); }
  /// Its file stays, and is written again.
  void reuse_segment(std::uint64_t number) { job_.reuse_segments.push_back(number); }
  /// The job is synced, whatever the policy.
  void sync() noexcept { job_.sync = true; }

  [[nodiscard]] CommitJob take(std::vector<std::shared_ptr<const SealedBatch>> batches);

 private:
  void tell_when_freed();

  std::uint32_t shard_;
  Router* router_;
  CommitJob job_;
  bool first_ = true;  // no job with batches was taken yet
};

}  // namespace tarry::embedded
