#include "engines/embedded/gates/queue_gate.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/planted.h"

namespace tarry::embedded {

void QueueGate::set(std::uint32_t max_leased) {
  const std::scoped_lock lock(mutex_);
  max_leased_ = max_leased;
}

void QueueGate::join(std::uint64_t leased) {
  const std::scoped_lock lock(mutex_);
  used_ += leased;
}

void QueueGate::leave(std::uint64_t leased) {
  const std::scoped_lock lock(mutex_);
  TARRY_ASSERT(leased <= used_);
  used_ -= leased;
}

std::uint64_t QueueGate::room(std::uint32_t shard, std::uint32_t freed) const noexcept {
  if (max_leased_ == 0) return std::numeric_limits<std::uint32_t>::max();
  const bool others_wait = waiting_.count() > (waiting_.test(shard) ? 1u : 0u);
  const std::uint64_t used = others_wait ? used_ : used_ - freed;
  const std::uint64_t most = max_leased_ + (TARRY_PLANTED_BUG(limit_passed_by_one) ? 1 : 0);
  return used < most ? most - used : 0;
}

QueueGate::Taken QueueGate::take(std::uint32_t shard, std::uint32_t most, std::uint32_t freed) {
  const std::scoped_lock lock(mutex_);
  Taken taken;
  taken.all = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, room(shard, freed)));
  const bool others_wait = waiting_.count() > (waiting_.test(shard) ? 1u : 0u);
  if (!others_wait) taken.own = std::min(taken.all, freed);
  used_ += taken.all - taken.own;
  return taken;
}

bool QueueGate::has_room(std::uint32_t shard, std::uint32_t freed) {
  const std::scoped_lock lock(mutex_);
  if (room(shard, freed) > 0) return true;
  waiting_.set(shard);
  return false;
}

QueueGate::Shards QueueGate::give_back(std::uint64_t leases) {
  const std::scoped_lock lock(mutex_);
  TARRY_ASSERT(leases <= used_);
  used_ -= leases;
  return std::exchange(waiting_, {});
}

}  // namespace tarry::embedded
