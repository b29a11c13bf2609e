#include "engines/embedded/shard/claims/uncommitted_leases.h"

#include <algorithm>

#include "base/planted.h"

namespace tarry::embedded {
namespace {

// Messages are prefetched this many items early.
constexpr std::size_t kEarly = 6;

}  // namespace

void UncommittedLeases::Durable::operator()(std::int64_t boot_ms) const {
  const std::scoped_lock lock(starts_->mutex);
  starts_->done.push_back({number_, boot_ms});
}

UncommittedLeases::Durable UncommittedLeases::add(const Grants& grants, std::int64_t now_boot_ms) {
  Claim& claim = claims_.emplace_back();
  claim.claims.reserve(grants.items.size());
  std::int64_t lease_ms = grants.items.front().lease_ms;
  for (const Grant& grant : grants.items) {
    claim.claims.emplace_back(grant.handle, grant.tallies.claims);
    lease_ms = std::min(lease_ms, grant.lease_ms);
  }
  claim.decided_boot_ms = now_boot_ms;
  claim.first_end_boot_ms = now_boot_ms + lease_ms;
  hold_boot_ms_ = std::min(hold_boot_ms_, claim.first_end_boot_ms);
  return {starts_, first_ + claims_.size() - 1};
}

template <typename F>
void UncommittedLeases::each_leased(const Claim& claim, F&& f) {
  const std::size_t count = claim.claims.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto soon = [&](std::size_t n) {
      return i + n < count ? claim.claims[i + n].first : kNoHandle;
    };
    state_->prefetch(soon(2 * kEarly));
    state_->prefetch_history(soon(kEarly));
    const auto [handle, number] = claim.claims[i];
    if (!state_->slab.is_live(handle)) continue;
    const Message& message = state_->slab[handle];
    if (message.stage() != Stage::leased ||
        state_->histories[message.history].tallies.claims != number) {
      continue;
    }
    f(handle);
  }
}

void UncommittedLeases::start() {
  std::vector<Start> starts;
  {
    const std::scoped_lock lock(starts_->mutex);
    starts.swap(starts_->done);
  }
  for (const Start& start : starts) {
    Claim& claim = claims_[start.number - first_];
    claim.is_committed = true;
    if (start.boot_ms <= claim.decided_boot_ms || TARRY_PLANTED_BUG(lease_begins_too_early)) {
      continue;
    }
    each_leased(claim, [&](Handle handle) { state_->begin_lease(handle, start.boot_ms); });
  }
  while (!claims_.empty() && claims_.front().is_committed) {
    claims_.pop_front();
    ++first_;
  }
}

void UncommittedLeases::hold(std::int64_t now_boot_ms) {
  if (now_boot_ms < hold_boot_ms_ || TARRY_PLANTED_BUG(uncommitted_lease_runs_out)) return;
  hold_boot_ms_ = kNever;
  for (Claim& claim : claims_) {
    if (claim.is_committed) continue;
    if (claim.first_end_boot_ms <= now_boot_ms) {
      claim.first_end_boot_ms = kNever;
      each_leased(claim, [&](Handle handle) {
        const History& history = state_->histories[state_->slab[handle].history];
        if (history.lease_end_ms() <= now_boot_ms) state_->begin_lease(handle, now_boot_ms);
        claim.first_end_boot_ms = std::min(claim.first_end_boot_ms, history.lease_end_ms());
      });
    }
    hold_boot_ms_ = std::min(hold_boot_ms_, claim.first_end_boot_ms);
  }
}

}  // namespace tarry::embedded
