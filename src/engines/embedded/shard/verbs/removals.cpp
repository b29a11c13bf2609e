#include "engines/embedded/shard/verbs/removals.h"

#include <mutex>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/planted.h"
#include "engines/embedded/records/record_bounds.h"

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

bool Removals::park(Part& part) {
  if (removals_.empty()) return false;
  const std::string* queue = queue_of(part.op->request);
  if (queue == nullptr) return false;
  const auto found = removals_.find(*queue);
  if (found == removals_.end()) return false;
  if (found->second.stuck) {
    part.op->fail(*found->second.stuck);
    shard_.job.end(part.op);
  } else {
    parked_.push_back(std::move(part));
  }
  return true;
}

std::vector<Part> Removals::take_parked(const std::string& queue) {
  std::vector<Part> taken;
  std::vector<Part> others;
  for (Part& part : parked_) {
    (*queue_of(part.op->request) == queue ? taken : others).push_back(std::move(part));
  }
  parked_ = std::move(others);
  return taken;
}

std::vector<Part> Removals::take_thawed() { return std::exchange(thawed_, {}); }

void Removals::fail_parked(const Error& error) {
  for (const Part& part : std::exchange(parked_, {})) {
    part.op->fail(error);
    shard_.job.end(part.op);
  }
}

bool Removals::is_going(const std::string& queue) const {
  const auto found = removals_.find(queue);
  return found != removals_.end() && found->second.decided;
}

void Removals::freeze(const std::string& queue) {
  removals_[queue].stuck.reset();
  const QueueId known = shard_.state.queues.find(queue);
  if (known != kNoQueue) shard_.state.queue(known).frozen = true;
}

void Removals::execute(const core::RemoveRequest& request, const Part& part) {
  switch (part.op->step) {
    case RemoveStep::look: return look(request.queue, part.op);
    case RemoveStep::decide: return decide(request.queue, part.op);
    case RemoveStep::sweep: return sweep(request.queue, part.op);
    case RemoveStep::thaw: return thaw(request.queue, part.op);
    case RemoveStep::free: break;
  }
  if (const QueueId queue = shard_.state.queues.find(request.queue); queue != kNoQueue) {
    if (auto error = free_queue(queue)) part.op->fail(*std::move(error));
  }
  shard_.job.end(part.op);
}

void Removals::look(const std::string& queue, const OperationPtr& op) {
  freeze(queue);
  if (const QueueId id = shard_.state.queues.find(queue); id != kNoQueue) {
    const QueueState& state = shard_.state.queue(id);
    const std::scoped_lock lock(op->merge);
    op->found = true;
    op->decided = op->decided || state.removed;
    if (!TARRY_PLANTED_BUG(removal_looks_at_no_lease)) op->leased += state.in(Stage::leased);
  }
  shard_.job.end(op);
}

void Removals::decide(const std::string& queue, const OperationPtr& op) {
  const QueueId known = shard_.state.queues.find(queue);
  QueueRecord record;
  record.queue = known == kNoQueue ? shard_.state.queues.next() : known;
  record.name = queue;
  record.removed = !TARRY_PLANTED_BUG(removal_not_decided);
  if (known != kNoQueue) {
    const QueueState& state = shard_.state.queue(known);
    record.settings = state.settings;
    record.paused = state.paused;
    record.paused_until_ms = state.paused_until_ms;
  }
  const std::uint64_t bytes = queues_.bytes_to_make(queue) + kQueueRecord;
  if (auto error = shard_.room.take(bytes, kQueueRecord, Purpose::end)) {
    op->fail(std::move(*error));
  } else {
    shard_.records.write(record);
    shard_.state.queue(record.queue).frozen = true;
    shard_.job.sync();
  }
  shard_.job.end(op);
}

void Removals::sweep(const std::string& queue, const OperationPtr& op) {
  removals_[queue].decided = true;
  const QueueId id = shard_.state.queues.find(queue);
  if (id == kNoQueue) return shard_.job.end(op);
  sweeps_.remove(op, id, [this, id]() -> std::optional<Error> {
    if (shard_.config.number == 0) return std::nullopt;  // the step `free` of shard 0 comes later
    return free_queue(id);
  });
}

std::optional<Error> Removals::free_queue(QueueId queue) {
  if (auto error = shard_.room.take(kQueueRecord, kQueueRecord, Purpose::end)) return error;
  forecasts_.forget(queue);
  QueueRecord record;
  record.queue = queue;
  record.removed = true;
  shard_.records.write(record);
  shard_.job.sync();
  return std::nullopt;
}

void Removals::thaw(const std::string& queue, const OperationPtr& op) {
  const auto found = removals_.find(queue);
  std::optional<Error> error;
  if (found != removals_.end()) {
    const std::scoped_lock lock(op->merge);
    if (op->decided && op->error) error = op->error;
  }
  if (error) {
    error->message = "queue " + queue + " is half removed; remove it again: " + error->message;
    found->second.stuck = error;
    for (const Part& part : take_parked(queue)) {
      part.op->fail(*error);
      shard_.job.end(part.op);
    }
  } else if (found != removals_.end()) {
    removals_.erase(found);
    if (const QueueId known = shard_.state.queues.find(queue); known != kNoQueue) {
      shard_.state.queue(known).frozen = false;
      shard_.wake(known);
    }
    thawed_ = take_parked(queue);
  }
  shard_.job.end(op);
}

}  // namespace tarry::embedded
