#include "engines/embedded/shard/claims/permits.h"

namespace tarry::embedded {

Permits::Permits(ShardContext& shard, QueueId queue, std::uint64_t most)
    : state_(shard.state), queue_(queue), left_(most) {
  AtGate& at = state_.queue(queue).at_gate;
  if (!at.is_limited()) return;
  const auto taken = at.gate->take(shard.config.number, static_cast<std::uint32_t>(most), at.freed,
                                   shard.now.boottime_ms);
  GatedQueues::use_freed(at, taken.own);
  left_ = taken.all;
}

Permits::~Permits() {
  QueueState& queue = state_.queue(queue_);
  if (left_ == 0 || !queue.at_gate.is_limited()) return;
  queue.at_gate.gate->note_unused(static_cast<std::uint32_t>(left_));
  state_.gated.note_freed(queue_, queue.at_gate, static_cast<std::uint32_t>(left_));
}

GroupLease::GroupLease(ShardContext& shard, QueueState& queue, Handle handle) {
  if (!queue.at_gate.counts_groups) return;
  group_ = queue.lanes.group_of(handle);
  if (group_ == nullptr) return;
  turns_ = queue.lanes.groups();
  const auto taken = queue.at_gate.gate->with_groups([&](GroupLeases& leases) {
    return leases.take(*group_->name, shard.config.number, group_->freed);
  });
  if (taken == GroupLeases::Taken::own) --group_->freed;
  permits_ = taken != GroupLeases::Taken::refused;
  if (permits_) return;
  turns_->hold(*group_);
  group_ = nullptr;
}

GroupLease::~GroupLease() {
  if (group_ != nullptr) turns_->note_freed(*group_);
}

bool group_has_room(const ShardContext& shard, QueueState& queue, Handle handle) {
  if (!queue.at_gate.counts_groups) return true;
  const Group* const group = queue.lanes.group_of(handle);
  return group == nullptr || queue.at_gate.gate->with_groups([&](GroupLeases& leases) {
    return leases.has_room(*group->name, shard.config.number, group->freed);
  });
}

bool has_queue_room(const ShardContext& shard, const QueueState& queue) {
  const AtGate& at = queue.at_gate;
  return !at.is_limited() ||
         at.gate->has_room(shard.config.number, at.freed, shard.now.boottime_ms);
}

bool has_room(const ShardContext& shard, QueueState& queue) {
  if (!has_queue_room(shard, queue)) return false;
  if (!queue.lanes.has_groups()) return true;
  GroupTurns& turns = *queue.lanes.groups();
  if (!queue.at_gate.counts_groups) return turns.front() != nullptr;
  while (Group* const group = turns.front()) {
    if (group_has_room(shard, queue, queue.lanes.first())) return true;
    turns.hold(*group);
  }
  return false;
}

}  // namespace tarry::embedded
