#include "server/session_parts/holders.h"

#include <algorithm>

namespace tarry::session {

void Holders::note(const core::ClaimReply& reply, std::string holder) {
  // If a claim has more messages than are kept in all, only its last messages are kept.
  const std::size_t count = std::min(reply.items.size(), kMost);
  if (count == 0) return;
  Claim claim{std::move(holder), {}};
  claim.messages.reserve(count);
  for (auto item = reply.items.end() - static_cast<std::ptrdiff_t>(count);
       item != reply.items.end(); ++item) {
    claim.messages.emplace_back(item->id, item->tallies.claims);
  }
  claims_.push_back(std::move(claim));
  messages_ += count;
  while (messages_ > kMost || claims_.size() > kMostClaims) {
    messages_ -= claims_.front().messages.size();
    claims_.pop_front();
  }
}

void Holders::tell(MessageInfo& info) const {
  if (info.state != State::leased) return;
  const std::pair wanted(info.id, info.tallies.claims);
  for (auto claim = claims_.rbegin(); claim != claims_.rend(); ++claim) {
    if (std::ranges::find(claim->messages, wanted) == claim->messages.end()) continue;
    info.holder = claim->holder;
    return;
  }
}

std::string holder_name(std::string_view peer, const std::string* user_agent) {
  constexpr std::size_t kMostOfAgent = 128;
  std::string name(peer);
  if (user_agent == nullptr || user_agent->empty()) return name;
  name += ' ';
  for (const char c : std::string_view(*user_agent).substr(0, kMostOfAgent)) {
    name += c >= ' ' && c <= '~' ? c : '?';
  }
  return name;
}

}  // namespace tarry::session
