#include "engines/embedded/gates/group_leases.h"

#include <utility>

#include "base/assert.h"
#include "base/planted.h"

namespace tarry::embedded {
namespace {

bool others_wait(const GroupLeases::Shards& waiting, std::uint32_t shard) noexcept {
  return waiting.count() > (waiting.test(shard) ? 1u : 0u);
}

}  // namespace

void GroupLeases::join(const std::vector<Count>& counts) {
  for (const Count& count : counts) uses_[count.group].leases += count.leases;
}

void GroupLeases::leave(const std::vector<Count>& counts) {
  for (const Count& count : counts) {
    const auto use = uses_.find(count.group);
    TARRY_ASSERT(use != uses_.end());
    lower(use, count.leases);
  }
}

void GroupLeases::lower(Uses::iterator use, std::uint64_t leases) {
  TARRY_ASSERT(leases <= use->second.leases);
  use->second.leases -= leases;
  if (use->second.leases == 0 && use->second.waiting.none()) uses_.erase(use);
}

bool GroupLeases::permits(const Use& use, std::uint32_t shard, std::uint32_t freed) const noexcept {
  if (limit_ == 0) return true;
  const std::uint64_t used = others_wait(use.waiting, shard) ? use.leases : use.leases - freed;
  return used < limit_ + (TARRY_PLANTED_BUG(group_limit_passed_by_one) ? 1 : 0);
}

GroupLeases::Taken GroupLeases::take(const std::string& group, std::uint32_t shard,
                                     std::uint32_t freed) {
  Use& use = uses_[group];
  if (!permits(use, shard, freed)) {
    use.waiting.set(shard);
    return Taken::refused;
  }
  const bool own = freed > 0 && !others_wait(use.waiting, shard);
  use.waiting.reset(shard);
  if (own) return Taken::own;
  ++use.leases;
  return Taken::shared;
}

bool GroupLeases::has_room(const std::string& group, std::uint32_t shard, std::uint32_t freed) {
  const auto use = uses_.find(group);
  if (use == uses_.end() || permits(use->second, shard, freed)) return true;
  use->second.waiting.set(shard);
  return false;
}

GroupLeases::Shards GroupLeases::give_back(const std::vector<Count>& counts) {
  Shards all;
  for (const Count& count : counts) {
    const auto use = uses_.find(count.group);
    TARRY_ASSERT(use != uses_.end());
    const Shards waiting = std::exchange(use->second.waiting, {});
    all |= waiting;
    for (std::uint32_t shard = 0; waiting.any() && shard < core::kMaxShards; ++shard) {
      if (waiting.test(shard)) woken_[shard].push_back(count.group);
    }
    lower(use, count.leases);
  }
  return all;
}

std::vector<std::string> GroupLeases::take_woken(std::uint32_t shard) {
  const auto found = woken_.find(shard);
  if (found == woken_.end()) return {};
  std::vector<std::string> woken = std::move(found->second);
  woken_.erase(found);
  return woken;
}

std::uint64_t GroupLeases::of(const std::string& group) const {
  const auto use = uses_.find(group);
  return use == uses_.end() ? 0 : use->second.leases;
}

}  // namespace tarry::embedded
