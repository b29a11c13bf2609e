#include "engines/embedded/state/queue_table.h"

#include "base/assert.h"

namespace tarry::embedded {

QueueId QueueTable::find(std::string_view name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? kNoQueue : found->second;
}

void QueueTable::reach(QueueId id) {
  if (id < queues_.size()) return;
  TARRY_ASSERT(id == queues_.size());
  queues_.push_back(std::make_unique<QueueState>(*slab_, *blocks_));
  free_.insert(id);
}

void QueueTable::name(QueueId id, std::string_view name) {
  QueueState& queue = *queues_[id];
  TARRY_ASSERT(!queue.is_there() && find(name) == kNoQueue);
  queue.name = std::string(name);
  ids_.emplace(queue.name, id);
  free_.erase(id);
}

void QueueTable::rename(QueueId id, std::string_view name) {
  QueueState& queue = *queues_[id];
  TARRY_ASSERT(queue.is_there() && find(name) == kNoQueue);
  ids_.erase(queue.name);
  queue.name = std::string(name);
  ids_.emplace(queue.name, id);
}

void QueueTable::free(QueueId id) {
  if (queues_[id]->is_there()) ids_.erase(queues_[id]->name);
  queues_[id] = std::make_unique<QueueState>(*slab_, *blocks_);
  free_.insert(id);
}

}  // namespace tarry::embedded
