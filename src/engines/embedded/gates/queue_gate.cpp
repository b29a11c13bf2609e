#include "engines/embedded/gates/queue_gate.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/planted.h"

namespace tarry::embedded {

void QueueGate::set(const QueueSettings& settings) {
  const std::scoped_lock lock(mutex_);
  max_leased_ = settings.max_leased;
  bucket_.set(settings.rate);
  groups_.set_limit(settings.group_max_leased);
}

void QueueGate::fill(std::int64_t now_ms) {
  const std::scoped_lock lock(mutex_);
  if (!bucket_.is_unlimited()) static_cast<void>(bucket_.tokens(now_ms));
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

bool QueueGate::others_wait(std::uint32_t shard) const noexcept {
  return waiting_.count() > (waiting_.test(shard) ? 1u : 0u);
}

std::uint64_t QueueGate::room(std::uint32_t shard, std::uint32_t freed,
                              std::int64_t now_ms) noexcept {
  const std::uint64_t tokens =
      bucket_.is_unlimited() ? std::numeric_limits<std::uint32_t>::max() : bucket_.tokens(now_ms);
  if (max_leased_ == 0) return tokens;
  const std::uint64_t used = others_wait(shard) ? used_ : used_ - freed;
  const std::uint64_t most = max_leased_ + (TARRY_PLANTED_BUG(limit_passed_by_one) ? 1 : 0);
  return std::min(tokens, used < most ? most - used : 0);
}

QueueGate::Taken QueueGate::take(std::uint32_t shard, std::uint32_t most, std::uint32_t freed,
                                 std::int64_t now_ms) {
  const std::scoped_lock lock(mutex_);
  Taken taken;
  taken.all = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, room(shard, freed, now_ms)));
  if (!others_wait(shard)) taken.own = std::min(taken.all, freed);
  used_ += taken.all - taken.own;
  if (!bucket_.is_unlimited()) bucket_.take(taken.all);
  return taken;
}

void QueueGate::note_unused(std::uint32_t leases) {
  const std::scoped_lock lock(mutex_);
  if (!bucket_.is_unlimited()) bucket_.put_back(leases);
}

std::optional<std::int64_t> QueueGate::rate_next_ms(std::int64_t now_ms) {
  const std::scoped_lock lock(mutex_);
  if (bucket_.is_unlimited()) return std::nullopt;
  const std::int64_t next = bucket_.next_ms(now_ms);
  return next > now_ms ? std::optional(next) : std::nullopt;
}

bool QueueGate::has_room(std::uint32_t shard, std::uint32_t freed, std::int64_t now_ms) {
  const std::scoped_lock lock(mutex_);
  if (room(shard, freed, now_ms) > 0) return true;
  waiting_.set(shard);
  return false;
}

QueueGate::Shards QueueGate::give_back(std::uint64_t leases,
                                       const std::vector<GroupLeases::Count>& groups) {
  const std::scoped_lock lock(mutex_);
  TARRY_ASSERT(leases <= used_);
  used_ -= leases;
  return groups_.give_back(groups) | std::exchange(waiting_, {});
}

}  // namespace tarry::embedded
