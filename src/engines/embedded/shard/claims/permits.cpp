#include "engines/embedded/shard/claims/permits.h"

namespace tarry::embedded {

Permits::Permits(ShardContext& shard, QueueId queue, std::uint64_t most)
    : state_(shard.state), queue_(queue), left_(most) {
  AtGate& at = state_.queue(queue).at_gate;
  if (!at.is_limited()) return;
  const auto taken = at.gate->take(shard.config.number, static_cast<std::uint32_t>(most), at.freed,
                                   shard.now.boottime_ms);
  state_.gated.use_freed(queue, at, taken.own);
  left_ = taken.all;
}

Permits::~Permits() {
  QueueState& queue = state_.queue(queue_);
  if (left_ == 0 || !queue.at_gate.is_limited()) return;
  queue.at_gate.gate->note_unused(static_cast<std::uint32_t>(left_));
  state_.gated.note_freed(queue_, queue.at_gate, static_cast<std::uint32_t>(left_));
}

bool has_room(const ShardContext& shard, const QueueState& queue) {
  const AtGate& at = queue.at_gate;
  return !at.is_limited() ||
         at.gate->has_room(shard.config.number, at.freed, shard.now.boottime_ms);
}

}  // namespace tarry::embedded
