#include "server/limits/accounts.h"

namespace tarry::limits {

Accounts::User Accounts::use(const std::string& name, Clock::time_point now) {
  forget_full(now);
  const auto [at, fresh] = entries_.try_emplace(name);
  Entry& entry = at->second;
  if (fresh) {
    entry.key = &at->first;
    entry.account.name = at->first;
    try {
      entry.node.push_back(&entry);
      entry.at = entry.node.begin();
    } catch (...) {
      entries_.erase(at);
      throw;
    }
  } else if (entry.users == 0) {
    entry.node.splice(entry.node.begin(), resting_, entry.at);
  }
  ++entry.users;
  return {*this, entry};
}

void Accounts::leave(Entry& entry) noexcept {
  if (--entry.users != 0) return;
  resting_.splice(resting_.end(), entry.node);
  if (entry.account.requests.is_unused()) {
    forget(entry);
  } else if (resting_.size() > kMostResting) {
    forget(*resting_.front());
  }
}

void Accounts::forget(Entry& entry) noexcept {
  resting_.erase(entry.at);
  entries_.erase(entries_.find(*entry.key));
}

// Several at a time, so that more are forgotten than can begin to rest.
void Accounts::forget_full(Clock::time_point now) noexcept {
  constexpr int kMostAtOnce = 8;
  for (int i = 0; i < kMostAtOnce && !resting_.empty(); ++i) {
    Entry& longest = *resting_.front();
    if (!longest.account.requests.is_full(now)) return;
    forget(longest);
  }
}

}  // namespace tarry::limits
