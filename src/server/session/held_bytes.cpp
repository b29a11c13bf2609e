#include "server/session/held_bytes.h"

#include <utility>

namespace tarry::session {
namespace {

constexpr std::uint64_t kPeerShare = 2;  // a peer may have the limit divided by this

}  // namespace

std::size_t memory_of(const std::string& text) noexcept {
  static const std::size_t within = std::string().capacity();
  return text.capacity() > within ? text.capacity() : 0;
}

HeldBytes::Part::Part(HeldBytes& all, const std::string& peer)
    : all_(all), peer_(&all.peers_[peer]) {
  if (peer_->connections == 0) peer_->name = peer;
  ++peer_->connections;
}

void HeldBytes::Part::hold_request(std::uint64_t bytes, std::uint64_t input) {
  request_ = bytes;
  answer_ = 0;
  hold_input(input);
}

void HeldBytes::Part::hold_answer(std::uint64_t bytes, std::uint64_t input) {
  request_ = 0;
  answer_ = bytes;
  hold_input(input);
}

void HeldBytes::Part::hold_input(std::uint64_t input) {
  input_ = input;
  count();
}

void HeldBytes::Part::hold_waiting(std::uint64_t more) {
  answer_ = std::exchange(request_, 0) + more;
  count();
}

void HeldBytes::Part::count() {
  if (peer_ == nullptr) return;
  const Held now{request_ + input_, answer_};
  all_.requests_ += now.requests - counted_.requests;
  peer_->held.requests += now.requests - counted_.requests;
  if (now.answers != counted_.answers) {
    all_.answers_ += now.answers - counted_.answers;
    peer_->held.answers += now.answers - counted_.answers;
  }
  counted_ = now;
  const std::uint64_t settling = settles_ ? now.requests : 0;
  all_.settling_ += settling;
  all_.settling_ -= std::exchange(settling_, settling);
}

std::optional<OverLimit> HeldBytes::Part::requests_over() const {
  const std::uint64_t limit = all_.limit();
  if (all_.requests_ - counted_.requests > limit) return OverLimit{"requests", limit};
  if (peer_->held.requests - counted_.requests <= limit / kPeerShare) return std::nullopt;
  return OverLimit{"requests of " + peer_->name, limit / kPeerShare};
}

std::optional<OverLimit> HeldBytes::Part::answers_over(std::uint64_t more) const {
  const std::uint64_t limit = all_.limit();
  if (all_.answers_ - counted_.answers - more > limit) return OverLimit{"answers", limit};
  if (peer_->held.answers - counted_.answers <= limit / kPeerShare) return std::nullopt;
  return OverLimit{"answers to " + peer_->name, limit / kPeerShare};
}

bool HeldBytes::Part::may_settle(std::uint64_t body) const noexcept {
  return settles_ && all_.settling_ - settling_ + body <= kSettleReserve;
}

void HeldBytes::Part::leave() {
  if (peer_ == nullptr) return;
  request_ = answer_ = input_ = 0;
  count();
  Peer* const peer = std::exchange(peer_, nullptr);
  if (--peer->connections == 0) all_.peers_.erase(std::string(peer->name));
}

}  // namespace tarry::session
