// Removes a queue step by step on all shards (operation.h), led by the front. Other requests for
// the queue wait meanwhile, so that a push during the removal makes the queue again and is not lost
// with the old one.
#include <utility>
#include <variant>

#include "base/planted.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/shard/shard.h"
#include "engines/embedded/shard/shard_items.h"

namespace tarry::embedded {
namespace {

// The queue of a request that names one and is not the removal itself; a claim sees the queue as
// paused.
const std::string* queue_of(const core::Request& request) {
  return std::visit(
      [](const auto& asked) -> const std::string* {
        using Asked = std::decay_t<decltype(asked)>;
        if constexpr (std::is_same_v<Asked, core::RemoveRequest>) {
          return nullptr;
        } else if constexpr (requires { asked.queue; }) {
          return &asked.queue;
        } else {
          return nullptr;
        }
      },
      request);
}

}  // namespace

bool Shard::parks(Part& part) {
  const std::string* queue = queue_of(part.op->request);
  if (queue == nullptr) return false;
  const auto found = removals_.find(*queue);
  if (found == removals_.end()) return false;
  if (found->second.stuck) {
    part.op->fail(*found->second.stuck);
    job_.end(part.op);
  } else {
    parked_.push_back(std::move(part));
  }
  return true;
}

void Shard::fail_parked(const Error& error, const std::string& queue) {
  std::erase_if(parked_, [&](const Part& part) {
    if (!queue.empty() && *queue_of(part.op->request) != queue) return false;
    part.op->fail(error);
    job_.end(part.op);
    return true;
  });
}

void Shard::freeze(const std::string& queue) {
  removals_[queue].stuck.reset();
  const QueueId known = state_->find_queue(queue);
  if (known != kNoQueue) state_->queue(known).frozen = true;
}

void Shard::execute(const core::RemoveRequest& request, const Part& part) {
  const OperationPtr& op = part.op;
  const QueueId queue = state_->find_queue(request.queue);
  switch (op->step) {
    case RemoveStep::look: {
      freeze(request.queue);
      if (queue == kNoQueue) break;
      const std::scoped_lock lock(op->merge);
      op->found = true;
      op->decided = op->decided || state_->queue(queue).removed;
      if (TARRY_PLANTED_BUG(removal_looks_at_no_lease)) break;
      op->leased += state_->queue(queue).in(Stage::leased);
      break;
    }
    case RemoveStep::decide: return decide_removal(request, part);
    case RemoveStep::sweep:
      removals_[request.queue].decided = true;
      if (queue == kNoQueue) break;
      sweeps_.push_back({op, queue, SweepKind::remove, 0, state_->next_id(), 0});
      return;
    case RemoveStep::free:
      if (queue != kNoQueue) free_queue(queue, op);
      break;
    case RemoveStep::thaw: thaw(request.queue, op); break;
  }
  job_.end(op);
}

void Shard::decide_removal(const core::RemoveRequest& request, const Part& part) {
  const QueueId known = state_->find_queue(request.queue);
  QueueRecord record;
  record.queue = known == kNoQueue ? state_->next_queue() : known;
  record.name = request.queue;
  record.removed = !TARRY_PLANTED_BUG(removal_not_decided);
  if (known != kNoQueue) {
    const QueueState& queue = state_->queue(known);
    record.settings = queue.settings;
    record.paused = queue.paused;
    record.paused_until_ms = queue.paused_until_ms;
  }
  if (auto error =
          room_.take(queue_bytes(request.queue) + kQueueRecord, kQueueRecord, Purpose::end)) {
    part.op->fail(std::move(*error));
  } else {
    records_.write(record);
    state_->queue(record.queue).frozen = true;
    job_.sync();
  }
  job_.end(part.op);
}

// The first shard frees it only after all others: until then its record tells what a crash leaves
// to be done.
void Shard::free_queue(QueueId queue, const OperationPtr& op) {
  if (config_.number == 0 && op->step != RemoveStep::free) return;
  if (auto error = room_.take(kQueueRecord, kQueueRecord, Purpose::end)) {
    op->fail(std::move(*error));
    return;
  }
  for (Count& count : counts_) {
    if (count.queue == queue) count.cursor = count.end;  // the number may be another's soon
  }
  QueueRecord record;
  record.queue = queue;
  record.removed = true;
  records_.write(record);
  job_.sync();
}

void Shard::thaw(const std::string& queue, const OperationPtr& op) {
  const auto found = removals_.find(queue);
  if (found == removals_.end()) return;
  std::optional<Error> error;
  {
    const std::scoped_lock lock(op->merge);
    if (op->decided && op->error) error = op->error;
  }
  if (error) {
    error->message = "queue " + queue + " is half removed; remove it again: " + error->message;
    found->second.stuck = error;
    fail_parked(*error, queue);
    return;
  }
  removals_.erase(found);
  if (const QueueId known = state_->find_queue(queue); known != kNoQueue) {
    state_->queue(known).frozen = false;
    waiting_.wake(state_->queue(known).name);
    waiting_.wake_by_key(state_->queue(known).name);
  }
  std::vector<Part> parked;
  for (Part& part : parked_) {
    if (*queue_of(part.op->request) == queue) parked.push_back(std::move(part));
  }
  std::erase_if(parked_, [](const Part& part) { return part.op == nullptr; });
  for (Part& part : parked) execute(std::move(part));
}

}  // namespace tarry::embedded
