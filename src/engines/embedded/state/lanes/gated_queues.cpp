#include "engines/embedded/state/lanes/gated_queues.h"

namespace tarry::embedded {

void GatedQueues::fit(std::uint32_t queue, const std::string& name, const QueueSettings& settings,
                      std::uint64_t leased, GroupTurns* groups, AtGate& at) {
  if (!is_open()) return;
  if (settings.max_leased == 0 && settings.rate == DeliveryRate() &&
      settings.group_max_leased == 0) {
    return drop(queue, leased, groups, at);
  }
  if (!at.is_limited()) {
    freed_.reserve(queues_.size() + 1);
    std::shared_ptr<QueueGate> gate = gates_->find_or_make(name);
    queues_.emplace(gate->number(), queue);
    at.gate = std::move(gate);
    at.gate->join(leased);
  }
  at.gate->set(settings);
  count_groups(settings.group_max_leased != 0, groups, at);
}

// The limit of the groups may be another one, so those that it held look again.
void GatedQueues::count_groups(bool wanted, GroupTurns* groups, AtGate& at) {
  if (groups != nullptr && wanted != at.counts_groups) {
    at.gate->with_groups([&](GroupLeases& leases) {
      return wanted ? leases.join(groups->counted()) : leases.leave(groups->counted());
    });
    if (!wanted) static_cast<void>(groups->take_freed());
  }
  at.counts_groups = wanted;
  if (groups != nullptr) groups->readmit_all();
}

void GatedQueues::drop(std::uint32_t queue, std::uint64_t leased, GroupTurns* groups, AtGate& at) {
  if (!at.is_limited()) return;
  count_groups(false, groups, at);
  at.gate->leave(leased + at.freed);
  std::erase(freed_, queue);
  queues_.erase(at.gate->number());
  at = {};
}

std::vector<std::uint32_t> GatedQueues::take_freed() {
  std::vector<std::uint32_t> freed = freed_;
  freed_.clear();
  return freed;
}

std::uint32_t GatedQueues::queue_of(std::uint64_t gate) const {
  const auto found = queues_.find(gate);
  return found == queues_.end() ? kNone : found->second;
}

}  // namespace tarry::embedded
