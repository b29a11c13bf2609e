#include "server/session_parts/token_failures.h"

#include <algorithm>

namespace tarry::session {

bool TokenFailures::too_many(std::string_view peer, Clock::time_point now) {
  Peer& one = latest(peer, now);
  const auto forgotten = static_cast<std::size_t>((now - one.counted_from) / kForgottenEach);
  if (forgotten >= one.failures) {
    one.failures = 0;
    one.counted_from = now;
  } else {
    one.failures -= forgotten;
    one.counted_from += static_cast<std::chrono::seconds::rep>(forgotten) * kForgottenEach;
  }
  if (one.failures >= kMostFailures) return true;
  ++one.failures;
  return false;
}

TokenFailures::Peer& TokenFailures::latest(std::string_view peer, Clock::time_point now) {
  if (const auto known = places_.find(peer); known != places_.end()) {
    peers_.splice(peers_.begin(), peers_, known->second);
    return peers_.front();
  }
  if (peers_.size() >= kMostPeers) {
    places_.erase(peers_.back().name);
    peers_.pop_back();
  }
  Peer& fresh = peers_.emplace_front();
  fresh.name = peer;
  fresh.counted_from = now;
  places_.emplace(fresh.name, peers_.begin());
  return fresh;
}

}  // namespace tarry::session
