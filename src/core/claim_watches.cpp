#include "core/claim_watches.h"

#include <utility>
#include <variant>

namespace tarry::core {

ClaimWatches::Token ClaimWatches::add(Watch watch) {
  const std::lock_guard lock(mutex_);
  watches_.emplace(++last_, std::move(watch));
  count_.store(watches_.size(), std::memory_order_release);
  return last_;
}

void ClaimWatches::remove(Token token) {
  const std::lock_guard lock(mutex_);
  watches_.erase(token);
  count_.store(watches_.size(), std::memory_order_release);
}

void ClaimWatches::tell_all(const Reply& reply) const {
  const auto* claimed = std::get_if<ClaimReply>(&reply);
  if (claimed == nullptr || claimed->items.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [token, watch] : watches_) watch(*claimed);
}

}  // namespace tarry::core
