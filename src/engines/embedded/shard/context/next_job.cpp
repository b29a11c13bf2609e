#include "engines/embedded/shard/context/next_job.h"

#include "base/planted.h"
#include "engines/embedded/shard/requests/part_failure.h"

namespace tarry::embedded {

void NextJob::end(const OperationPtr& op) {
  job_.answers.emplace_back([router = router_, op](const CommitOutcome& outcome) {
    if (outcome.failure != nullptr) op->fail(*outcome.failure);
    router->finish_part(op);
  });
}

void NextJob::end(const Part& part) {
  if (part.all_items) return end(part.op);
  job_.answers.emplace_back([router = router_, part](const CommitOutcome& outcome) {
    if (outcome.failure != nullptr) fail_part(part, *outcome.failure);
    router->finish_part(part.op);
  });
}

void NextJob::end_changing(const OperationPtr& op, std::uint64_t messages) {
  job_.answers.emplace_back([router = router_, op, messages](const CommitOutcome& outcome) {
    if (outcome.failure != nullptr) {
      op->fail(*outcome.failure);
    } else {
      op->note_changed(messages);
    }
    router->finish_part(op);
  });
}

void NextJob::refuse(const Part& part, const Error& error) {
  fail_part(part, error);
  job_.answers.emplace_back([router = router_, op = part.op](const CommitOutcome& /*outcome*/) {
    router->finish_part(op);
  });
}

CommitJob NextJob::take(std::vector<std::shared_ptr<const SealedBatch>> batches) {
  job_.batches = std::move(batches);
  if (job_.frees()) tell_when_freed();
  // The first job holds the mark of the ids that are skipped after a crash: if another crash took
  // it, the same ids would be given again.
  if (first_ && !job_.batches.empty()) {
    job_.sync = job_.sync || !TARRY_PLANTED_BUG(skipped_ids_not_synced);
    first_ = false;
  }
  return std::exchange(job_, {});
}

void NextJob::tell_when_freed() {
  job_.when_freed.emplace_back([router = router_, shard = shard_,
                                removed = job_.remove_segments.size(),
                                reusable = job_.reuse_segments.size()] {
    Part part;
    part.kind = Part::Kind::freed;
    part.removed = removed;
    part.reusable = reusable;
    router->post(shard, std::move(part));
  });
}

}  // namespace tarry::embedded
