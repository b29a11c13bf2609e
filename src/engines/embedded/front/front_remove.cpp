// Leads a removal from step to step (operation.h). A store runs one removal at a time: two removals
// of one queue would wait for each other.
#include <utility>

#include "base/text.h"
#include "engines/embedded/front/front.h"

namespace tarry::embedded {
namespace {

Error still_leased(const std::string& queue, std::uint64_t leased) {
  return {ErrorCode::conflict, "queue " + queue + " has " + std::to_string(leased) +
                                   (leased == 1 ? " message" : " messages") +
                                   " leased; wait until they are settled, or force it"};
}

}  // namespace

void Front::resume_removals(const std::vector<std::string>& queues) {
  for (const std::string& queue : queues) {
    log({LogLevel::info, "removal_resumed",
         "queue " + queue + ": its removal was cut short; finishing it"});
    submit(core::RemoveRequest{queue, true}, [](Result<core::Reply>) {});
  }
}

void Front::begin_removal(const OperationPtr& op) {
  // Locked throughout, so that no removal waits for one that fails to begin.
  const std::scoped_lock lock(removals_mutex_);
  removals_.push_back(op);
  if (removals_.size() > 1) return;
  try {
    to_all(op);
  } catch (...) {  // no memory: no shard has heard of it
    removals_.pop_back();
    throw;
  }
}

// No other thread touches the operation between two steps.
void Front::go_on_removing(const OperationPtr& op) {
  const auto& request = std::get<core::RemoveRequest>(op->request);
  const auto on_first = [&](RemoveStep step) {
    op->step = step;
    op->parts.store(1, std::memory_order_release);
    Part part;
    part.op = op;
    send(0, std::move(part));
  };
  const auto on_all = [&](RemoveStep step) {
    op->step = step;
    to_all(op);
  };
  if (op->step == RemoveStep::thaw) {
    end_removal();
    return complete(op);
  }
  if (op->step == RemoveStep::look && !op->decided && !op->error) {
    if (!op->found) {
      op->fail({ErrorCode::not_found, "there is no queue " + request.queue});
    } else if (op->leased != 0 && !request.force) {
      op->fail(still_leased(request.queue, op->leased));
    }
  }
  if (op->error) return on_all(RemoveStep::thaw);
  switch (op->step) {
    case RemoveStep::look:
      if (op->decided) return on_all(RemoveStep::sweep);
      return on_first(RemoveStep::decide);
    case RemoveStep::decide: op->decided = true; return on_all(RemoveStep::sweep);
    case RemoveStep::sweep: return on_first(RemoveStep::free);
    case RemoveStep::free:
    case RemoveStep::thaw: return on_all(RemoveStep::thaw);
  }
}

void Front::end_removal() {
  OperationPtr next;
  {
    const std::scoped_lock lock(removals_mutex_);
    removals_.pop_front();
    if (!removals_.empty()) next = removals_.front();
  }
  if (next) to_all(next);
}

}  // namespace tarry::embedded
