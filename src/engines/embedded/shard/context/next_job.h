// NextJob: the commit job that a shard's turn puts together, and the answers that leave with it.
// Callers are answered once the job's batches are durable, so that no answer shows a change that a
// crash can take back.
//
// Thread safety: none; the shard's thread. Tasks run on the committer's thread, and answers there
// or on other threads (commit.h). Both touch only their own data and the Router.
//
// Invariants
//  1. Each part ends once: by one of the `end` functions, by `refuse`, or by a task that was added.
//  2. The first job with batches is synced under every policy.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engines/embedded/journal/commit.h"
#include "engines/embedded/shard/requests/operation.h"

namespace tarry::embedded {

class NextJob {
 public:
  NextJob(std::uint32_t shard, Router& router) : shard_(shard), router_(&router) {}

  // -- the end of a part
  /// If the job fails, the operation fails.
  void end(const OperationPtr& op);
  /// If the job fails, the part's items fail.
  void end(const Part& part);
  /// Ends a part that changed a whole queue. Once that is durable, counts this shard and `messages`
  /// as changed.
  void end_changing(const OperationPtr& op, std::uint64_t messages = 0);
  /// Ends a part that did nothing: the part fails with `error`, whether the job fails or not.
  void refuse(const Part& part, const Error& error);
  /// The task itself ends its part.
  void add_task(CommitTask task) { job_.tasks.push_back(std::move(task)); }

  // -- the rest of the job
  void expect(const RecordPlace& place) { job_.expected.push_back(place); }
  void remove_segment(std::uint64_t number) { job_.remove_segments.push_back(number); }
  /// The segment's file stays, to be written again.
  void reuse_segment(std::uint64_t number) { job_.reuse_segments.push_back(number); }
  /// The job is synced under every policy.
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
