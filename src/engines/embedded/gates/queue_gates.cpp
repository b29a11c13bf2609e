#include "engines/embedded/gates/queue_gates.h"

namespace tarry::embedded {

std::shared_ptr<QueueGate> QueueGates::find_or_make(const std::string& queue) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = gates_.find(queue); found != gates_.end()) {
    if (auto gate = found->second.lock()) return gate;
  }
  std::erase_if(gates_, [](const auto& entry) { return entry.second.expired(); });
  auto gate = std::make_shared<QueueGate>(++last_number_);
  gates_.emplace(queue, gate);
  return gate;
}

}  // namespace tarry::embedded
