#include "engines/embedded/front/queue_removals.h"

#include <utility>

namespace tarry::embedded {
namespace {

Error still_leased(const std::string& queue, std::uint64_t leased) {
  return {ErrorCode::conflict, "queue " + queue + " has " + std::to_string(leased) +
                                   (leased == 1 ? " message" : " messages") +
                                   " leased; wait until they are settled, or force it"};
}

void judge_look(Operation& op) {
  const auto& request = std::get<core::RemoveRequest>(op.request);
  if (!op.found) {
    op.fail({ErrorCode::not_found, "there is no queue " + request.queue});
  } else if (op.leased != 0 && !request.force) {
    op.fail(still_leased(request.queue, op.leased));
  }
}

}  // namespace

void QueueRemovals::begin(const OperationPtr& op) {
  // The lock is held throughout, so that no other removal begins to wait for this one if it fails
  // to begin.
  const std::scoped_lock lock(mutex_);
  removals_.push_back(op);
  if (removals_.size() > 1) return;
  try {
    shards_.send_to_all(op);
  } catch (...) {
    removals_.pop_back();
    throw;
  }
}

bool QueueRemovals::go_on(const OperationPtr& op) {
  if (op->step == RemoveStep::thaw) {
    begin_next();
    return true;
  }
  if (op->step == RemoveStep::look && !op->decided && !op->error) judge_look(*op);
  if (op->error) {
    send_to_all(op, RemoveStep::thaw);
    return false;
  }
  switch (op->step) {
    case RemoveStep::look:
      if (op->decided) {
        send_to_all(op, RemoveStep::sweep);
      } else {
        send_to_first(op, RemoveStep::decide);
      }
      break;
    case RemoveStep::decide:
      op->decided = true;
      send_to_all(op, RemoveStep::sweep);
      break;
    case RemoveStep::sweep: send_to_first(op, RemoveStep::free); break;
    case RemoveStep::free:
    case RemoveStep::thaw: send_to_all(op, RemoveStep::thaw); break;
  }
  return false;
}

void QueueRemovals::send_to_first(const OperationPtr& op, RemoveStep step) {
  op->step = step;
  op->parts.store(1, std::memory_order_release);
  Part part;
  part.op = op;
  shards_.send(0, std::move(part));
}

void QueueRemovals::send_to_all(const OperationPtr& op, RemoveStep step) {
  op->step = step;
  shards_.send_to_all(op);
}

void QueueRemovals::begin_next() {
  OperationPtr next;
  {
    const std::scoped_lock lock(mutex_);
    removals_.pop_front();
    if (!removals_.empty()) next = removals_.front();
  }
  if (next) shards_.send_to_all(next);
}

std::vector<std::string> freeze_half_removed(std::vector<ShardParts>& shards) {
  std::vector<std::string> queues;
  const ShardState& first = *shards.front().state;
  for (QueueId queue = 0; queue < first.queues.size(); ++queue) {
    if (first.queue(queue).removed) queues.push_back(first.queue(queue).name);
  }
  for (ShardParts& parts : shards) {
    for (const std::string& queue : queues) parts.shard->freeze(queue);
  }
  return queues;
}

}  // namespace tarry::embedded
